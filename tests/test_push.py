"""`push_to_hub` against the local Hub: what goes up comes down, here and with Hugging Face `datasets`."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import HfApi, hf_hub_download
from support.arrowtypes import COLUMNS

from crucible_datasets import (
    ClassLabel,
    Dataset,
    DatasetDict,
    Features,
    Image,
    IterableDatasetDict,
    List,
    Value,
    concatenate_datasets,
    config,
    load_dataset,
    storage,
)
from crucible_datasets.exceptions import AccessDeniedError, ArgumentError, CardError, OfflineError, UploadError
from crucible_datasets.hub import delete_from_hub
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.server import Handler, serving
from crucible_datasets.sources import backoff
from crucible_datasets.sources.hub import writer

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

PAGE = b"<html>bad gateway</html>"
KINDS = Features({"label": ClassLabel(names=["u", "v", "w"]), "text": Value("string")})


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serving(str(tmp_path / "hub")) as server:
        for name, value in {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True}.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets")
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
        yield server


@pytest.fixture
def plan(server):
    """What happens to the next requests: a method, a part of the path, and a status, "lost", "cut", "silence", "page",
    "portal", or what somebody does in between, which may return one of these."""
    planned = []

    class Stumbling(Handler):
        def handle_request(self):
            for number, (method, part, event) in enumerate(planned):
                if method in {self.command, "*"} and part in self.path:
                    del planned[number]
                    return self.stumble(event)
            return super().handle_request()

        def stumble(self, event):
            if isinstance(event, int):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self._refuse(HubError(event, "Busy", "come again"))
            elif event == "lost":  # all is done, and nobody is told
                self.wfile, self.close_connection = io.BytesIO(), True
                super().handle_request()
            elif event == "cut":  # nothing is done
                self.close_connection = True
            elif event == "silence":
                time.sleep(1)
                self.close_connection = True
            elif event in {"page", "portal"}:  # of a server in between
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self._head(
                    502 if event == "page" else 200,
                    {"Content-Type": "text/html"},
                    0 if self.command == "HEAD" else len(PAGE),
                )
                self.wfile.write(b"" if self.command == "HEAD" else PAGE)
            elif isinstance(then := event(), int | str):
                self.stumble(then)
            else:
                super().handle_request()

        do_GET = do_HEAD = do_POST = do_PUT = handle_request

    server.RequestHandlerClass = Stumbling
    return planned


@pytest.fixture
def api(server):
    return HfApi(endpoint=server.endpoint, token=next(iter(server.access.tokens)))


@pytest.fixture
def dataset():
    return Dataset.from_dict({"label": [0, 1, 2], "text": ["x", "y", None]}, features=KINDS)


def card(api, repo, revision=None):
    path = hf_hub_download(
        repo, "README.md", repo_type="dataset", endpoint=api.endpoint, token=api.token, revision=revision
    )
    return yaml.safe_load(Path(path).read_text().split("---")[1])


def test_one_commit_holds_files_and_card(api, dataset):
    info = dataset.push_to_hub("local/one")
    assert api.list_repo_files("local/one", repo_type="dataset") == ["README.md", "data/train-00000-of-00001.parquet"]
    assert info.oid == api.dataset_info("local/one").sha
    assert len(api.list_repo_commits("local/one", repo_type="dataset")) == 2
    said = card(api, "local/one")
    assert said["configs"] == [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*"}]}]
    assert said["dataset_info"]["splits"][0]["num_examples"] == 3


def test_a_second_split_joins_the_first(api, dataset):
    dataset.push_to_hub("local/two", split="train")
    dataset.push_to_hub("local/two", split="test", num_shards=2)
    said = card(api, "local/two")
    assert [one["split"] for one in said["configs"][0]["data_files"]] == ["train", "test"]
    assert [one["num_examples"] for one in said["dataset_info"]["splits"]] == [3, 3]
    assert len(api.list_repo_files("local/two", repo_type="dataset")) == 4


def test_a_split_pushed_again_takes_the_place_of_the_old_one(api, dataset):
    dataset.push_to_hub("local/again", num_shards=3)
    dataset.select([0]).push_to_hub("local/again")
    assert api.list_repo_files("local/again", repo_type="dataset") == ["README.md", "data/train-00000-of-00001.parquet"]
    assert card(api, "local/again")["dataset_info"]["splits"][0]["num_examples"] == 1


def test_rows_can_be_appended(api, dataset, server):
    dataset.push_to_hub("local/grown")
    dataset.push_to_hub("local/grown", append=True)
    files = api.list_repo_files("local/grown", repo_type="dataset")
    assert files == ["README.md", "data/train-00000-of-00001.parquet", "data/train-00001-of-00002.parquet"]
    assert card(api, "local/grown")["dataset_info"]["splits"][0]["num_examples"] == 6


PARQUET = pa.table({"n": [1, 2, 3]})


@pytest.mark.parametrize(
    ("path", "yaml"),
    [
        ("data/train-00000-of-00001.parquet", None),
        ("data/train-00000-of-00001.parquet", "license: mit\n"),
        ("x/one.parquet", "configs:\n- config_name: default\n  data_files: x/*\n"),
        ("x/one.parquet", "configs:\n- config_name: default\n  data_files: ./x/one.parquet\n"),
        ("x/one.parquet", "configs:\n- config_name: default\n  data_dir: x\n  data_files: one.parquet\n"),
    ],
)
def test_rows_that_no_card_counts_are_counted_when_others_are_appended(api, server, path, yaml):
    uploaded(api, "local/uncounted", PARQUET, path, yaml)
    with pytest.raises(ValueError, match="other features"):
        Dataset.from_dict({"m": [4]}).push_to_hub("local/uncounted", append=True)
    Dataset.from_dict({"n": [4]}).push_to_hub("local/uncounted", append=True)
    assert card(api, "local/uncounted")["dataset_info"]["splits"][0]["num_examples"] == 4
    assert load_dataset("local/uncounted", split="train")["n"][:] == [1, 2, 3, 4]


def test_appended_rows_hide_no_others(api, server):
    uploaded(api, "local/hidden", PARQUET, "data/train.parquet")
    with pytest.raises(ArgumentError, match=r"to which split data/train\.parquet belongs"):
        Dataset.from_dict({"n": [4]}).push_to_hub("local/hidden", append=True)
    assert load_dataset("local/hidden", split="train")["n"][:] == [1, 2, 3]


def test_rows_elsewhere_that_no_card_counts_are_told(api, server):
    yaml = "configs:\n- config_name: default\n  data_files: https://host/rows.parquet\n"
    uploaded(api, "local/elsewhere", PARQUET, "other.parquet", yaml)
    with pytest.raises(ArgumentError, match=r"https://host/rows\.parquet is not in this repository"):
        Dataset.from_dict({"n": [4]}).push_to_hub("local/elsewhere", append=True)


def uploaded(api, repo, table, path, yaml=None):
    """A dataset that was not pushed."""
    api.create_repo(repo, repo_type="dataset")
    pq.write_table(table, stream := io.BytesIO())
    files = {path: stream.getvalue(), **({"README.md": f"---\n{yaml}---\n".encode()} if yaml else {})}
    for name, content in files.items():
        api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo, repo_type="dataset")


def test_other_features_are_refused(dataset, server):
    dataset.push_to_hub("local/typed")
    with pytest.raises(ValueError, match=r"other features than those on the Hub \(missing: text; not .*: other\)"):
        dataset.rename_column("text", "other").push_to_hub("local/typed", split="test")
    with pytest.raises(ValueError, match=r"text: Value\('large_string'\) instead of Value\('string'\)"):
        dataset.cast_column("text", Value("large_string")).push_to_hub("local/typed", append=True)


def test_what_takes_the_place_of_all_rows_may_have_other_features(api, dataset):
    dataset.push_to_hub("local/retyped")
    dataset.rename_column("text", "other").push_to_hub("local/retyped")
    assert [one["name"] for one in card(api, "local/retyped")["dataset_info"]["features"]] == ["label", "other"]
    with pytest.raises(ValueError, match="features"):
        dataset.push_to_hub("local/retyped", append=True)


def test_the_same_rows_pushed_again_are_no_commit(api, dataset):
    first = dataset.push_to_hub("local/twice")
    assert dataset.push_to_hub("local/twice").oid == first.oid
    assert len(api.list_repo_commits("local/twice", repo_type="dataset")) == 2


def test_a_file_that_has_another_name_is_not_taken_for_a_pushed_one(api, dataset):
    dataset.push_to_hub("local/named")
    path = api.hf_hub_download("local/named", "data/train-00000-of-00001.parquet", repo_type="dataset")
    at = {"repo_id": "local/renamed", "repo_type": "dataset"}
    api.create_repo(**at)
    api.upload_file(path_or_fileobj=path, path_in_repo="data/train-00000.parquet", **at)
    dataset.push_to_hub("local/renamed")
    assert api.file_exists(filename="data/train-00000-of-00001.parquet", **at)


def test_rows_are_divided_as_by_shard(api, server):
    rows = Dataset.from_dict({"n": list(range(10))})
    rows.push_to_hub("local/divided", num_shards=4)
    assert by_file(api, "local/divided") == [rows.shard(4, index)["n"][:] for index in range(4)]


def test_the_size_counts_files_of_other_folders(api, dataset):
    dataset.push_to_hub("local/folders")
    dataset.push_to_hub("local/folders", split="test", data_dir="more")
    files = api.dataset_info("local/folders", files_metadata=True).siblings
    sizes = [one.size for one in files if one.rfilename.endswith(".parquet")]
    assert card(api, "local/folders")["dataset_info"]["download_size"] == sum(sizes) > max(sizes)


def test_one_configuration_is_the_default(api, dataset):
    dataset.push_to_hub("local/default", "one", set_default=True)
    with pytest.raises(ArgumentError, match="'one' is marked as the default"):
        dataset.push_to_hub("local/default")
    dataset.push_to_hub("local/default", set_default=True)
    assert [one.get("default") for one in card(api, "local/default")["configs"]] == [None, None]
    dataset.push_to_hub("local/marked", "one", set_default=True)
    dataset.push_to_hub("local/marked", "one", split="test")
    assert card(api, "local/marked")["configs"][0]["default"] is True
    dataset.push_to_hub("local/marked", "one", set_default=False)
    assert "default" not in card(api, "local/marked")["configs"][0]


def test_options_of_files_that_are_replaced_go_with_them(api, dataset):
    yaml = "configs:\n- config_name: default\n  description: d\n  columns: [label]\n  data_files: data/train-*\n"
    described(api, "local/options", yaml)
    dataset.push_to_hub("local/options")
    (entry,) = card(api, "local/options")["configs"]
    assert set(entry) == {"config_name", "description", "data_files"}
    assert load_dataset("local/options", split="train").column_names == ["label", "text"]


def test_no_folder_of_this_machine_is_pushed(api, server, tmp_path):
    rows = [{"bytes": b"x", "path": "/home/me/a.png"}, {"bytes": b"y", "path": "https://host/b.png"}, None]
    kinds = Features({"i": Image(decode=False), "many": List(Image(decode=False))})
    images = Dataset.from_dict({"i": rows, "many": [rows, [], None]}, features=kinds)
    images.push_to_hub("local/paths")
    path = api.hf_hub_download("local/paths", "data/train-00000-of-00001.parquet", repo_type="dataset")
    short = [rows[0] | {"path": "a.png"}, rows[1], None]
    assert pq.read_table(path).to_pydict() == {"i": short, "many": [short, [], None]}


def test_a_dict_replaces_every_split_of_its_configuration(api, dataset):
    dataset.push_to_hub("local/dict", split="old")
    DatasetDict({"train": dataset, "validation": dataset}).push_to_hub("local/dict")
    said = card(api, "local/dict")
    assert [one["split"] for one in said["configs"][0]["data_files"]] == ["train", "validation"]
    assert not [path for path in api.list_repo_files("local/dict", repo_type="dataset") if "old" in path]


def test_configurations_live_side_by_side_and_one_can_go(api, dataset):
    dataset.push_to_hub("local/configs")
    dataset.push_to_hub("local/configs", config_name="other")
    said = card(api, "local/configs")
    assert [one["config_name"] for one in said["configs"]] == ["default", "other"]
    gone = delete_from_hub("local/configs", "other")
    left = api.list_repo_files("local/configs", repo_type="dataset", revision=gone.pr_revision)
    assert left == ["README.md", "data/train-00000-of-00001.parquet"]
    assert [one["config_name"] for one in card(api, "local/configs", gone.pr_revision)["configs"]] == ["default"]


def test_files_of_another_configuration_stay_when_one_goes(api, server):
    yaml = (
        "configs:\n- config_name: all\n  data_files: x/*.csv\n- config_name: one\n  data_files: ['x/one.csv', y.csv]\n"
    )
    described(api, "local/shared", yaml, "x/one.csv", "x/two.csv", "y.csv")
    gone = delete_from_hub("local/shared", "one")
    left = api.list_repo_files("local/shared", repo_type="dataset", revision=gone.pr_revision)
    assert left == ["README.md", "x/one.csv", "x/two.csv"]


def test_what_the_card_said_otherwise_stays(api, dataset):
    api.create_repo("local/said", repo_type="dataset")
    text = "---\nlicense: mit\ntags:\n- math\n---\n# About\nWords.\n"
    api.upload_file(path_or_fileobj=text.encode(), path_in_repo="README.md", repo_id="local/said", repo_type="dataset")
    dataset.push_to_hub("local/said")
    path = hf_hub_download("local/said", "README.md", repo_type="dataset", endpoint=api.endpoint)
    assert Path(path).read_text().endswith("# About\nWords.\n")
    assert card(api, "local/said")["license"] == "mit"


def test_what_was_sent_before_a_failure_is_not_sent_again(api, dataset, server, monkeypatch):
    from crucible_datasets.localhub import routes, routing

    sent = []

    def failing(request):
        sent.append(request.parts["sha256"])
        if len(sent) == 3:
            raise routes.HubError(403, "Forbidden", "no more today")
        return routes.lfs_upload(request)

    table = [replace(one, function=failing) if one.function is routes.lfs_upload else one for one in routing.ROUTES]
    monkeypatch.setattr(routing, "ROUTES", table)
    with pytest.raises(AccessDeniedError, match="local/failed was denied: .*no more today") as refused:
        dataset.push_to_hub("local/failed", num_shards=3)
    assert "signature=" in str(refused.value.__cause__.__cause__) and "signature=" not in str(refused.value)
    assert api.list_repo_files("local/failed", repo_type="dataset") == []
    dataset.push_to_hub("local/failed", num_shards=3)
    assert len(sent) == len(set(sent)) + 1
    assert len(api.list_repo_files("local/failed", repo_type="dataset")) == 4


def test_rows_are_appended_once_whatever_happens_to_requests(plan):
    """Servers may be busy, answers may be lost, and others may commit in between."""

    def add(*rows):
        return Dataset.from_dict({"n": list(rows)}).push_to_hub("local/busy", append=True)

    add(0)
    plan[:] = [("POST", "/create", "lost"), ("GET", "busy", 503), ("GET", "busy", "lost"), ("POST", "/commit/", 429)]
    add(1)
    plan[:] = [("POST", "/commit/", lambda: add(2))]
    add(3)
    plan[:] = [("POST", "/commit/", "lost")]
    made = add(4)
    assert not plan
    assert sorted(load_dataset("local/busy", split="train", revision=made.oid)["n"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("event", [503, 504, "lost", "cut", "page"])
def test_whichever_request_stumbles_rows_are_appended_once(plan, api, event, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    expected, count = [], 0
    while not plan:
        plan[:] = [*[("*", "", lambda: None)] * count, ("*", "", event)]
        expected.append(count)
        Dataset.from_dict({"n": [count]}).push_to_hub("local/steady", split="all", revision="dev", append=True)
        count += 1
    plan.clear()
    assert count > 10
    assert sorted(load_dataset("local/steady", split="all", revision="dev")["n"]) == expected


def test_a_hub_that_is_busy_while_a_file_is_sent_is_asked_again(plan, dataset, monkeypatch):
    """Also after huggingface_hub has given up, which says no more than that an upload failed."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    plan[:] = [("PUT", "/lfs/upload/", 503)] * 20
    dataset.push_to_hub("local/full")
    assert not plan
    monkeypatch.setattr(writer, "RETRY_TIMEOUT", 0.0)
    plan[:] = [("PUT", "/lfs/upload/", 503)] * 20
    with pytest.raises(UploadError, match="the server answered 503"):
        dataset.select([0]).push_to_hub("local/full")


def test_an_answer_of_somebody_else_is_told_from_that_of_a_hub(plan, dataset):
    plan[:] = [("GET", "/api/datasets/local/portal", "portal")]
    with pytest.raises(UploadError, match="local/portal: the response does not come from a Hub"):
        dataset.push_to_hub("local/portal")


@pytest.mark.parametrize("status", [409, 412])
def test_a_push_that_others_always_overtake_comes_to_an_end(plan, dataset, monkeypatch, status):
    plan[:] = [("POST", "/commit/", status)] * 3
    dataset.push_to_hub("local/busy")
    assert not plan
    monkeypatch.setattr(writer, "RETRY_TIMEOUT", 0.5)
    plan[:] = [("POST", "/commit/", status)] * 1000
    words = rf"hf://datasets/local/busy: the server answered {status} .*Nothing was committed.*when they are done"
    with pytest.raises(UploadError, match=words):
        dataset.push_to_hub("local/busy", split="test")
    assert len(plan) > 990


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("lost", "may have been made: check the commits of http.*/datasets/local/doubt first"),
        ("cut", "may have been made"),
        (504, "may have been made"),
        (503, "Nothing was committed"),
    ],
)
def test_a_push_says_nothing_untrue_when_the_hub_stays_away(plan, dataset, monkeypatch, event, words):
    def stumbles_and_stays_away():
        plan.extend((method, "local/doubt", 503) for method in ("GET", "POST") for _ in range(50))
        return event

    plan[:] = [("POST", "/commit/", stumbles_and_stays_away)]
    monkeypatch.setattr(writer, "RETRY_TIMEOUT", 0.5)
    with pytest.raises(UploadError, match=rf"the server answered 503 \(tried \d+ times\)\. .*{words}"):
        dataset.push_to_hub("local/doubt", append=True)


@pytest.mark.parametrize("append", [True, False])
def test_a_commit_whose_answer_was_lost_is_told_from_those_of_others(plan, api, append):
    """Whatever it is called, and whoever commits behind it or before it."""

    def other(answer):
        words = {"repo_id": "local/told", "repo_type": "dataset", "commit_message": "new rows"}
        api.upload_file(path_or_fileobj=str(len(plan)).encode(), path_in_repo="notes.txt", **words)
        return answer

    def made_and_followed():
        plan.append(("GET", "/api/datasets/local/told", lambda: other(None)))
        return "lost"

    def add(*rows):
        words = {"commit_message": "new rows\nof today", "commit_description": "all"}
        return Dataset.from_dict({"n": list(rows)}).push_to_hub("local/told", append=append, **words)

    add(0)
    for number, event in enumerate([made_and_followed, lambda: other("cut"), "cut"], 1):
        plan[:] = [("POST", "/commit/", event)]
        made = add(number)
        assert not plan
        files = api.list_repo_files("local/told", repo_type="dataset", revision=made.oid)
        assert len([path for path in files if path.endswith("parquet")]) == (number + 1 if append else 1)
        assert (made.commit_message, made.commit_description) == ("new rows\nof today", "all")
        last = api.list_repo_commits("local/told", repo_type="dataset", revision=made.oid)[0]
        assert (last.title, last.message) == ("new rows", "of today\n\nall")
    found = load_dataset("local/told", split="train", download_mode="force_redownload")["n"]
    assert sorted(found) == ([0, 1, 2, 3] if append else [3])


def test_a_card_alone_is_not_taken_for_that_of_somebody_else(plan, api, dataset):
    """All files were there before, so only the card tells whether the commit was made."""
    dataset.push_to_hub("local/same")
    words = {"repo_id": "local/same", "repo_type": "dataset"}
    api.upload_file(path_or_fileobj=b"---\nlicense: gpl\n---\n", path_in_repo="README.md", **words)

    def other():
        api.upload_file(path_or_fileobj=b"---\nlicense: mit\n---\n", path_in_repo="README.md", **words)
        return "cut"

    plan[:] = [("POST", "/commit/", other)]
    dataset.push_to_hub("local/same")
    said = card(api, "local/same")
    assert said["license"] == "mit" and said["dataset_info"]["splits"][0]["num_examples"] == 3


def test_pull_requests_are_made_once(plan, api, dataset, monkeypatch):
    """Also when their answer is lost; and whether one may have been made is not said of requests that did nothing."""
    dataset.push_to_hub("local/pulls", config_name="kept")
    monkeypatch.setattr(backoff, "_FIRST_PAUSE", 0.01)
    acts = [
        lambda: dataset.push_to_hub("local/pulls", split="test", create_pr=True),
        lambda: delete_from_hub("local/pulls", "kept"),
    ]
    for number, act in enumerate(acts):
        busy = [("POST", "/commit/", 429), ("POST", "/commit/", 503), ("POST", "validate-yaml", "cut")]
        plan[:] = [*busy, ("POST", "preupload", "lost"), ("POST", "/commit/", 412)]
        assert act().pr_revision == f"refs/pr/{2 * number + 1}"
        assert not plan
        plan[:] = [("POST", "/commit/", "lost")]
        look = (
            r"local/pulls: .*pull request may have been made: .*/datasets/local/pulls/discussions before you try again"
        )
        with pytest.raises(UploadError, match=look):
            act()
        assert len(
            api.list_repo_refs("local/pulls", repo_type="dataset", include_pull_requests=True).pull_requests
        ) == (2 * number + 2)


def test_a_pull_request_that_never_reached_the_hub_was_not_made(server, plan, dataset, monkeypatch):
    dataset.push_to_hub("local/away")
    monkeypatch.setattr(backoff, "_REACHED_BEFORE", 0.2)

    def goes_away():
        server.socket.close()
        return "lost"

    plan[:] = [("POST", "validate-yaml", goes_away)]
    with pytest.raises(UploadError, match=r"ConnectError.*Nothing was committed"):
        dataset.push_to_hub("local/away", split="test", create_pr=True)


def test_small_files_may_travel_in_the_commit(server, api, dataset, monkeypatch):
    """A Hub decides by .gitattributes what is large."""
    monkeypatch.setattr("crucible_datasets.localhub.repos._LARGE", set())
    dataset.push_to_hub("local/small", num_shards=2)
    assert api.dataset_info("local/small", files_metadata=True).siblings[1].lfs is None
    assert load_dataset("local/small", split="train").to_list() == dataset.to_list()


def test_a_card_keeps_the_ends_of_its_lines(api, dataset):
    api.create_repo("local/lines", repo_type="dataset")
    words = {"path_in_repo": "README.md", "repo_id": "local/lines", "repo_type": "dataset"}
    api.upload_file(path_or_fileobj=b"---\r\nlicense: mit\r\n---\r\n# About\r\nWords.\r\n", **words)
    dataset.push_to_hub("local/lines")
    path = hf_hub_download("local/lines", "README.md", repo_type="dataset", endpoint=api.endpoint)
    assert Path(path).read_bytes().endswith(b"# About\r\nWords.\r\n")


def test_a_file_that_was_removed_leaves_its_number_unused(api, server):
    for number in range(3):
        Dataset.from_dict({"n": [number]}).push_to_hub("local/gap", append=True)
    api.delete_file("data/train-00000-of-00001.parquet", "local/gap", repo_type="dataset")
    Dataset.from_dict({"n": [3]}).push_to_hub("local/gap", append=True)
    found = load_dataset("local/gap", split="train", verification_mode="no_checks")
    assert sorted(found["n"]) == [1, 2, 3]


def test_a_hub_without_xet_gets_files_as_git_sends_them(api, dataset, monkeypatch, caplog):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    dataset.push_to_hub("local/plain", num_shards=2)
    assert len(api.list_repo_files("local/plain", repo_type="dataset")) == 3
    assert not [record for record in caplog.records if "Xet" in record.getMessage()]


def test_a_hub_that_is_not_there_is_named_with_what_to_do(dataset, online, monkeypatch):
    monkeypatch.setattr(config, "HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(backoff, "_NEVER_REACHED", 0.0)
    with pytest.raises(UploadError, match=r"hf://datasets/me/far: .*refused.*network and HF_ENDPOINT.*not sent twice"):
        dataset.push_to_hub("me/far", token="hf_secret")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("repos/create", "Nothing was committed"),
        ("preupload", "Nothing was committed"),
        ("objects/batch", "Nothing was committed"),
        ("lfs/upload", "Nothing was committed"),
        ("/commit/", "it may have been made"),
    ],
)
def test_a_hub_that_takes_what_it_gets_and_says_nothing_is_given_up(plan, dataset, monkeypatch, part, words):
    monkeypatch.setattr(writer, "RETRY_TIMEOUT", 0.0)
    monkeypatch.setattr(config, "CRUCIBLE_HUB_SILENCE", 0.2)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    plan += [("*", part, "silence")] * 9
    began = time.monotonic()
    with pytest.raises(UploadError, match=words):
        dataset.push_to_hub("me/numbers")
    assert time.monotonic() - began < 5


def test_a_hub_that_says_nothing_of_a_commit_it_made_is_asked_for_it(plan, api, dataset, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_HUB_SILENCE", 0.3)

    def made_and_silent():
        time.sleep(0.6)

    dataset.push_to_hub("me/numbers")
    plan.append(("POST", "/commit/", made_and_silent))
    dataset.push_to_hub("me/numbers", append=True)
    assert len(load_dataset("me/numbers", split="train")) == 6


@pytest.mark.parametrize("by", ["variable", "setting"])
def test_nothing_is_sent_once_the_network_is_forbidden(plan, dataset, monkeypatch, by):
    dataset.push_to_hub("me/numbers")
    plan.append(("*", "", lambda: pytest.fail("the Hub was asked")))
    if by == "variable":
        monkeypatch.setenv("HF_HUB_OFFLINE", "true")
    else:
        monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    for write in (
        lambda: dataset.push_to_hub("me/numbers"),
        lambda: dataset.to_iterable_dataset().push_to_hub("me/numbers", append=True),
        lambda: storage.write_jsonl("hf://datasets/me/numbers/notes.jsonl", [{"a": 1}]),
        lambda: storage.remove("hf://datasets/me/numbers/README.md"),
        lambda: storage.write_jsonl("hf://buckets/me/numbers/notes.jsonl", [{"a": 1}]),
        lambda: delete_from_hub("me/numbers", "default"),
    ):
        with pytest.raises(OfflineError):
            write()
    assert len(plan) == 1


def test_private_and_pull_requests(api, dataset):
    dataset.push_to_hub("local/hidden", private=True)
    assert api.dataset_info("local/hidden").private
    made = dataset.push_to_hub("local/hidden", split="test", create_pr=True)
    assert "data/test-00000-of-00001.parquet" not in api.list_repo_files("local/hidden", repo_type="dataset")
    assert "data/test-00000-of-00001.parquet" in api.list_repo_files(
        "local/hidden", repo_type="dataset", revision=made.pr_revision
    )


def test_a_branch_is_made(api, dataset):
    dataset.push_to_hub("local/branched", revision="dev")
    assert api.list_repo_files("local/branched", repo_type="dataset") == []
    assert len(api.list_repo_files("local/branched", repo_type="dataset", revision="dev")) == 2


def test_names_that_the_hub_cannot_hold_are_refused(dataset, server):
    with pytest.raises(ArgumentError, match="nothing to push"):
        DatasetDict().push_to_hub("local/wrong")
    for wrong in (
        {"config_name": "data"},
        {"config_name": "a/b"},
        {"config_name": "a*"},
        {"config_name": "a[1]"},
        {"config_name": ""},
        {"config_name": ".."},
        {"data_dir": "../a"},
        {"data_dir": "/a"},
        {"data_dir": "./a"},
        {"data_dir": "a//b"},
        {"data_dir": "a[1]"},
        {"split": "a b"},
        {"repo_id": "local/a b"},
        {"repo_id": "../a"},
    ):
        with pytest.raises(ArgumentError):
            dataset.push_to_hub(**{"repo_id": "local/wrong", **wrong})
    assert not server.hub.repo("local/wrong").exists


@pytest.mark.parametrize("head", [b": [", b"1: one"])
def test_a_card_that_is_no_yaml_is_not_lost(api, dataset, head):
    api.create_repo("local/torn", repo_type="dataset")
    api.upload_file(
        path_or_fileobj=b"---\n%b\n---\n" % head, path_in_repo="README.md", repo_id="local/torn", repo_type="dataset"
    )
    with pytest.raises(CardError, match="README.md"):
        dataset.push_to_hub("local/torn")


def described(api, repo, yaml, *files):
    api.create_repo(repo, repo_type="dataset")
    contents = {"README.md": f"---\n{yaml}---\n# About\n".encode(), **dict.fromkeys(files, b"n\n1\n")}
    for name, content in contents.items():
        api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo, repo_type="dataset")


SHORT = [
    "  data_files: other.csv\n",
    "  data_files: [other.csv]\n",
    "  data_files:\n  - split: train\n    path: [other.csv]\n",
    "  data_dir: other\n",
    "  data_dir: other\n  data_files: '*.csv'\n",
]


@pytest.mark.parametrize("files", SHORT)
def test_files_may_be_named_in_every_way_that_cards_know(api, dataset, files):
    described(
        api, "local/short", f"configs:\n- config_name: a\n{files}", "other.csv", "other/x.csv", "other/deep/y.txt"
    )
    gone = delete_from_hub("local/short", "a")
    left = set(api.list_repo_files("local/short", repo_type="dataset", revision=gone.pr_revision))
    folder = {"other/x.csv"} if "*" in files else {"other/x.csv", "other/deep/y.txt"}
    assert {"other.csv", "other/x.csv", "other/deep/y.txt"} - left == (folder if "data_dir" in files else {"other.csv"})
    dataset.push_to_hub("local/short", "a")
    assert load_dataset("local/short", "a", split="train").to_list() == dataset.to_list()


@pytest.mark.parametrize("files", ["  data_dir: a[1]\n", "  data_files: a[1]/x.csv\n"])
def test_brackets_may_be_part_of_a_name_that_is_deleted(api, files):
    described(api, "local/brackets", f"configs:\n- config_name: a\n{files}", "a[1]/x.csv", "a1.csv")
    gone = delete_from_hub("local/brackets", "a")
    left = api.list_repo_files("local/brackets", repo_type="dataset", revision=gone.pr_revision)
    assert "a[1]/x.csv" not in left and "a1.csv" in left


def test_rows_are_appended_behind_those_that_a_card_names_otherwise(api, dataset):
    dataset.push_to_hub("local/moved", data_dir="old/")
    dataset.push_to_hub("local/moved", data_dir="new", append=True)
    assert load_dataset("local/moved", split="train").num_rows == 6
    described(api, "local/csv", "configs:\n- config_name: default\n  data_files: a.csv\n", "a.csv")
    with pytest.raises(ArgumentError, match=r"append.*a\.csv"):
        dataset.push_to_hub("local/csv", append=True)


@pytest.mark.parametrize(
    "yaml",
    [
        "configs: {config_name: a}\n",
        "configs: [{data_files: a.csv}]\n",
        "configs: [{config_name: default, data_files: {train: a.csv}}]\n",
        "- a\n",
    ],
)
def test_a_card_that_makes_no_sense_is_told_before_anything_is_sent(plan, api, dataset, yaml):
    described(api, "local/nonsense", yaml)
    plan[:] = [("POST", "preupload", 403)]
    with pytest.raises(CardError, match=r"README\.md"):
        dataset.push_to_hub("local/nonsense")
    assert plan


def test_hugging_face_datasets_reads_it(dataset, server, tmp_path):
    DatasetDict({"train": dataset, "test": dataset.select([1])}).push_to_hub("local/read")
    program = """
import datasets
loaded = datasets.load_dataset("local/read")
assert loaded["train"].features["label"].names == ["u", "v", "w"]
assert loaded["train"].to_list() == [{"label": 0, "text": "x"}, {"label": 1, "text": "y"}, {"label": 2, "text": None}]
assert loaded["test"].num_rows == 1
"""
    surroundings = {
        **os.environ,
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "0",
    }
    surroundings.pop("HF_DATASETS_CACHE", None)
    subprocess.run([sys.executable, "-c", program], env=surroundings, check=True, timeout=120)


def test_streams_are_pushed_while_they_flow(api, dataset, server):
    dataset.to_iterable_dataset(num_shards=2).push_to_hub("local/flown")
    assert card(api, "local/flown")["dataset_info"]["splits"][0]["num_examples"] == 3
    longer = dataset.to_iterable_dataset().map(lambda row: {"length": len(row["text"] or "")})
    IterableDatasetDict({"train": longer, "test": longer.take(1)}).push_to_hub("local/flown", max_shard_size=1)
    said = card(api, "local/flown")
    assert [one["num_examples"] for one in said["dataset_info"]["splits"]] == [3, 1]
    assert [one["name"] for one in said["dataset_info"]["features"]] == ["label", "text", "length"]


def test_files_of_a_stream_are_no_larger_than_asked(api, server):
    rows = Dataset.from_dict({"n": list(range(100))})
    rows.to_iterable_dataset().push_to_hub("local/small", max_shard_size=20 * 8)
    files = by_file(api, "local/small")
    assert files == [list(range(start, start + 20)) for start in range(0, 100, 20)]


def by_file(api, repo_id):
    names = [name for name in api.list_repo_files(repo_id, repo_type="dataset") if name.endswith(".parquet")]
    paths = [api.hf_hub_download(repo_id, name, repo_type="dataset") for name in sorted(names)]
    return [pq.read_table(path)["n"].to_pylist() for path in paths]


STEPS = {
    "nothing": (lambda rows: rows, [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]),
    "a function": (lambda rows: rows.map(lambda row: {"n": row["n"] + 1}), [[1, 2, 3, 4], [5, 6, 7], [8, 9, 10]]),
    "known types": (lambda rows: rows.filter(lambda row: row["n"] != 5), [[0, 1, 2, 3], [4, 6], [7, 8, 9]]),
    "one after another": (lambda rows: concatenate_datasets([rows, rows.skip(9)]), [[*range(10), 9]]),
    "some rows": (lambda rows: rows.take(5), [[0, 1, 2, 3, 4]]),
    "numbers": (lambda rows: rows.filter(lambda row, index: index < 5, with_indices=True), [[0, 1, 2, 3, 4]]),
}


@pytest.mark.parametrize("steps", STEPS)
def test_each_shard_of_a_stream_is_a_file_unless_rows_depend_on_other_shards(api, server, steps):
    change, files = STEPS[steps]
    change(Dataset.from_dict({"n": list(range(10))}).to_iterable_dataset(num_shards=3)).push_to_hub("local/shards")
    assert by_file(api, "local/shards") == files


QUIET = """
import sys
import crucible_datasets as cd
from crucible_datasets import storage
cd.Dataset.from_dict({"a": ["x" * 1000] * 1000}).push_to_hub("acme/quiet")
storage.write_jsonl("hf://datasets/acme/quiet/more.jsonl", [{"a": 1}])
"""


def test_a_program_without_a_terminal_sees_no_bars(server, tmp_path):
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    token = next(iter(server.access.tokens))
    own = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": server.endpoint, "HF_TOKEN": token}
    ran = subprocess.run(
        [sys.executable, "-c", QUIET], env={**known, **own}, capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_every_type_of_arrow_comes_down_as_it_went_up(api, server):
    absent = (
        "decimal of thousands",
        "bytes of no length",
        "lists of no length",
        "empty struct",
        "list of empty structs",
    )
    columns = {name: column for name, column in COLUMNS.items() if name not in absent}
    dataset = Dataset(pa.table({"row": pa.array(range(7)), **columns}))
    dataset.select([6, 0, 3, 1, 5, 2, 4]).push_to_hub("me/types", num_shards=3)
    again = load_dataset("me/types", split="train")
    assert again["row"][:] == [6, 0, 3, 1, 5, 2, 4]
    assert list(map(repr, again.sort("row"))) == list(map(repr, dataset))
    rows = sorted(load_dataset("me/types", split="train", streaming=True), key=lambda row: row["row"])
    assert list(map(repr, rows)) == list(map(repr, dataset))
