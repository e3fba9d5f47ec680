"""Without the network, what an address gave before loads by the same call, and what is missing is named."""

from __future__ import annotations

import json
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.servers import store
from support.web import folder_served

import crucible_datasets as cd
from crucible_datasets import config, storage
from crucible_datasets.exceptions import OfflineError
from crucible_datasets.sources import listings
from crucible_datasets.sources.base import SourceFile
from crucible_datasets.sources.web import Web

ROWS = [{"a": 1}, {"a": 2}]


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(config, "DOWNLOADED_DATASETS_PATH", tmp_path / "downloads")


@pytest.fixture(params=["http", "s3"])
def place(request, tmp_path):
    """A folder with two files elsewhere, what must be said to get in, and an end to it."""
    if request.param == "s3":
        known = store("s3")
        root = f"{known.root}/{uuid.uuid4().hex}"
        for name in ("train.jsonl", "test.jsonl"):
            storage.write_jsonl(f"{root}/{name}", ROWS, storage_options=known.options)
        yield root, known.options
        return
    for name in ("train.jsonl", "test.jsonl"):
        storage.write_jsonl(tmp_path / "served" / name, ROWS)
    with folder_served(tmp_path / "served") as address:
        yield address, {}


CONNECTED: list[str] = []
sys.addaudithook(lambda event, facts: CONNECTED.append(event) if event == "socket.connect" else None)


@pytest.mark.parametrize("streaming", [False, True])
def test_what_came_before_loads_by_the_same_call_without_a_socket(place, streaming, monkeypatch):
    root, options = place
    files = {split: f"{root}/{split}.jsonl" for split in ("train", "test")}

    def load(**more):
        return cd.load_dataset("json", storage_options=options, **more)

    assert list(load(data_files=files)["train"]) == ROWS
    CONNECTED.clear()
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert list(load(data_files=files, streaming=streaming)["train"]) == ROWS
    with pytest.raises(OfflineError, match=r"other\.jsonl"):
        load(data_files=f"{root}/other.jsonl", streaming=streaming)
    assert CONNECTED == []


def test_what_was_listed_and_did_not_come_is_named(monkeypatch):
    known = store("s3")
    root = f"{known.root}/{uuid.uuid4().hex}"
    for name in ("train.jsonl", "test.jsonl"):
        storage.write_jsonl(f"{root}/{name}", ROWS, storage_options=known.options)
    assert cd.load_dataset(root, split="train", storage_options=known.options).to_list() == ROWS
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert cd.load_dataset(root, split="train", storage_options=known.options).to_list() == ROWS
    with pytest.raises(OfflineError, match=r"test\.jsonl"):
        cd.load_dataset(root, split="test", storage_options=known.options)


def test_what_is_on_this_machine_needs_no_network(monkeypatch):
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    address = f"memory://{uuid.uuid4().hex}/train.jsonl"
    storage.write_jsonl(address, ROWS)
    assert cd.load_dataset("json", data_files=address, split="train").to_list() == ROWS
    assert list(cd.load_dataset("json", data_files=address, split="train", streaming=True)) == ROWS


def test_nobody_is_asked_by_any_way(monkeypatch):
    """Whoever forgets to look at the setting meets it at the last door before the network."""
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    CONNECTED.clear()
    for ask in (Web().head, Web().page, lambda url: list(Web().body(url))):
        with pytest.raises(OfflineError, match="127"):
            ask("http://127.0.0.1:9/x")
    assert CONNECTED == []


def test_builders_find_what_came_before(place, monkeypatch):
    root, options = place
    config_ = cd.DownloadConfig(storage_options=options)
    path = cd.DownloadManager(download_config=config_).download(f"{root}/train.jsonl")
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert cd.DownloadManager(download_config=config_).download(f"{root}/train.jsonl") == path
    with pytest.raises(OfflineError, match=r"other\.jsonl"):
        cd.DownloadManager(download_config=config_).download(f"{root}/other.jsonl")


pieces = st.text("ab/:", max_size=6)


@given(asked=pieces, names=st.lists(pieces, min_size=1, max_size=3))
def test_a_listing_comes_back_and_keeps_no_secret(asked, names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    url = f"sftp://me:hunter2@host/{asked}"
    files = [
        SourceFile(f"sftp://me:hunter2@host/{name}", name, 3, (f"sftp://me:hunter2@host/{name}", 7)) for name in names
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "DOWNLOADED_DATASETS_PATH", folder)
        listings._keep(url, {"token": "hunter2"}, files)
        assert listings._kept(url, {"token": "other"}) == files
        assert [file.url for file in listings._kept(url, {})] == [file.url for file in files]
        assert listings._kept(url, {"endpoint_url": "http://host:1"}) is None
    (note,) = (folder / "listings").iterdir()
    assert "hunter2" not in note.read_text() and json.loads(note.read_text())
