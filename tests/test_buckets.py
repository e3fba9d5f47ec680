"""Buckets of the Hub, over real HTTP against the local one, which huggingface_hub and `datasets` read too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi, HfFileSystem

import crucible_datasets as cd
from crucible_datasets import config, storage
from crucible_datasets.exceptions import (
    AccessDeniedError,
    ArgumentError,
    ContentMismatchError,
    DatasetNotFoundError,
    OfflineError,
)
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.server import serving
from crucible_datasets.sources.base import source_of

CARD = """---
configs:
- config_name: main
  default: true
  data_files:
  - split: train
    path: data/train-*.parquet
- config_name: other
  data_files: other/*.csv
---
"""


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "hub" / "buckets" / "acme" / "stuff"
    (found / "data").mkdir(parents=True)
    for number in range(3):
        table = pa.table({"n": range(number * 100, number * 100 + 100), "text": ["some text"] * 100})
        pq.write_table(table, found / "data" / f"train-{number}.parquet")
    (found / "other").mkdir()
    (found / "other" / "a.csv").write_text("x\n1\n")
    (found / "README.md").write_text(CARD)
    return found


@pytest.fixture
def server(folder, online, tmp_path, monkeypatch):
    with serving(str(tmp_path / "hub")) as server:
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield server


@pytest.mark.parametrize("name", ["buckets/acme/stuff", "hf://buckets/acme/stuff"])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_bucket_loads_by_its_name(server, name, streaming):
    rows = cd.load_dataset(name, split="train", streaming=streaming)
    assert [row["n"] for row in rows] == list(range(300))
    assert [row["x"] for row in cd.load_dataset(name, "other", split="train", streaming=streaming)] == [1]
    assert cd.get_dataset_config_names(name) == ["main", "other"]


def test_folders_and_files_of_a_bucket_load(server):
    assert len(cd.load_dataset("buckets/acme/stuff/data", split="train")) == 300
    assert len(cd.load_dataset("hf://buckets/acme/stuff/data/train-1.parquet", split="train")) == 100
    chosen = cd.load_dataset("parquet", data_files="hf://buckets/acme/stuff/data/*-[02].parquet", split="train")
    assert len(chosen) == 200
    assert len(cd.load_dataset("buckets/acme/stuff", data_files="data/train-2.parquet", split="train")) == 100


def test_only_what_is_asked_for_comes_and_only_once(server, requests):
    cd.load_dataset("buckets/acme/stuff", "other", split="train")
    assert [path for path in requests if "/resolve/" in path] == [
        f"/buckets/acme/stuff/resolve/{name}" for name in ("README.md", "other/a.csv")
    ]
    requests.clear()
    cd.load_dataset("buckets/acme/stuff", "other", split="train")
    assert requests == ["/api/buckets/acme/stuff/tree"]


def test_a_file_that_was_written_to_is_another(server, folder):
    assert cd.load_dataset("buckets/acme/stuff", "other", split="train")["x"][:] == [1]
    (folder / "other" / "a.csv").write_text("x\n2\n")
    assert cd.load_dataset("buckets/acme/stuff", "other", split="train")["x"][:] == [2]


def test_offline_what_came_before_is_there_and_the_rest_is_named(server, requests, monkeypatch):
    cd.load_dataset("buckets/acme/stuff", "other", split="train")
    requests.clear()
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert cd.load_dataset("buckets/acme/stuff", "other", split="train")["x"][:] == [1]
    with pytest.raises(OfflineError, match=r"train-0\.parquet"):
        cd.load_dataset("buckets/acme/stuff", split="train")
    with pytest.raises(OfflineError, match="acme/unseen"):
        cd.load_dataset("buckets/acme/unseen")
    assert requests == []


@pytest.mark.parametrize("streaming", [True, False])
def test_bytes_that_were_written_after_the_listing_are_refused(server, folder, streaming):
    source = source_of("hf://buckets/acme/stuff")
    (file,) = source.listed("hf://buckets/acme/stuff/other/a.csv", {})
    (folder / "other" / "a.csv").write_text("x\n2\n")
    with pytest.raises(ContentMismatchError, match=r"other/a\.csv"):
        source.opened(file, {}).read() if streaming else source.fetched([file], {})


def test_wrong_bytes_are_refused_though_the_server_calls_them_right(server, folder, monkeypatch):
    answer = module.answer

    def swapped(request):
        given = answer(request)
        if request.path.endswith("train-1.parquet"):
            body = bytearray(Path(folder, "data", "train-1.parquet").read_bytes())
            body[100] ^= 1
            wrong = folder.parent.parent / "wrong"
            wrong.write_bytes(body)
            given.file.close()
            object.__setattr__(given, "file", wrong.open("rb"))
        return given

    monkeypatch.setattr(module, "answer", swapped)
    with pytest.raises(ContentMismatchError, match=r"train-1\.parquet.*xet hash"):
        cd.load_dataset("buckets/acme/stuff", split="train")


def test_names_that_do_not_exist_say_so(server):
    with pytest.raises(DatasetNotFoundError, match="buckets/acme/nothing.*does not exist"):
        cd.load_dataset("buckets/acme/nothing")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        cd.load_dataset("buckets/acme/stuff/nowhere")
    with pytest.raises(ArgumentError, match="no revisions"):
        cd.load_dataset("buckets/acme/stuff", revision="main")
    with pytest.raises(ArgumentError, match="no revisions"):
        storage.exists("hf://buckets/acme/stuff@main/README.md")


def test_storage_reads_buckets(server):
    root = "hf://buckets/acme/stuff"
    assert storage.listdir(root) == ["README.md", "data", "other"]
    assert storage.glob(f"{root}/**/*.csv") == [f"{root}/other/a.csv"]
    assert storage.exists(f"{root}/other/a.csv") and not storage.exists(f"{root}/other/b.csv")
    assert storage.stat(f"{root}/other/a.csv").size == 4
    for streaming in (True, False):
        with storage.open(f"{root}/other/a.csv", streaming=streaming) as file:
            assert file.read() == "x\n1\n"


def test_huggingface_hub_reads_the_same(server, folder):
    api, system = HfApi(endpoint=server.endpoint, token=False), HfFileSystem(endpoint=server.endpoint, token=False)
    files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    listed = [one for one in api.list_bucket_tree("acme/stuff", recursive=True) if one.type == "file"]
    assert {one.path: one.size for one in listed} == files
    assert {one.path for one in api.list_bucket_tree("acme/stuff")} == {"README.md", "data", "other"}
    assert [one.path for one in api.get_bucket_paths_info("acme/stuff", ["README.md", "data"])] == ["README.md"]
    assert api.bucket_info("acme/stuff").total_files == len(files)
    ours = source_of("hf://buckets/acme/stuff").listed("hf://buckets/acme/stuff", {})
    assert {(one.path, one.xet_hash) for one in listed} == {(one.path, one.identity[0]) for one in ours}
    assert (
        system.cat_file("buckets/acme/stuff/data/train-1.parquet", start=5, end=50)
        == ((folder / "data" / "train-1.parquet").read_bytes()[5:50])
    )


@pytest.mark.slow
def test_hugging_face_datasets_reads_the_same(server, tmp_path):
    program = "import datasets; print(sum(datasets.load_dataset('buckets/acme/stuff', split='train')['n']))"
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    surroundings = {**known, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": server.endpoint}
    surroundings["HF_HUB_DISABLE_XET"] = "1"
    ran = subprocess.run([sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, timeout=120)
    assert ran.stdout == f"{sum(range(300))}\n", ran.stderr


def test_what_is_written_to_a_bucket_is_read_by_everybody_and_can_be_removed(server, folder, monkeypatch):
    token = next(iter(server.access.tokens))
    options, api = {"token": token}, HfApi(endpoint=server.endpoint, token=token)
    rows = [{"n": number, "text": f"zeile {number} ü"} for number in range(5)]
    storage.write_jsonl("hf://buckets/acme/stuff/new/a b#c.jsonl", rows, storage_options=options)
    assert list(storage.read_jsonl("hf://buckets/acme/stuff/new/a b#c.jsonl")) == rows
    assert list(cd.load_dataset("buckets/acme/stuff/new", split="train")) == rows
    assert "new/a b#c.jsonl" in {file.path for file in api.list_bucket_tree("acme/stuff", recursive=True)}
    storage.remove("hf://buckets/acme/stuff/new/a b#c.jsonl", storage_options=options)
    assert not storage.exists("hf://buckets/acme/stuff/new/a b#c.jsonl")
    api.create_bucket("acme/fresh")
    storage.copy(str(folder / "other" / "a.csv"), "hf://buckets/acme/fresh/a.csv", storage_options=options)
    assert cd.load_dataset("buckets/acme/fresh", split="train")["x"] == [1]
    with pytest.raises(AccessDeniedError, match=r"HF_TOKEN|token"):
        storage.write_jsonl("hf://buckets/acme/stuff/no.jsonl", rows, storage_options={"token": False})
    assert not (folder / "no.jsonl").exists()


def test_datasets_are_pushed_to_a_bucket(server, folder, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
    rows = cd.Dataset.from_dict({"n": [1, 2, 3]})
    pushed = folder.parent / "pushed"
    assert rows.push_to_hub("buckets/acme/pushed", num_shards=2) is None
    rows.push_to_hub("buckets/acme/pushed", split="test")
    rows.select([2]).to_iterable_dataset().push_to_hub("buckets/acme/pushed")
    assert sorted(path.name for path in (pushed / "data").iterdir()) == [
        "test-00000-of-00001.parquet",
        "train-00000-of-00001.parquet",
    ]
    assert {name: split["n"][:] for name, split in cd.load_dataset("buckets/acme/pushed").items()} == {
        "train": [3],
        "test": [1, 2, 3],
    }
    cd.DatasetDict({"dev": rows}).push_to_hub("buckets/acme/pushed/in/side", "more", private=True)
    cd.DatasetDict({"train": rows}).push_to_hub("buckets/acme/pushed/in/side", "more")
    assert [path.name for path in (pushed / "in" / "side" / "more").iterdir()] == ["train-00000-of-00001.parquet"]
    assert cd.load_dataset("buckets/acme/pushed/in/side", "more", split="train")["n"][:] == [1, 2, 3]


@pytest.mark.parametrize("wrong", [{"append": True}, {"revision": "v1"}, {"create_pr": True}, {"repo_id": "buckets/a"}])
def test_what_needs_history_is_no_push_to_a_bucket(server, wrong):
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        cd.Dataset.from_dict({"n": [1]}).push_to_hub(**{"repo_id": "buckets/acme/none", **wrong})


WRITER = """
import sys
from crucible_datasets import storage
for number in range(3):
    storage.write_jsonl(f"hf://buckets/acme/stuff/{sys.argv[1]}/{number}.jsonl", [{"n": number}])
"""


def test_several_programs_write_to_a_bucket_at_once(server, folder, tmp_path):
    """Each keeps its store locked while it runs, so the server cannot open it, nor can the other."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    token, writers = next(iter(server.access.tokens)), []
    for name in ("a", "b"):
        own = {"HF_HOME": str(tmp_path / name), "HF_ENDPOINT": server.endpoint, "HF_TOKEN": token}
        writers.append(subprocess.Popen([sys.executable, "-c", WRITER, name], env={**known, **own}))
    assert [writer.wait(120) for writer in writers] == [0, 0]
    for name in ("a", "b"):
        assert [(folder / name / f"{n}.jsonl").read_text() for n in range(3)] == [f'{{"n": {n}}}\n' for n in range(3)]


def test_a_private_bucket_is_there_for_users_with_a_token_only(server, folder):
    token = next(iter(server.access.tokens))
    api = HfApi(endpoint=server.endpoint, token=token)
    api.create_bucket("acme/own", private=True)
    (folder.parent / "own" / "a.csv").write_text("x\n1\n")
    assert api.bucket_info("acme/own").private and not api.bucket_info("acme/stuff").private
    assert cd.load_dataset("buckets/acme/own", split="train", token=token)["x"] == [1]
    for name in ("own", "none"):  # and nobody else learns that it is
        with pytest.raises(DatasetNotFoundError, match=r"does not exist.*or it is private"):
            cd.load_dataset(f"buckets/acme/{name}", split="train", token=False)


@pytest.mark.parametrize("path", ["../../out.txt", "/out.txt", "a/../../../out.txt", "no\0pe"])
def test_a_bucket_takes_nothing_that_leads_out_of_it_or_never_came(server, folder, tmp_path, path):
    token = next(iter(server.access.tokens))
    for path, hash in [(path, "0" * 64), ("fine.txt", "1" * 64)]:
        steps = json.dumps({"type": "addFile", "path": path, "xetHash": hash}).encode()
        asked = urllib.request.Request(f"{server.endpoint}/api/buckets/acme/stuff/batch", steps)
        asked.add_header("Authorization", f"Bearer {token}")
        with pytest.raises(urllib.error.HTTPError) as refused, urllib.request.urlopen(asked):
            pass
        refused.value.close()
        assert refused.value.code == 400
    assert not list(tmp_path.rglob("*out.txt"))
    assert not (folder / "fine.txt").exists()
