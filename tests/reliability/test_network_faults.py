"""Whatever a server does: right bytes or a typed error before the deadline, and no secret where others can read it."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import time
import traceback
from email.utils import formatdate
from functools import partial
from pathlib import Path

import pytest
from support.faulty import faulty
from support.faulty_hub import faulty_hub

from crucible_datasets import config, load_dataset
from crucible_datasets.exceptions import ContentMismatchError, DatasetsError, DownloadError
from crucible_datasets.sources import http
from crucible_datasets.sources.client import client
from crucible_datasets.sources.hub import SOURCE, HubRepo, api
from crucible_datasets.sources.hub.api import headers
from crucible_datasets.sources.hub.writer import Writer
from crucible_datasets.sources.web import Web

CONTENT = random.Random(20261116).randbytes(300_000)
SMALL = b"a,b\n1,2\n" * 300
PATIENCE, SILENCE = 3.0, 0.4  # seconds; servers ask for a pause of one, and stall for longer than the silence
BRIEF = 0.7  # the patience where nothing passes: enough for several trials, and for no pause of a second
FAULTS = ["429 1", "500", "502", "503", "504", "reset", "cut 65536", "stall 1", "shorter", "longer", "whole"]
FAULTS += ["wrong-range", "html", "gzip", "loop", "flipped 77", "crawl 10000"]
# What happens once and passes; the rest is an error or, where nothing is known of the content, is believed.
PASSING = {"429 1", "500", "502", "503", "504", "reset", "cut 65536", "stall 1", "crawl 10000", "whole"}
ALWAYS = 500


@pytest.fixture(autouse=True)
def hasty(online, monkeypatch):
    """Clients that lose their patience soon."""
    client()  # what its import takes is no server's fault
    be_patient(monkeypatch, PATIENCE)


@pytest.fixture
def hastier(hasty, monkeypatch):
    """Clients for servers whose faults do not pass."""
    be_patient(monkeypatch, BRIEF)


def be_patient(monkeypatch, seconds):
    for module in (http, api):
        monkeypatch.setattr(module, "Web", partial(Web, retry_timeout=seconds, read_timeout=SILENCE))


@pytest.fixture
def repos(tmp_path):
    folder = tmp_path / "hub" / "acme" / "plain"
    folder.mkdir(parents=True)
    (folder / "large.parquet").write_bytes(CONTENT)
    (folder / "small.csv").write_bytes(SMALL)
    with faulty_hub(str(tmp_path / "hub")) as server:
        server.server.access.tokens[TOKEN] = next(iter(server.server.access.tokens.values()))
        yield server


def outcome(attempt, patience=PATIENCE):
    """The bytes, or the typed error; anything else fails, and so does what comes after the deadline."""
    # A trial that begins within the patience may take the silence and a pause.
    deadline = patience + SILENCE + 1.0
    began = time.monotonic()
    try:
        found = attempt()
    except DatasetsError as error:
        found = error
    assert time.monotonic() - began < deadline
    return found


def by_http(server):
    (file,) = http.listed(server.url, {})
    return Path(http.fetched([file], {})[0]).read_bytes()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_an_answer_to_head(fault):
    with faulty(CONTENT, fault) as server:
        found = outcome(lambda: by_http(server))
    # A page of another length that HEAD promises is noticed when the content comes.
    assert found == CONTENT or (fault not in PASSING and isinstance(found, DatasetsError))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_an_answer_to_get(fault):
    with faulty(CONTENT, "fine", fault) as server:
        found = outcome(lambda: by_http(server))
    if fault == "flipped 77":
        assert len(found) == len(CONTENT)  # a web server states no hash: nobody can know
    else:
        assert found == CONTENT or (fault not in PASSING and isinstance(found, DatasetsError))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [0, 1])
def test_a_fault_of_an_answer_to_a_range(fault, before):
    with faulty(CONTENT, *["fine"] * (1 + before), fault) as server:
        found = outcome(lambda: by_ranges(server))
    if fault == "flipped 77":
        assert len(found) == len(CONTENT)
    else:
        is_other = fault in {"shorter", "longer", "gzip", "loop"}
        assert isinstance(found, DatasetsError) if is_other else found == CONTENT


def by_ranges(server):
    (file,) = http.listed(server.url, {})
    with http.opened(file, {}) as stream:
        return stream.read(100_000) + stream.read()


LASTING = [fault for fault in FAULTS if fault not in {"flipped 77", "whole", "wrong-range"}]
# What HEAD and GET say alike of a content is believed: a web server states no hash.
LASTING_FOR_BOTH = [fault for fault in LASTING if fault not in {"shorter", "longer", "html"}]


@pytest.mark.parametrize(("fault", "before"), [(f, []) for f in LASTING_FOR_BOTH] + [(f, ["fine"]) for f in LASTING])
def test_a_fault_that_does_not_pass_ends_in_time(fault, before, monkeypatch):
    patience = 2 * BRIEF if fault.startswith("429") else BRIEF
    be_patient(monkeypatch, patience)
    with faulty(CONTENT, *before, *[fault] * ALWAYS) as server:
        found = outcome(lambda: by_http(server), patience)
    # A line that is cut every 64 KiB delivers in the end; a HEAD that is cut says all there is to say.
    assert found == CONTENT if fault.startswith("cut") else isinstance(found, DatasetsError)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("part", ["/revision/", "/tree/", "/resolve/", "/contents/"])
def test_a_fault_of_the_hub(repos, fault, part):
    repos.plan = [(part, fault)]
    found = outcome(lambda: contents(repos, **asking_for(part, repos)))
    assert repos.plan in ([], [("/data", "loop")])
    assert found == [CONTENT, SMALL] or isinstance(found, DatasetsError)
    if fault in PASSING:
        assert found == [CONTENT, SMALL]
    right = {hashlib.sha256(CONTENT).hexdigest(), hashlib.sha1(b"blob %d\0" % len(SMALL) + SMALL).hexdigest()}
    assert set(finished(repos)) <= right


def asking_for(part, server):
    """What leads to a part of a Hub: files come with the answer about a branch, and are listed for a commit."""
    return {"revision": server.server.hub.repo("acme/plain").find("main").id} if part == "/tree/" else {}


def contents(server, **more):
    repo = HubRepo("acme/plain", endpoint=server.endpoint, **more)
    return [Path(path).read_bytes() for path in repo.fetched(["large.parquet", "small.csv"])]


def finished(server):
    """The contents in the cache under their final names."""
    blobs = Path(HubRepo("acme/plain", endpoint=server.endpoint)._cache, "blobs")
    return [name for name in (os.listdir(blobs) if blobs.exists() else []) if "~" not in name]


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_pause_until_a_date_is_kept(method):
    until = time.time() + 1.2
    plan = [f"429 {formatdate(until, usegmt=True)}"]
    with faulty(CONTENT, *(plan if method == "HEAD" else ["fine", *plan])) as server:
        assert by_http(server) == CONTENT
    assert time.time() >= int(until)  # dates have no fractions of a second


def test_a_pause_longer_than_the_patience_is_an_error_at_once():
    with faulty(CONTENT, "429 3600") as server:
        found = outcome(lambda: by_http(server))
        assert isinstance(found, DownloadError) and len(server.asked) == 1


@pytest.mark.parametrize("fault", ["flipped", "swapped"])
@pytest.mark.parametrize(
    ("part", "size"), [("/contents/large.parquet", len(CONTENT)), ("/resolve/small.csv", len(SMALL))]
)
def test_wrong_bytes_never_get_a_name(repos, fault, part, size, tmp_path):
    chance, (route, path) = random.Random(17), part[1:].split("/")
    repo = HubRepo("acme/plain", endpoint=repos.endpoint)
    names = finished_while(tmp_path / "cache")
    for _ in range(50):
        repos.plan = [(f"/{route}/", f"{fault} {chance.randrange(size)}")]
        with pytest.raises(ContentMismatchError, match=path):
            repo.fetched([path])
        assert next(names) == []
    assert len(repo.fetched([path])) == 1


def finished_while(cache):
    while True:
        yield [path for path in cache.rglob("blobs/*") if "~" not in path.name]


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "overwritten, time set back"])
@pytest.mark.parametrize("source", ["hub", "http"])
def test_a_damaged_cached_file_is_noticed(repos, damage, source):
    chance = random.Random(18)
    with faulty(CONTENT) as server:
        repo = HubRepo("acme/plain", endpoint=repos.endpoint)
        (file,) = http.listed(server.url, {})
        fetch = (lambda: http.fetched([file], {})) if source == "http" else (lambda: repo.fetched(["large.parquet"]))
        for _ in range(30):
            path = Path(os.path.realpath(fetch()[0]))
            assert path.read_bytes() == CONTENT
            before = path.stat()
            if damage == "truncated":
                os.truncate(path, chance.randrange(len(CONTENT)))
            else:
                with path.open("r+b") as stream:
                    place = chance.randrange(len(CONTENT))
                    stream.seek(place)
                    stream.write(bytes([CONTENT[place] ^ 1 << chance.randrange(8)]))
            if damage.endswith("back"):
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert Path(fetch()[0]).read_bytes() == CONTENT


TOKEN = "hf_thisMustNotBeSeenAnywhere"
CASES = [
    ("https://hub.example/api", True),
    ("https://hub.example/other?x=1", True),
    ("https://HUB.example/api", False),  # the same host, but not as it was configured
    ("https://hub.example:443/api", False),
    ("http://hub.example/api", False),
    ("http://hub.example:443/api", False),
    ("https://hub.example:8443/api", False),
    ("https://cdn.hub.example/", False),
    ("https://hub.example.evil.example/", False),
    ("https://evil.example/hub.example/", False),
    ("https://hub.example@evil.example/", False),
    ("https://hub.example:443@evil.example/", False),
    ("https://evil.example\\@hub.example/", False),
    ("https://user:word@hub.example/", False),
    ("https://evil.example/?https://hub.example", False),
    ("https://evil.example#https://hub.example/", False),
    ("https://hub.example./", False),
    ("ftp://hub.example/", False),
    ("//hub.example/", False),
    ("https://127.0.0.1/", False),
    ("http://localhost/", False),
]


def test_the_token_goes_to_the_hub_alone():
    for url, goes in CASES:
        assert ("authorization" in headers("https://hub.example", TOKEN, url)) is goes, url


def test_the_token_goes_where_nobody_can_listen():
    for hub, goes in [("http://hub.example", False), ("http://127.0.0.1.example", False), ("http://127.0.0.1:8", True)]:
        assert ("authorization" in headers(hub, TOKEN, f"{hub}/api")) is goes, hub


@pytest.mark.parametrize("part", ["/revision/", "/tree/", "/resolve/", "/contents/"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "user:word@127.0.0.1", "127.0.0.1:{own}@127.0.0.1"])
def test_a_redirect_to_another_place_loses_the_token(repos, part, host):
    with faulty(b"[]") as elsewhere:
        place = host.format(own=repos.server.server_port)
        repos.elsewhere = f"http://{place}:{elsewhere.port}/data"
        repos.plan = [(part, "redirect")]
        outcome(lambda: contents(repos, token=TOKEN, **asking_for(part, repos)))
        assert elsewhere.asked
        assert not any(TOKEN in str(seen) for seen in elsewhere.seen)
    assert any(TOKEN in said for said in repos.tokens)


@pytest.mark.parametrize("fault", ["404", "403", "503", "html", "gzip", "loop", "flipped 3", "reset"])
@pytest.mark.usefixtures("hastier")
def test_the_token_is_said_nowhere_else(repos, fault, tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(config, "HF_ENDPOINT", repos.endpoint)
    told = []
    for part in ("/revision/", "/tree/", "/contents/"):
        repos.plan = [(part, fault)] * ALWAYS
        try:
            told.append(repr(load_dataset("acme/plain", token=TOKEN)))
        except Exception as error:
            told.append("".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)))
    repo = HubRepo("acme/plain", token=TOKEN, endpoint=repos.endpoint)
    told += [
        repr([repo, repo.web, Writer(repo.id, repo.endpoint, TOKEN)]),
        repr(SOURCE.listed("hf://datasets/acme/plain", {"token": TOKEN})) if fault == "flipped 3" else "",
    ]
    assert TOKEN not in "".join(told) + caplog.text
    assert leaks(tmp_path) == []


def leaks(folder):
    """Files whose name or content holds the token."""
    found = [path for path in folder.rglob("*") if "hub" not in path.relative_to(folder).parts[:1]]
    return [path for path in found if TOKEN in str(path) or (path.is_file() and TOKEN.encode() in path.read_bytes())]


@pytest.mark.parametrize("fault", ["fine", "404", "503", "gzip", "shorter"])
@pytest.mark.usefixtures("hastier")
def test_what_opens_a_web_page_is_said_nowhere_else(fault, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)  # of the HTTP client too
    told = []
    with faulty(b'{"a": 1}\n' * 100, "fine", *[fault] * ALWAYS) as server:
        opened_by = [f"{server.url}.jsonl?signature={TOKEN}"]
        opened_by += [
            server.url.replace("//", f"//{user}@") + ".jsonl" for user in (f"me:{TOKEN}", TOKEN, f"a:b@{TOKEN}")
        ]
        for url in opened_by:
            try:
                told.append(repr(load_dataset("json", data_files=url, split="train")))
                told.append(repr(http.listed(url, {})))
            except DatasetsError as error:
                told.append("".join(traceback.format_exception(error)) + repr(error))
            server.plan.insert(0, "fine")
    assert TOKEN not in "".join(told) + caplog.text
    assert leaks(tmp_path) == []
