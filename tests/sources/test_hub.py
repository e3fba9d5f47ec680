"""Datasets of a Hub, which here is the local one, over real HTTP."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError

from crucible_datasets import DownloadConfig, config
from crucible_datasets.exceptions import DatasetNotFoundError, DownloadError, NotWritableError, OfflineError
from crucible_datasets.localhub.access import Access
from crucible_datasets.localhub.routing import Request
from crucible_datasets.localhub.server import serving
from crucible_datasets.ops.push import Where
from crucible_datasets.sources.backoff import TransientError, unreachable_timeout
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.sources.hub import HubRepo
from crucible_datasets.sources.hub.api import headers
from crucible_datasets.sources.hub.environment import hub_cache
from crucible_datasets.sources.hub.files import safe_path
from crucible_datasets.sources.hub.writer import Writer
from crucible_datasets.sources.web import Web

NUMBERS = b"a,b\n1,2\n3,4\n"
LARGE = bytes(range(256)) * 8192


@pytest.fixture
def server(online, tmp_path):
    folder = tmp_path / "hub" / "acme" / "plain"
    (folder / "data").mkdir(parents=True)
    (folder / "numbers.csv").write_bytes(NUMBERS)
    (folder / "data" / "large.bin").write_bytes(LARGE)
    with serving(str(tmp_path / "hub")) as server:
        yield server


@pytest.fixture
def requests(server, monkeypatch):
    """The requests that reach the server."""
    made = []
    from crucible_datasets.localhub import server as module

    answer = module.answer

    def noted(request):
        made.append((request.method, request.path))
        return answer(request)

    monkeypatch.setattr(module, "answer", noted)
    return made


def repo(server, revision="main", **more):
    return HubRepo("acme/plain", revision, endpoint=server.endpoint, **more)


def contents(found, paths=("numbers.csv", "data/large.bin")):
    return [Path(path).read_bytes() for path in found.fetched(paths)]


def test_files_arrive_in_the_cache_that_all_tools_share(server):
    found = repo(server)
    assert contents(found) == [NUMBERS, LARGE]
    assert Path(try_to_load_from_cache("acme/plain", "numbers.csv", repo_type="dataset")).read_bytes() == NUMBERS


def test_what_other_tools_have_fetched_is_not_fetched_again(server, requests):
    hf_hub_download("acme/plain", "data/large.bin", repo_type="dataset", endpoint=server.endpoint)
    found = repo(server)
    assert found.files["data/large.bin"].size == len(LARGE)
    requests.clear()
    assert contents(found, ["data/large.bin"]) == [LARGE]
    assert requests == []


def test_a_pinned_revision_that_is_cached_makes_no_request(server, requests):
    found = repo(server)
    contents(found)
    requests.clear()
    assert contents(repo(server, found.commit)) == [NUMBERS, LARGE]
    assert requests == []


def test_a_branch_costs_one_request(server, requests):
    contents(repo(server))
    requests.clear()
    contents(repo(server))
    assert requests == [("GET", "/api/datasets/acme/plain/revision/main")]


def test_a_branch_that_was_never_seen_costs_one_request_with_all_its_files(server, requests):
    found = repo(server)
    files = dict(found.files)
    assert requests == [("GET", "/api/datasets/acme/plain/revision/main")]
    os.unlink(found._metadata._listing(found.commit))
    assert files == repo(server, found.commit).files  # as they are listed
    assert contents(found) == [NUMBERS, LARGE]


@pytest.mark.parametrize("about", ["too many", "no sizes"])
def test_files_that_did_not_come_with_a_branch_are_listed(server, requests, monkeypatch, about):
    if about == "too many":
        monkeypatch.setattr("crucible_datasets.sources.hub.files._MOST_TOGETHER", 1)
    else:
        monkeypatch.setattr(
            "crucible_datasets.localhub.json_views._siblings", lambda commit, blobs: [{"rfilename": "a"}]
        )
    assert sorted(repo(server).files) == ["data/large.bin", "numbers.csv"]
    assert "/tree/" in requests[-1][1]


def test_a_redirect_is_followed_once_for_all_ranges_of_a_file(server, requests):
    found = repo(server)
    parts = [b"".join(found.body("data/large.bin", start, start + 10)) for start in (0, 50, 7)]
    assert parts == [LARGE[start : start + 10] for start in (0, 50, 7)]
    asked = [path.split("/")[1] for _, path in requests]
    assert asked == ["api", "datasets", "contents", "contents", "contents"]
    (url,) = found._contents.redirects
    found._contents.redirects[url] += "0"  # a signature that is none, as that of a link whose time is over
    assert b"".join(found.body("data/large.bin", 3, 9)) == LARGE[3:9]
    assert "signature" not in str(pickle.loads(pickle.dumps(found)).__dict__)


def test_notes_that_a_power_failure_left_in_shreds_are_asked_for_again(server, tmp_path):
    for shreds in (b"", b"\0" * 40, b"[[", b"\xff"):
        contents(repo(server))
        kept = [tmp_path / "cache" / "datasets--acme--plain" / "refs", tmp_path / "datasets" / "hub"]
        notes = {path for folder in kept for path in folder.rglob("*") if path.is_file()}
        assert {path.parent.name for path in notes} >= {"refs", "acme--plain", "verified"}
        for path in notes:
            path.write_bytes(shreds)
    assert contents(repo(server)) == [NUMBERS, LARGE]


def test_offline_what_is_cached_is_there_and_what_is_not_is_named(server, requests, monkeypatch):
    contents(repo(server), ["numbers.csv"])
    requests.clear()
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert contents(repo(server), ["numbers.csv"]) == [NUMBERS]
    with pytest.raises(OfflineError, match=r"data/large\.bin"):
        contents(repo(server))
    with pytest.raises(OfflineError, match="acme/other"):
        _ = HubRepo("acme/other", endpoint=server.endpoint).files
    assert requests == []


@pytest.mark.parametrize("is_pinned", [False, True])  # as by Hugging Face `datasets`, which leaves no ref
def test_offline_a_snapshot_of_another_tool_will_do(server, monkeypatch, caplog, is_pinned):
    monkeypatch.setattr(logging.getLogger("crucible_datasets"), "propagate", True)
    revision = repo(server).commit if is_pinned else None
    where = {"repo_type": "dataset", "endpoint": server.endpoint, "cache_dir": hub_cache()}
    shutil.rmtree(hub_cache(), ignore_errors=True)
    shutil.rmtree(config.HF_DATASETS_CACHE, ignore_errors=True)
    hf_hub_download("acme/plain", "numbers.csv", revision=revision, **where)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert contents(repo(server), ["numbers.csv"]) == [NUMBERS]
    assert "Taking the 1 that are cached for all of them" in caplog.text
    with pytest.raises(OfflineError, match="other"):
        _ = repo(server, "other").commit


@pytest.mark.parametrize("damage", ["truncated", "flipped", "gone"])
def test_a_damaged_file_is_noticed_and_fetched_again(server, damage):
    found = repo(server)
    (path,) = found.fetched(["data/large.bin"])
    blob = Path(os.path.realpath(path))
    if damage == "truncated":
        blob.write_bytes(LARGE[:-1])
    elif damage == "flipped":
        blob.write_bytes(b"!" + LARGE[1:])
    else:
        blob.unlink()
    assert contents(repo(server, found.commit), ["data/large.bin"]) == [LARGE]


def test_a_hub_that_is_gone_leaves_what_was_seen_last(server, tmp_path, caplog):
    commit = repo(server).commit
    _ = repo(server).files
    assert HubRepo("acme/plain", endpoint="http://127.0.0.1:9").commit == commit
    with pytest.raises(DownloadError):
        from dataclasses import replace

        unknown = HubRepo("acme/unknown", endpoint="http://127.0.0.1:9")
        object.__setattr__(unknown, "web", replace(unknown.web, retry_timeout=1))
        _ = unknown.commit


def test_names_that_do_not_exist_say_so(server):
    with pytest.raises(DatasetNotFoundError, match="does not exist"):
        _ = HubRepo("acme/nothing", endpoint=server.endpoint).commit
    with pytest.raises(DatasetNotFoundError, match="no revision 'v9'"):
        _ = repo(server, "v9").commit


def test_a_gated_dataset_says_where_to_ask(server):
    server.hub.repo("acme/plain").create(gated="manual")
    with pytest.raises(DatasetNotFoundError, match=r"gated. Request access at http.*/datasets/acme/plain, then log in"):
        contents(repo(server))


def test_a_token_that_is_not_accepted_is_told_from_a_dataset_that_is_not_there(server):
    with pytest.raises(DatasetNotFoundError, match=r"does not accept the token.*HF_TOKEN"):
        contents(repo(server, token="hf_expired"))
    with pytest.raises(DatasetNotFoundError, match="does not exist at"):
        _ = HubRepo("acme/nothing", token=next(iter(server.access.tokens)), endpoint=server.endpoint).commit


def test_a_private_dataset_needs_the_token(server):
    token = next(iter(server.access.tokens))
    HfApi(endpoint=server.endpoint, token=token).update_repo_settings("acme/plain", repo_type="dataset", private=True)
    with pytest.raises(DatasetNotFoundError, match="private"):
        contents(repo(server, token=False))
    found = repo(server, token=token)
    assert contents(found) == [NUMBERS, LARGE]
    assert token not in repr(found)


def test_a_download_without_an_answer_is_tried_again(online):
    """huggingface_hub says of a card that it could not ask for that it is not on the disk."""

    def download(api):
        busy = OSError("busy")
        busy.response = SimpleNamespace(status_code=503, headers={})
        raise LocalEntryNotFoundError("not on the disk") from busy

    with pytest.raises(TransientError, match="503"):
        Writer("acme/plain", "http://hub.test").once(download)


def test_a_hub_that_was_written_to_is_looked_for_longer(online):
    Writer("acme/plain", "http://seen.test").once(lambda api: None)
    assert unreachable_timeout("seen.test") > unreachable_timeout("never.test")


@pytest.mark.parametrize("kind", [Web, Elsewhere, HubRepo, Writer, Where, DownloadConfig, Access, Request])
def test_no_secret_is_part_of_what_is_shown(kind):
    secrets = {"token", "tokens", "headers", "options", "storage_options", "proxies", "query", "_secret"}
    held = [field for field in dataclasses.fields(kind) if field.name in secrets]
    assert held and not any(field.repr for field in held)


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("https://hub.example/api", True),
        ("http://hub.example/api", False),
        ("https://hub.example:8443/api", False),
        ("https://evil.example/hub.example/", False),
        ("https://hub.example.evil.example/", False),
        ("https://hub.example@evil.example/", False),
        ("https://evil.example/?https://hub.example", False),
        ("ftp://hub.example/api", False),
    ],
)
def test_the_token_goes_to_the_hub_alone(url, goes):
    assert ("authorization" in headers("https://hub.example", "hf_secret", url)) is goes


def test_over_plain_http_the_token_stays_on_the_machine():
    assert "authorization" not in headers("http://hub.example", "hf_secret", "http://hub.example/api")
    assert "authorization" in headers("http://127.0.0.1:80", "hf_secret", "http://127.0.0.1:80/api")


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/etc/passwd", "C:/x", "a\\b", "a//b", ""])
def test_a_server_cannot_name_files_outside_of_its_repository(path):
    with pytest.raises(DownloadError):
        safe_path(path)


@pytest.mark.parametrize("path", ["12:30.csv", "a/b:c", "en:de/x.csv"])
def test_a_colon_is_not_a_drive(path):
    assert safe_path(path) == path


def test_a_cache_that_cannot_be_written_is_told_with_what_to_do(server, monkeypatch):
    def denied(work, name, find):
        raise PermissionError(errno.EACCES, "denied", os.path.join(work, f"{name}.tmp"))

    monkeypatch.setattr("crucible_datasets.sources.hub.repo.found_or_claimed", denied)
    with pytest.raises(NotWritableError, match="HF_HOME"):
        HubRepo("acme/plain", endpoint=server.endpoint).fetched(["data/large.bin"])


def test_many_processes_make_one_transfer(server, requests, tmp_path):
    program = """
import sys, os
import huggingface_hub.constants
from crucible_datasets.sources.hub import HubRepo
from pathlib import Path
(path,) = HubRepo("acme/plain", endpoint=sys.argv[1]).fetched(["data/large.bin"])
assert Path(path).stat().st_size == int(sys.argv[2])
"""
    surroundings = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
    for name in ("HF_DATASETS_CACHE", "HF_HUB_CACHE"):
        surroundings.pop(name, None)
    command = [sys.executable, "-c", program, server.endpoint, str(len(LARGE))]
    processes = [subprocess.Popen(command, env=surroundings) for _ in range(8)]
    assert [process.wait(60) for process in processes] == [0] * 8
    transfers = [path for method, path in requests if method == "GET" and path.startswith("/contents/")]
    assert len(transfers) == 1
