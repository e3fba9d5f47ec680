"""`load_dataset` by the name of a repository or an address, over real HTTP against the local Hub."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import uuid
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi
from support.web import folder_served

import crucible_datasets as cd
from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    CardError,
    ConfigNotFoundError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    DatasetScriptError,
    EmptyDatasetError,
    OfflineError,
)
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.routing import Response
from crucible_datasets.localhub.server import serving

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

CARD = """---
configs:
- config_name: main
  default: true
  data_files:
  - split: train
    path: data/train-*.parquet
  - split: test
    path: data/test-*.parquet
- config_name: other
  data_files: other/*.csv
---
# Numbers
"""


def parquet(path, *numbers):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": list(numbers), "text": [f"row {n}" for n in numbers]}), path)


@pytest.fixture
def server(online, tmp_path, monkeypatch):
    repos = tmp_path / "hub" / "acme"
    parquet(repos / "numbers" / "data" / "train-0.parquet", 1, 2)
    parquet(repos / "numbers" / "data" / "train-1.parquet", 3)
    parquet(repos / "numbers" / "data" / "test-0.parquet", 9)
    (repos / "numbers" / "other").mkdir()
    (repos / "numbers" / "other" / "a.csv").write_text("x\n1\n")
    (repos / "numbers" / "README.md").write_text(CARD)
    (repos / "several").mkdir()
    (repos / "several" / "README.md").write_text(CARD.replace("  default: true\n", ""))
    (repos / "plain").mkdir()
    (repos / "plain" / "train.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    (repos / "plain" / "dev.jsonl").write_text('{"a": 3}\n')
    (repos / "script").mkdir()
    (repos / "script" / "script.py").write_text("raise SystemExit")
    with serving(str(tmp_path / "hub")) as server:
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield server


def test_a_repository_loads_by_its_name(server):
    loaded = cd.load_dataset("acme/numbers")
    assert {split: rows["n"][:] for split, rows in loaded.items()} == {"train": [1, 2, 3], "test": [9]}
    assert cd.load_dataset("acme/numbers", "other", split="train")["x"][:] == [1]
    assert cd.load_dataset("acme/plain", split="validation").to_list() == [{"a": 3}]


def test_only_the_files_of_the_split_that_is_asked_for_are_fetched(server, requests):
    assert cd.load_dataset("acme/numbers", split="test")["n"][:] == [9]
    fetched = [path for path in requests if "/resolve/" in path]
    assert [path.rpartition("/")[2] for path in fetched] == ["README.md", "test-0.parquet"]


def test_sizes_are_not_saved_in_the_cache_of_the_hub(server, tmp_path, caplog):
    assert cd.load_dataset("acme/numbers", split="test", save_infos=True).num_rows == 1
    assert "Nothing was saved: acme/numbers" in caplog.text
    (readme,) = (tmp_path / "cache").rglob("README.md")
    assert readme.read_text() == CARD


def test_what_save_to_disk_wrote_loads_from_the_hub(server, tmp_path):
    cd.Dataset.from_dict({"n": [1, 2]}).save_to_disk(tmp_path / "hub" / "acme" / "saved")
    assert cd.load_dataset("acme/saved", split="train")["n"][:] == [1, 2]


def test_files_of_a_repository_may_be_named_by_their_addresses(server):
    there = f"{server.endpoint}/datasets/acme/numbers/resolve/main/data/train-1.parquet"
    both = cd.load_dataset("acme/numbers", data_files={"one": there, "two": "data/test-*"})
    assert {split: rows["n"][:] for split, rows in both.items()} == {"one": [3], "two": [9]}


def test_a_card_cannot_name_other_addresses(server, tmp_path):
    there = f"{server.endpoint}/datasets/acme/numbers/resolve/main/data/train-1.parquet"
    card = f"---\nconfigs:\n- {{config_name: x, data_files: '{there}'}}\n---\n"
    (tmp_path / "hub" / "acme" / "elsewhere").mkdir()
    (tmp_path / "hub" / "acme" / "elsewhere" / "README.md").write_text(card)
    with pytest.raises(DataFilesNotFoundError):
        cd.load_dataset("acme/elsewhere")


def test_a_folder_that_is_missing_is_named_with_those_that_exist(server):
    with pytest.raises(
        EmptyDatasetError, match=r"dat: acme/numbers .* Its folders: data, other\. Did you mean 'data'\?"
    ):
        cd.load_dataset("acme/numbers", data_dir="dat")


def test_what_is_cached_needs_no_network(server, requests, monkeypatch):
    cd.load_dataset("acme/numbers", split="test")
    requests.clear()
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert cd.load_dataset("acme/numbers", split="test")["n"][:] == [9]
    with pytest.raises(OfflineError, match="train-0"):
        cd.load_dataset("acme/numbers", split="train")
    assert requests == []


def test_a_pinned_revision_makes_no_request_the_second_time(server, requests):
    revision = server.hub.repo("acme/numbers").find("main").id
    cd.load_dataset("acme/numbers", revision=revision)
    requests.clear()
    assert cd.load_dataset("acme/numbers", revision=revision)["train"].num_rows == 3
    assert requests == []


def test_what_is_known_is_told_without_the_data(server, requests, tmp_path):
    assert cd.get_dataset_config_names("acme/numbers") == ["main", "other"]
    assert cd.get_dataset_default_config_name("acme/numbers") == "main"
    assert cd.get_dataset_split_names("acme/numbers", "main") == ["train", "test"]
    assert not [path for path in requests if path.endswith((".parquet", ".csv"))]
    infos = cd.get_dataset_infos("acme/numbers")
    assert {name: info.features for name, info in infos.items()} == {
        "main": cd.Features({"n": cd.Value("int64"), "text": cd.Value("string")}),
        "other": None,  # columns of CSV files have the types of all their rows
    }
    assert not list((tmp_path / "cache").rglob("*.parquet"))


def test_data_files_choose_among_the_files_of_a_repository(server):
    assert cd.load_dataset("acme/numbers", data_files="data/train-1.parquet", split="train")["n"][:] == [3]
    assert cd.load_dataset("acme/numbers", data_files={"x": "data/*-0.parquet"})["x"]["n"][:] == [9, 1, 2]
    with pytest.raises(DataFilesNotFoundError, match=r"nothing\.parquet"):
        cd.load_dataset("acme/numbers", data_files="nothing.parquet")


def test_columns_and_filters_work_as_on_this_disk(server):
    loaded = cd.load_dataset("acme/numbers", split="train", columns=["n"], filters=[("n", ">", 1)])
    assert loaded.to_list() == [{"n": 2}, {"n": 3}]


def test_addresses_load_too(server):
    assert cd.load_dataset("hf://datasets/acme/plain", split="train")["a"][:] == [1, 2]
    url = f"{server.endpoint}/datasets/acme/plain/resolve/main/train.jsonl"
    assert cd.load_dataset("json", data_files=url, split="train")["a"][:] == [1, 2]
    assert cd.load_dataset("json", data_files=["hf://datasets/acme/plain/*.jsonl"], split="train")["a"][:] == [3, 1, 2]


HELD = [
    "1.csv",
    "in/1.csv",
    "in/2.csv",
    ".dot.csv",
    ".in/1.csv",
    "__in/1.csv",
    "README.md",
    "in/config.json",
    "a[1].csv",
]
MEANT = {
    "**": ["1.csv", "a[1].csv", "in/1.csv", "in/2.csv"],
    "*": ["1.csv", "a[1].csv"],
    "in/*": ["in/1.csv", "in/2.csv"],
    "**/1.csv": ["1.csv", "in/1.csv"],
    "in/[12].csv": ["in/1.csv", "in/2.csv"],
    "?.csv": ["1.csv"],
    ".dot.csv": [".dot.csv"],
    ".in/*": [".in/1.csv"],
    "README.md": ["README.md"],
    "in/c*.json": None,
    "a[1].csv": ["a[1].csv"],
}


@pytest.mark.parametrize("kind", ["disk", "hub", "memory"])
def test_a_pattern_means_the_same_files_everywhere(server, tmp_path, kind):
    import fsspec

    places = {
        "disk": tmp_path / "hub/acme/held",
        "hub": "hf://datasets/acme/held",
        "memory": f"memory://{uuid.uuid4()}",
    }
    for name in HELD:
        content = f"x\n{name}\n"
        (places["disk"] / name).parent.mkdir(parents=True, exist_ok=True)
        (places["disk"] / name).write_text(content)
        fsspec.filesystem("memory").pipe_file(f"{places['memory']}/{name}", content.encode())
    for pattern, names in MEANT.items():
        try:
            found = cd.load_dataset("csv", data_files=f"{places[kind]}/{pattern}", split="train")["x"][:]
        except DataFilesNotFoundError:
            found = None
        assert found == names, pattern


def test_an_address_without_a_name_is_a_file(server, tmp_path):
    (tmp_path / "web" / "rows").mkdir(parents=True)
    (tmp_path / "web" / "rows" / "index.html").write_text('{"a": 1}\n')
    with folder_served(tmp_path / "web" / "rows") as address:
        for ending in ("", "/", "/?page=1", "/."):
            assert cd.load_dataset("json", data_files=address + ending, split="train")["a"] == [1]


def test_archives_elsewhere_are_read_by_our_own_readers(server, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "hub" / "acme" / "plain" / "more.zip", "w") as archive:
        archive.writestr("in/a.csv", "x\n7\n")
    server.hub._looked.clear()
    url = f"{server.endpoint}/datasets/acme/plain/resolve/main/more.zip"
    assert cd.load_dataset("csv", data_files=f"zip://in/*.csv::{url}", split="train")["x"][:] == [7]
    assert cd.load_dataset("csv", data_files=url, split="train")["x"][:] == [7]


def test_a_bucket_is_a_folder(server, tmp_path):
    import fsspec

    system, root = fsspec.filesystem("memory"), uuid.uuid4().hex
    system.pipe_file(f"/{root}/train/a.csv", b"x\n1\n2\n")
    system.pipe_file(f"/{root}/test/a.csv", b"x\n3\n")
    loaded = cd.load_dataset(f"memory://{root}")
    assert {split: rows["x"][:] for split, rows in loaded.items()} == {"train": [1, 2], "test": [3]}
    assert cd.load_dataset("csv", data_files=f"memory://{root}/t*/*.csv", split="train").num_rows == 3
    system.pipe_file(f"/{root}/test/a.csv", b"x\n4\n")
    assert cd.load_dataset(f"memory://{root}", split="test")["x"][:] == [4]


def test_a_folder_may_have_brackets_in_its_name(server):
    import fsspec

    root = f"memory://{uuid.uuid4().hex}/a[1]"
    for name in ("1.csv", "in/2.csv"):
        fsspec.filesystem("memory").pipe_file(f"{root}/{name}", f"x\n{name}\n".encode())
    assert cd.load_dataset("csv", data_files=root, split="train")["x"][:] == ["1.csv", "in/2.csv"]


def test_streams_come_by_name_too(server):
    assert list(cd.load_dataset("acme/numbers", split="train", streaming=True)) == [
        {"n": n, "text": f"row {n}"} for n in (1, 2, 3)
    ]


def test_a_stream_of_many_files_asks_for_those_that_are_read(server, requests, tmp_path):
    for number in range(9):
        parquet(tmp_path / "hub" / "acme" / "many" / f"train-{number}.parquet", *range(5 * number, 5 * number + 5))
    rows = cd.load_dataset("acme/many", split="train", streaming=True)
    assert next(iter(rows))["n"] == 0
    assert {path.rpartition("/")[2] for path in requests} == {"main", "train-0.parquet"}
    assert len(requests) <= 4
    assert [row["n"] for row in rows] == [*range(45)]


def test_names_that_are_wrong_say_what_is_there(server):
    with pytest.raises(DatasetNotFoundError, match="acme/nothing"):
        cd.load_dataset("acme/nothing")
    with pytest.raises(
        ConfigNotFoundError, match="^acme/numbers at [0-9a-f]+ has no configuration 'third'.*main, other"
    ):
        cd.load_dataset("acme/numbers", "third")
    with pytest.raises(DatasetNotFoundError, match="jsonl: it is no format; did you mean 'json'?"):
        cd.load_dataset("jsonl", data_files="x.jsonl")
    with pytest.raises(DatasetNotFoundError, match="data/train.jsonl: there is no such file here"):
        cd.load_dataset("data/train.jsonl")
    with pytest.raises(ConfigNotFoundError, match=r"Name one, as in load_dataset\('acme/several', 'main'\)"):
        cd.load_dataset("acme/several")
    with pytest.raises(DatasetNotFoundError, match="no revision 'v7'"):
        cd.load_dataset("acme/numbers", revision="v7")


def test_a_misspelt_folder_is_told_from_a_repository(server, tmp_path, monkeypatch):
    (tmp_path / "folds" / "quiz").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    here = r"There is no file or folder 'folds/quizz' here\. Did you mean 'quiz'\?"
    with pytest.raises(DatasetNotFoundError, match=rf"{here} The Hub: .*folds/quizz"):
        cd.load_dataset("folds/quizz")
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    with pytest.raises(OfflineError, match=here):
        cd.load_dataset("folds/quizz")


def test_a_program_is_not_run_and_its_export_is_read(server, caplog):
    with pytest.raises(DatasetScriptError):
        cd.load_dataset("acme/script")
    repo, known = server.hub.repo("acme/script"), server.hub.repo("acme/numbers").find("main").files
    repo.commit({"default/train/0000.parquet": known["data/train-0.parquet"]}, "export", onto="refs/convert/parquet")
    assert cd.load_dataset("acme/script", split="train")["n"][:] == [1, 2]


def test_every_configuration_of_an_export_is_found(server):
    repo, known = server.hub.repo("acme/script"), server.hub.repo("acme/numbers").find("main").files
    names = {"stray.parquet": "data/test-0.parquet", "en/test/0000.parquet": "data/test-0.parquet"}
    names |= {"en/train/0000.parquet": "data/train-0.parquet", "fr/partial-train/0000.parquet": "data/train-1.parquet"}
    repo.commit({path: known[name] for path, name in names.items()}, "export", onto="refs/convert/parquet")
    english = cd.load_dataset("acme/script", "en")
    assert {split: rows["n"][:] for split, rows in english.items()} == {"train": [1, 2], "test": [9]}
    assert list(english) == ["train", "test"]
    assert (english["train"].info.config_name, english["train"].info.dataset_name) == ("en", "script")
    assert cd.load_dataset("acme/script", "fr", split="train", streaming=True).take(1).__iter__().__next__()["n"] == 3
    assert cd.get_dataset_config_names("acme/script") == ["en", "fr"]
    assert cd.get_dataset_default_config_name("acme/script") is None
    assert cd.get_dataset_split_names("acme/script", "en") == ["train", "test"]
    for name in (None, "de"):
        with pytest.raises(ConfigNotFoundError, match="Available: en, fr"):
            cd.load_dataset("acme/script", name)
    assert cd.load_dataset("acme/script", data_files="fr/*/*.parquet", split="train")["n"][:] == [3]


def test_a_commit_is_named_by_all_of_its_digits(server):
    commit = server.hub.repo("acme/numbers").find("main").id
    with pytest.raises(DatasetNotFoundError, match=f"no revision '{commit[:8]}'. Name a commit by all of its 40"):
        cd.load_dataset("acme/numbers", revision=commit[:8])


def test_the_revision_of_an_address(server):
    repo, there = server.hub.repo("acme/numbers"), "hf://datasets/acme/numbers"
    repo.point("refs/tags/v1/x", repo.find("main").id)
    repo.commit({"data/train-1.parquet": None}, "less")
    for address, revision in ((there, "v1/x"), (f"{there}@v1%2Fx", "v1/x"), (there, repo.find("v1/x").id)):
        assert cd.load_dataset(address, split="train", revision=revision)["n"][:] == [1, 2, 3]
    assert cd.load_dataset(there, split="train")["n"][:] == [1, 2]
    assert cd.get_dataset_config_names(there, revision="v1/x") == ["main", "other"]
    with pytest.raises(ArgumentError, match="names another one"):
        cd.load_dataset(f"{there}@main", revision="v1/x")


def test_what_was_pushed_comes_back_with_its_features(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    kinds = cd.Features({"label": cd.ClassLabel(names=["no", "yes"]), "when": cd.Value("timestamp[s]")})
    rows = cd.Dataset.from_dict({"label": [1, 0], "when": [None, None]}, features=kinds)
    cd.DatasetDict({"train": rows, "test": rows}).push_to_hub("local/typed")
    assert cd.load_dataset("local/typed")["test"].features == kinds


ODD = ["a b", "ü", "c#d", "e?f", "g%20h", "i+j", "k&l", "m[1]", "p=q", "r's", "v;w", "日本", "x@y", "~z"]
TREES = {
    "odd": {f"data/train/{name}.csv": number for number, name in enumerate(ODD)},
    "hidden": {"a.csv": 1, ".b.csv": 2, "__c/d.csv": 3, ".e/f.csv": 4, "data/.g.csv": 5, "data/h.csv": 6, "__i.csv": 7},
    "dirs": {"train/a.csv": 1, "train/b/c.csv": 2, "test/a.csv": 3, "validation/x/y/z.csv": 4, "extra.csv": 5},
    "cards": {"a/x.csv": 1, "b/t.csv": 2, "b/u.csv": 3, "b/v.csv": 4, "c/train.csv": 5, "c/test.csv": 6},
}
CARDS = """---
configs:
- config_name: a
  data_files: "a/*.csv"
- config_name: b
  data_files:
  - split: train
    path: b/t.csv
  - split: test
    path: [b/u.csv, b/v.csv]
- config_name: c
  data_dir: c
- config_name: d
  data_files: [a/x.csv, c/train.csv]
---
"""
PATTERNS = {
    "odd": [
        *("data/train/*.csv", "data/train/a b.csv", "data/train/c#d.csv", "data/train/e?f.csv", "**/ü.csv"),
        *("data/train/[a-k]*.csv", "data/**", "data/*/*", "data/train/x@y.csv", "data/train/g%20h.csv"),
    ],
    "hidden": ["*.csv", "**/*.csv", ".b.csv", ".e/*", ".e/f.csv", "__c/*", "data/.g.csv", "**", "data/*", "__i.csv"],
    "dirs": ["train/?.csv", "hf://datasets/acme/dirs@main/train/**", {"foo": "**/c.csv", "bar": ["extra.csv"]}],
}
CALLS = [
    *(("odd hidden dirs".split()[at], None, {}) for at in range(3)),
    *((repo, None, {"data_files": pattern}) for repo, patterns in PATTERNS.items() for pattern in patterns),
    *(("dirs", None, {"data_dir": folder}) for folder in ("train", "validation", "train/")),
    ("dirs", None, {"data_dir": "train", "data_files": "**/*.csv"}),
    *(("cards", name, {}) for name in "abcd"),
    ("cards", "a", {"data_files": "b/t.csv"}),
]
ALL = """
import json, sys
import datasets
for repo, name, how in json.loads(sys.argv[1]):
    loaded = datasets.load_dataset(f"acme/{repo}", name, streaming=True, **how)
    print(json.dumps({split: [row["x"] for row in rows] for split, rows in loaded.items()}))
"""


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_hugging_face_datasets_finds_the_same(server, tmp_path, every):
    calls = CALLS[::every]
    for repo, tree in TREES.items():
        for name, number in tree.items():
            path = tmp_path / "hub" / "acme" / repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"x\n{number}\n")
    (tmp_path / "hub" / "acme" / "cards" / "README.md").write_text(CARDS)
    surroundings = {**os.environ, "HF_ENDPOINT": server.endpoint, "HF_HOME": str(tmp_path / "h"), "HF_HUB_OFFLINE": "0"}
    surroundings.pop("HF_DATASETS_CACHE", None)
    theirs = subprocess.run(
        [sys.executable, "-c", ALL, json.dumps(calls)], env=surroundings, timeout=120, capture_output=True, text=True
    )
    assert theirs.returncode == 0, theirs.stderr
    for (repo, name, how), line in zip(calls, theirs.stdout.splitlines(), strict=True):
        loaded = cd.load_dataset(f"acme/{repo}", name, **how)
        assert {split: rows["x"][:] for split, rows in loaded.items()} == json.loads(line), (repo, name, how)


def test_one_display_tells_bytes_speed_time_and_files(server, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr("crucible_datasets.progress._disabled", False)
    cd.load_dataset("acme/numbers", split="train")
    last = [line for line in shown.getvalue().split("\r") if "Downloading acme/numbers" in line][-1]
    assert re.search(r"100%.* [\d.]+k/[\d.]+k \[\d\d:\d\d<\d\d:\d\d, .*B/s, 2 of 2 files\]", last)


def test_revisions_are_named_as_the_hub_names_them(server):
    api = HfApi(endpoint=server.endpoint, token=next(iter(server.access.tokens)))
    where = {"repo_id": "acme/old", "repo_type": "dataset"}
    api.create_repo(**where)

    def write(number, **how):
        return api.upload_file(path_or_fileobj=b"x\n%d\n" % number, path_in_repo="a.csv", **where, **how)

    first = write(1).oid
    api.create_tag(**where, tag="v1.0")
    api.create_branch(**where, branch="feat/x")
    write(2, revision="feat/x")
    write(3)
    write(4, create_pr=True)
    named = {first: 1, "v1.0": 1, "feat/x": 2, "main": 3, "refs/pr/1": 4, None: 3}
    for revision, number in named.items():
        assert cd.load_dataset("acme/old", split="train", revision=revision)["x"] == [number]
    for revision, number in {"v1.0": 1, "feat%2Fx": 2, "refs/pr/1": 4, "refs%2Fpr%2F1": 4}.items():
        assert cd.load_dataset(f"hf://datasets/acme/old@{revision}/a.csv", split="train")["x"] == [number]
    for revision in ["nosuch", first[:8], "../../../../../../out", "v1.0/.."]:
        with pytest.raises(DatasetNotFoundError, match="no revision"):
            cd.load_dataset("acme/old", revision=revision)


def test_a_repository_that_was_renamed_is_found_under_its_old_name(server, monkeypatch):
    answer = module.answer

    def moved(request):
        if "/gone/" not in request.path:
            return answer(request)
        asked = urlencode(request.query, doseq=True)
        return Response(None, 307, {"Location": f"{request.path.replace('/gone/', '/acme/')}?{asked}"})

    monkeypatch.setattr(module, "answer", moved)
    for streaming in (False, True):
        rows = cd.load_dataset("gone/plain", split="train", streaming=streaming)
        assert [row["a"] for row in rows] == [1, 2]


def test_a_card_that_is_no_yaml_says_where(server, tmp_path):
    (tmp_path / "hub" / "acme" / "plain" / "README.md").write_text("---\nconfigs: [1\n---\n")
    with pytest.raises(CardError, match=r"README\.md.*flow sequence"):
        cd.load_dataset("acme/plain")
    with pytest.raises(ArgumentError, match="empty"):
        cd.load_dataset("acme/numbers", data_files="")


def sent(server, monkeypatch):
    """The bytes of large files that leave the server."""
    numbers = []
    copy = module._copy

    def counted(file, to, length):
        numbers.append(length)
        return copy(file, to, length)

    monkeypatch.setattr(module, "_copy", counted)
    return numbers


@pytest.fixture
def wide(server, tmp_path):
    """A file of twenty columns and ten row groups."""
    import numpy as np

    columns = {f"c{number}": np.random.default_rng(number).random(200_000) for number in range(19)}
    table = pa.table({"key": np.arange(200_000), **columns})
    path = tmp_path / "hub" / "acme" / "wide" / "train.parquet"
    path.parent.mkdir()
    pq.write_table(table, path, row_group_size=20_000)
    return path.stat().st_size


def test_a_column_of_a_remote_file_costs_its_own_bytes(server, wide, monkeypatch):
    numbers = sent(server, monkeypatch)
    loaded = cd.load_dataset("acme/wide", split="train", columns=["c3"])
    assert loaded.column_names == ["c3"] and len(loaded) == 200_000
    assert sum(numbers) < wide / 10


def test_a_filter_of_a_remote_file_leaves_row_groups_where_they_are(server, wide, monkeypatch):
    numbers = sent(server, monkeypatch)
    loaded = cd.load_dataset("acme/wide", split="train", filters=[("key", "<", 5)])
    assert loaded["key"][:] == [0, 1, 2, 3, 4] and loaded.num_columns == 20
    assert sum(numbers) < wide / 5


def test_a_stream_reads_where_the_bytes_are(server, wide, monkeypatch, tmp_path):
    numbers = sent(server, monkeypatch)
    stream = cd.load_dataset("acme/wide", split="train", streaming=True)
    assert next(iter(stream.select_columns(["key"]))) == {"key": 0}
    assert sum(numbers) < wide / 2
    assert next(iter(stream.skip(199_999)))["key"] == 199_999
    assert [row["key"] for row in stream.take(3)] == [0, 1, 2]
    narrow = cd.load_dataset(
        "acme/wide", split="train", streaming=True, columns=["key"], filters=[("key", ">", 199_997)]
    )
    assert list(narrow) == [{"key": 199_998}, {"key": 199_999}]
    assert not list((tmp_path / "cache").rglob("*.parquet"))


@pytest.mark.parametrize("streaming", [False, True])
def test_every_format_is_read_from_elsewhere(server, tmp_path, streaming):
    folder = tmp_path / "hub" / "acme" / "formats"
    folder.mkdir()
    rows = cd.Dataset.from_dict({"n": list(range(50)), "s": [f"t {n}" for n in range(50)]})
    rows.to_csv(folder / "a.csv")
    rows.to_json(folder / "a.jsonl.gz")
    rows.to_parquet(folder / "a.parquet")
    rows.to_arrow(folder / "a.arrow")
    for name in ("a.csv", "a.jsonl.gz", "a.parquet", "a.arrow"):
        loaded = cd.load_dataset("acme/formats", data_files=name, split="train", streaming=streaming)
        assert list(loaded) == rows.to_list(), name
