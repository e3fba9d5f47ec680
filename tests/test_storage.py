"""`storage`: the same calls everywhere, and nothing half-written anywhere."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import logging
import os
import random
import threading
import time
import uuid
import wave
import zipfile
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

import fsspec
import numpy as np
import pytest
from support.faulty import faulty
from support.servers import store
from support.web import Quiet, served

import crucible_datasets as cd
from crucible_datasets import config, storage
from crucible_datasets.exceptions import (
    AccessDeniedError,
    ArgumentError,
    BadRecordError,
    ContentMismatchError,
    DataFilesNotFoundError,
    DownloadError,
    FileFormatError,
    InvalidRecordError,
    UploadError,
    without_secrets,
)
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.server import Handler, serving
from crucible_datasets.storage import BlobFile

pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")


@pytest.fixture(params=["local", "memory", "s3", "gs", "az"])
def root(request, tmp_path, monkeypatch):
    """A folder of its own anywhere; who may write there is known by the variables that each kind of client reads."""
    if request.param == "local":
        return str(tmp_path)
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}"
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    known = store(request.param)
    for name, value in known.environment.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class(request.param).clear_instance_cache()
    return f"{known.root}/{uuid.uuid4().hex}"


@pytest.mark.parametrize("streaming", [True, False])
def test_text_and_bytes_come_back(root, streaming):
    with BlobFile(f"{root}/a/text.txt", "w") as file:
        file.write("gr\u00fc\u00df\ngott\n")
    with BlobFile(f"{root}/a/text.txt", "r", streaming=streaming) as file:
        assert file.read() == "gr\u00fc\u00df\ngott\n"
    with BlobFile(f"{root}/a/text.txt", "rb", streaming=streaming) as file:
        assert file.read() == "gr\u00fc\u00df\ngott\n".encode()
    with BlobFile(f"{root}/a/text.txt") as file:
        assert list(file) == ["gr\u00fc\u00df\n", "gott\n"]


def test_more_can_be_added(root):
    for number in range(3):
        with BlobFile(f"{root}/log", "ab") as file:
            file.write(b"%d\n" % number)
    with BlobFile(f"{root}/log", "rb") as file:
        assert file.read() == b"0\n1\n2\n"


@pytest.mark.parametrize("mode", ["w", "wb", "a", "ab"])
def test_an_error_leaves_what_was_there(root, mode):
    with BlobFile(f"{root}/kept", "wb") as file:
        file.write(b"old")
    with pytest.raises(ZeroDivisionError), BlobFile(f"{root}/kept", mode) as file:
        file.write(b"new" if "b" in mode else "new")
        raise ZeroDivisionError
    with BlobFile(f"{root}/kept", "rb") as file:
        assert file.read() == b"old"
    assert storage.listdir(root) == ["kept"]


def test_long_files_are_all_there_or_not_at_all(root):
    content = random.Random(1).randbytes(12 << 20)
    with BlobFile(f"{root}/long", "wb") as file:
        for start in range(0, len(content), 1 << 20):
            file.write(content[start : start + (1 << 20)])
    # gcsfs asks the emulator for half a minute to give up a long upload, which that cannot do.
    other = content[::-1] if not root.startswith("gs:") else b"short"
    for mode in ("wb", "ab"):
        with pytest.raises(ZeroDivisionError), BlobFile(f"{root}/long", mode if other != b"short" else "wb") as file:
            file.write(other)
            raise ZeroDivisionError
        with BlobFile(f"{root}/long", "rb") as file:
            assert file.read() == content
    with BlobFile(f"{root}/long", "ab") as file:
        file.write(b"end")
    assert storage.stat(f"{root}/long").size == len(content) + 3


def text(path):
    with BlobFile(path) as file:
        return file.read()


def test_several_files_are_written_at_once(root):
    with BlobFile(f"{root}/a", "w") as one, BlobFile(f"{root}/b", "w") as two:
        one.write("one")
        two.write("two")
    with pytest.raises(ZeroDivisionError), BlobFile(f"{root}/a", "w") as one:
        with BlobFile(f"{root}/b", "w") as two:
            two.write("2")
        one.write("1")
        raise ZeroDivisionError
    threads = [threading.Thread(target=storage.write_jsonl, args=(f"{root}/{n}", [{"n": n}])) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [text(f"{root}/{name}") for name in "ab0123"] == [
        "one",
        "2",
        *(f'{{"n": {n}}}\n' for n in range(4)),
    ]


def test_files_are_found_copied_and_removed(root):
    for name in ("one.txt", "two.txt", "deep/three.txt"):
        with storage.open(f"{root}/{name}", "w") as file:
            file.write(name)
    assert storage.listdir(root) == ["deep", "one.txt", "two.txt"]
    assert [path.rpartition("/")[2] for path in storage.glob(f"{root}/*.txt")] == ["one.txt", "two.txt"]
    assert len(storage.glob(f"{root}/**/*.txt")) == 3
    assert storage.glob(f"{root}/*.csv") == []
    before = storage.stat(f"{root}/one.txt")
    assert before.size == len("one.txt")
    storage.copy(f"{root}/deep/three.txt", f"{root}/one.txt")
    assert storage.stat(f"{root}/one.txt").identity != before.identity
    with storage.open(f"{root}/one.txt") as file:
        assert file.read() == "deep/three.txt"
    storage.remove(f"{root}/one.txt")
    assert not storage.exists(f"{root}/one.txt")
    assert storage.exists(f"{root}/two.txt") and storage.exists(f"{root}/deep")


def test_what_is_not_there_or_is_a_folder_is_no_file(root):
    with storage.open(f"{root}/folder/is it? a%20file", "w") as file:
        file.write("x")
    for act in (BlobFile, partial(BlobFile, mode="rb"), storage.stat, storage.remove):
        with pytest.raises(DataFilesNotFoundError, match="does not exist"):
            act(f"{root}/nothing")
        with pytest.raises(DataFilesNotFoundError, match="it is a folder"):
            act(f"{root}/folder")
    assert storage.listdir(f"{root}/folder") == ["is it? a%20file"]
    with pytest.raises(DataFilesNotFoundError, match="does not exist"):
        storage.listdir(f"{root}/nothing")
    with pytest.raises(DataFilesNotFoundError, match="it is a file"):
        storage.listdir(f"{root}/folder/is it? a%20file")
    storage.remove(f"{root}/folder/is it? a%20file")
    assert not storage.exists(f"{root}/folder/is it? a%20file")


def test_a_folder_is_no_file_whatever_its_only_file_is_called(root):
    with storage.open(f"{root}/same/same", "w") as file:
        file.write("x")
    assert storage.listdir(f"{root}/same") == ["same"]
    for act in (BlobFile, storage.stat, storage.remove):
        with pytest.raises(DataFilesNotFoundError, match="it is a folder"):
            act(f"{root}/same")
    with pytest.raises(DataFilesNotFoundError, match="it is a file"):
        storage.listdir(f"{root}/same/same")
    assert text(f"{root}/same/same") == "x"


def test_members_of_archives_are_files_too(root, tmp_path):
    for content in (b"old", b"new"):
        with BlobFile(f"{root}/a.zip", "wb") as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr("deep/one.txt", content)
        place = f"zip://deep/one.txt::{root}/a.zip"
        for streaming in (True, False):
            with BlobFile(place, "rb", streaming=streaming) as file:
                assert file.read() == content
    assert storage.stat(place).size == 3
    assert storage.listdir(f"zip://deep::{root}/a.zip") == ["one.txt"]
    with pytest.raises(DataFilesNotFoundError, match="it is a folder"):
        BlobFile(f"zip://deep::{root}/a.zip")


def test_what_is_written_says_how_far_it_is(root):
    for mode, before in (("wb", 0), ("ab", 5)):
        with BlobFile(f"{root}/long", mode) as file:
            assert file.write(b"12345") == 5
            assert file.tell() == before + 5


def test_the_top_of_a_store_is_a_folder():
    storage.write_jsonl("memory://top-of-all/a.jsonl", [{}])
    assert "top-of-all" in storage.listdir("memory://")


def test_addresses_of_the_web_are_files_whatever_they_are_called(online):
    with faulty(b"content") as server:
        for place in ("", "/", "/a%20b.txt", "/a.txt?signature=a/b", "/a/?b#c"):
            address = server.url.removesuffix("/data") + place
            assert (text(address), storage.stat(address).size) == ("content", 7)
        with pytest.raises(UploadError, match=r"/data: this storage does not support the operation"):
            storage.write_jsonl(server.url, [{}])


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("folder", "nothing"):
        (tmp_path / "link").symlink_to(name)
        storage.remove(tmp_path / "link")
        assert storage.listdir(tmp_path) == ["folder"]
    with pytest.raises(DataFilesNotFoundError, match="it is a folder"):
        storage.remove(tmp_path / "folder")


def test_modes_that_do_not_exist_are_refused(root):
    with pytest.raises(ArgumentError, match="'rw'"):
        BlobFile(f"{root}/x", "rw")


def test_records_come_back(root):
    records = [{"a": 1, "b": "\u2028 \u00fc"}, {"a": None, "c": [1, {"d": 2}]}]
    assert storage.write_jsonl(f"{root}/r.jsonl", records) == 2
    assert storage.write_jsonl(f"{root}/r.jsonl", records[:1], append=True) == 1
    assert list(storage.read_jsonl(f"{root}/r.jsonl")) == [*records, records[0]]
    with storage.open(f"{root}/r.jsonl", "a") as file:
        file.write('{"a": 2}')  # a last line without an end
    storage.write_jsonl(f"{root}/r.jsonl", records, append=True)
    assert list(storage.read_jsonl(f"{root}/r.jsonl")) == [*records, records[0], {"a": 2}, *records]


def test_a_bad_record_is_named_skipped_or_collected(root):
    with storage.open(f"{root}/r.jsonl", "w") as file:
        file.write('{"a": 1}\n\n{"a": \n[1]\n{"a": 2}\n')
    with pytest.raises(BadRecordError, match="line 3") as caught:
        list(storage.read_jsonl(f"{root}/r.jsonl"))
    assert caught.value.file.endswith("r.jsonl")
    assert list(storage.read_jsonl(f"{root}/r.jsonl", on_error="skip")) == [{"a": 1}, {"a": 2}]
    errors = []
    assert list(storage.read_jsonl(f"{root}/r.jsonl", on_error="collect", errors=errors)) == [{"a": 1}, {"a": 2}]
    assert [(error.line, error.text) for error in errors] == [(3, '{"a": '), (4, "[1]")]


def test_a_generator_that_fails_leaves_the_old_records(root):
    storage.write_jsonl(f"{root}/r.jsonl", [{"a": 1}])

    def failing():
        yield {"a": 2}
        raise ZeroDivisionError

    for append in (True, False):
        with pytest.raises(ZeroDivisionError):
            storage.write_jsonl(f"{root}/r.jsonl", failing(), append=append)
        assert list(storage.read_jsonl(f"{root}/r.jsonl")) == [{"a": 1}]


def test_datasets_are_written_anywhere_and_come_back(root):
    rows = cd.Dataset.from_dict({"n": list(range(500)), "text": [f"row {n}" for n in range(500)]})
    rows.save_to_disk(f"{root}/saved", num_shards=2)
    assert cd.load_from_disk(f"{root}/saved").to_list() == rows.to_list()
    rows.to_parquet(f"{root}/export/train.parquet")
    rows.select(range(3)).to_json(f"{root}/export/test.jsonl")
    assert cd.load_dataset("parquet", data_files=f"{root}/export/*.parquet", split="train").to_list() == rows.to_list()
    loaded = cd.load_dataset("json", data_files={"test": f"{root}/export/test.jsonl"})
    assert loaded["test"].to_list() == rows.select(range(3)).to_list()
    cd.DatasetDict({"train": rows.select(range(5)), "test": rows}).save_to_disk(f"{root}/both")
    assert cd.load_from_disk(f"{root}/both")["train"].num_rows == 5


def test_a_folder_of_files_is_a_dataset(root):
    storage.write_jsonl(f"{root}/data/train.jsonl", [{"a": 1}, {"a": 2}])
    storage.write_jsonl(f"{root}/data/test.jsonl", [{"a": 3}])
    assert {split: rows["a"][:] for split, rows in cd.load_dataset(f"{root}/data").items()} == {
        "train": [1, 2],
        "test": [3],
    }
    storage.write_jsonl(f"{root}/data/test.jsonl", [{"a": 4}])
    assert cd.load_dataset(f"{root}/data", split="test")["a"][:] == [4]


def test_a_copy_between_stores_uses_the_credentials_of_each(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "crucible_datasets.storage.listing.BlobFile",
        lambda path, mode, streaming=None, *, storage_options: seen.append(storage_options) or open(path, mode),
    )
    (tmp_path / "a").write_bytes(b"1")
    for options in ({"storage_options": {"key": 1}}, {"storage_options": {"key": 1}, "target_options": {}}):
        storage.copy(tmp_path / "a", tmp_path / "b", **options)
    assert seen == [{"key": 1}, {"key": 1}, {"key": 1}, {}]


def test_options_say_who_one_is(monkeypatch):
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    known = store("s3")
    root, options = f"{known.root}/{uuid.uuid4().hex}", known.options
    rows = cd.Dataset.from_dict({"n": [1, 2, 3]})
    rows.save_to_disk(f"{root}/saved", storage_options=options)
    assert cd.load_from_disk(f"{root}/saved", storage_options=options).to_list() == rows.to_list()
    rows.to_parquet(f"{root}/x.parquet", storage_options=options)
    assert cd.load_dataset("parquet", data_files=f"{root}/x.parquet", split="train", storage_options=options)["n"][
        :
    ] == [1, 2, 3]
    assert storage.stat(f"{root}/x.parquet", options).size > 0
    for attempt in (
        lambda: storage.write_jsonl(f"{root}/no", [{}], storage_options=known.wrong),
        lambda: storage.remove(f"{root}/x.parquet", known.wrong),
        lambda: list(storage.read_jsonl(f"{root}/x.parquet", storage_options=known.wrong)),
    ):
        with pytest.raises(OSError) as caught:
            attempt()
        assert known.wrong["secret"] not in str(caught.value)
    assert storage.exists(f"{root}/x.parquet", options) and not storage.exists(f"{root}/no", options)


@pytest.fixture
def hub(online, tmp_path, monkeypatch):
    """A dataset and a bucket of the local Hub, and a token that may write."""
    (tmp_path / "hub" / "buckets" / "acme" / "stuff").mkdir(parents=True)
    with serving(str(tmp_path / "hub")) as server:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        server.hub.repo("acme/notes").create()
        options = {"token": next(iter(server.access.tokens))}
        with storage.open("hf://datasets/acme/notes/old.txt", "w", storage_options=options) as file:
            file.write("old")
        yield server, options


def test_files_of_the_hub_are_written_whole_each_by_a_commit(hub):
    server, options = hub
    root = "hf://datasets/acme/notes"
    assert storage.write_jsonl(f"{root}/a.jsonl", [{"a": 1}], storage_options=options) == 1
    assert storage.write_jsonl(f"{root}/a.jsonl", [{"a": 2}], append=True, storage_options=options) == 1
    assert list(storage.read_jsonl(f"{root}/a.jsonl")) == [{"a": 1}, {"a": 2}]
    with pytest.raises(ZeroDivisionError), BlobFile(f"{root}/a.jsonl", "w", storage_options=options) as file:
        file.write("half")
        raise ZeroDivisionError
    storage.remove(f"{root}/old.txt", storage_options=options)
    assert storage.listdir(root) == ["a.jsonl"]
    titles = [commit.title for commit in server.hub.repo("acme/notes").history("main")]
    assert titles[:3] == ["Remove old.txt", "Write a.jsonl", "Write a.jsonl"]
    storage.copy(f"{root}/a.jsonl", f"{root}/b.jsonl", storage_options=options)
    assert list(storage.read_jsonl(f"{root}/b.jsonl")) == [{"a": 1}, {"a": 2}]


def test_whoever_appends_to_a_file_of_the_hub_at_the_same_time_loses_nothing(hub):
    _, options = hub
    path = "hf://datasets/acme/notes/log.txt"
    with BlobFile(path, "a", storage_options=options) as one, BlobFile(path, "a", storage_options=options) as other:
        one.write("one\n")
        other.write("other\n")
    with BlobFile(path, "a", storage_options=options) as late:
        storage.remove("hf://datasets/acme/notes/old.txt", storage_options=options)  # a commit to another file
        storage.write_jsonl(path, [{"a": 1}], append=True, storage_options=options)
        late.write("late\n")
    assert BlobFile(path, storage_options=options).read() == 'other\none\n{"a": 1}\nlate\n'


@pytest.mark.parametrize("is_made", [True, False])
def test_what_is_appended_stands_there_once_also_when_the_answer_is_lost(hub, monkeypatch, is_made):
    _, options = hub
    path = "hf://datasets/acme/notes/log.txt"
    storage.write_jsonl(path, [{"a": 1}], storage_options=options)
    answer, lost = module.answer, []

    def without_answer(request):
        if "/commit/" in request.path and not lost:
            lost.append(request.path)
            if is_made:
                answer(request)
                storage.write_jsonl(path, [{"a": 3}], append=True, storage_options=options)
            raise HubError(504, "Gone", "nobody hears this")
        return answer(request)

    monkeypatch.setattr(module, "answer", without_answer)
    storage.write_jsonl(path, [{"a": 2}], append=True, storage_options=options)
    found = [record["a"] for record in storage.read_jsonl(path, storage_options=options)]
    assert found == ([1, 2, 3] if is_made else [1, 2])


def test_a_folder_of_the_hub_is_no_file_either(hub):
    (folder := Path(hub[0].hub.root, "buckets", "acme", "stuff", "same")).mkdir()
    (folder / "same").write_text("x")
    with storage.open("hf://datasets/acme/notes/same/same", "w", storage_options=hub[1]) as file:
        file.write("x")
    for place in ("hf://datasets/acme/notes", "hf://buckets/acme/stuff"):
        assert storage.listdir(f"{place}/same") == ["same"]
        for pattern, found in {"s*": ["/same"], "s*/": ["/same"], "*/s*": ["/same/same"], "*/*/": []}.items():
            matched = [path[path.index("/same") :] for path in storage.glob(f"{place}/{pattern}")]
            assert matched == found
        assert storage.glob(f"{place}/same") == [f"{place}/same"]
        with pytest.raises(DataFilesNotFoundError, match="it is a folder"):
            storage.stat(f"{place}/same")
        with pytest.raises(DataFilesNotFoundError, match="it is a file"):
            storage.listdir(f"{place}/same/same")


def test_what_was_removed_is_gone_also_when_the_answer_is_lost(hub, monkeypatch):
    options = hub[1]
    events = ["lost", "lost", "cut", "lost"]  # nobody is told; cut off, nothing is done either

    def stumble(handler):
        event = events.pop(0) if "/commit/" in handler.path and events else None
        if event is not None:
            handler.wfile, handler.close_connection = io.BytesIO(), True
        if event != "cut":
            handler.handle_request()

    monkeypatch.setattr(Handler, "do_POST", stumble)
    for _ in range(2):
        storage.remove("hf://datasets/acme/notes/old.txt", storage_options=options)
        assert not storage.exists("hf://datasets/acme/notes/old.txt")
        with storage.open("hf://datasets/acme/notes/old.txt", "w", storage_options=options) as file:
            file.write("new")
    assert events == []
    assert text("hf://datasets/acme/notes/old.txt") == "new"


def test_a_place_on_the_hub_that_is_not_there_says_how_to_make_it(hub):
    for place, call in (("datasets/acme/none", "create_repo"), ("buckets/acme/none", "create_bucket")):
        with pytest.raises(FileNotFoundError, match=rf"Create it first.*{call}"):
            storage.write_jsonl(f"hf://{place}/a.jsonl", [{"a": 1}], storage_options=hub[1])


def test_the_identity_of_a_file_of_the_hub_is_that_of_its_content(hub):
    address, known = "hf://datasets/acme/notes/same.txt", set()
    for text in ("one", "two", "one"):
        with BlobFile(address, "w", storage_options=hub[1]) as file:
            file.write(text)
        known.add(storage.stat(address, hub[1]).identity)
    assert len(known) == 2


def test_who_may_not_write_to_the_hub_is_told_what_to_do(hub):
    with pytest.raises(AccessDeniedError, match="hf auth login") as caught:
        storage.write_jsonl("hf://datasets/acme/notes/a.jsonl", [{"a": 1}], storage_options={"token": "hf_wrong"})
    assert "hf_wrong" not in str(caught.value)
    assert storage.listdir("hf://datasets/acme/notes") == ["old.txt"]


def test_what_cannot_be_removed_is_an_error_of_this_library(hub):
    with pytest.raises(DataFilesNotFoundError, match=r"hf://buckets/acme/stuff/a\.txt"):
        storage.remove("hf://buckets/acme/stuff/a.txt", storage_options=hub[1])


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", b"nonsense\r\n\r\n"])
def test_a_server_that_is_no_hub_is_an_error_of_this_library_for_saved_datasets_too(online, monkeypatch, answer):
    class Odd(Quiet):
        def do_GET(self):
            self.wfile.write(answer)
            self.close_connection = True

    with served(Odd) as address:
        monkeypatch.setattr(config, "HF_ENDPOINT", address)
        place, options = f"hf://datasets/acme/{uuid.uuid4().hex}/folder", {"endpoint": address}
        with pytest.raises(DownloadError, match=place):
            cd.Dataset.from_dict({"a": [1]}).save_to_disk(place, storage_options=options)
        with pytest.raises(DownloadError, match=place):
            cd.load_from_disk(place, storage_options=options)


SECRET_ADDRESSES = {
    "http://host/a?sig=s3cret": "http://host/a",
    "https://s3cret@host/a": "https://host/a",
    "HTTPS://me:s3@cret@host/a?b": "HTTPS://host/a",
    "zip://in/a.txt::https://host/a.zip?sig=s3cret::x": "zip://in/a.txt::https://host/a.zip",
    "simplecache::http://me:s3cret@host/a": "simplecache::http://host/a",
    "ftp://me:s3@cret@host/a@b": "ftp://host/a@b",
    "abfs://container@account.dfs.core.windows.net/a?b": "abfs://container@account.dfs.core.windows.net/a?b",
    "hf://datasets/acme/data@main/a:b@c": "hf://datasets/acme/data@main/a:b@c",
    "s3://bucket/is it?": "s3://bucket/is it?",
}


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
def test_no_address_is_shown_with_its_secret(address):
    assert without_secrets(address) == SECRET_ADDRESSES[address]


def test_a_name_in_an_address_is_sent_as_a_password_and_not_shown(online, caplog):
    caplog.set_level(logging.DEBUG)
    with faulty(b'{"a": 1}\n{"a"\n') as server:
        for user in ("me:w%40rd", "t0ken"):
            address = server.url.replace("//", f"//{user}@") + "?sig=s1gnature"
            with pytest.raises(BadRecordError) as caught:
                list(storage.read_jsonl(address))
            errors = []
            list(storage.read_jsonl(address, "collect", errors))
            told = repr((caught.value, vars(caught.value), errors, BlobFile(address, "rb"), BlobFile(address)))
            assert not any(secret in told + caplog.text for secret in (user, "s1gnature"))
        sent = {base64.b64decode(seen["Authorization"].removeprefix("Basic ")) for seen in server.seen}
        assert sent == {b"me:w@rd", b"t0ken:"}


def test_patterns_find_folders_too(root):
    for name in ("top.txt", "a/one.txt", "a/deep/two.txt", "b/one.txt"):
        storage.write_jsonl(f"{root}/{name}", [{}])

    def found(pattern):
        return [path.removeprefix(f"{root}/") for path in storage.glob(f"{root}/{pattern}")]

    assert found("*") == ["a", "b", "top.txt"]
    assert found("*/") == ["a", "b"]
    assert found("a") == found("a/") == ["a"]
    assert found("a/**") == ["a/deep", "a/deep/two.txt", "a/one.txt"]
    assert found("?/one.txt") == ["a/one.txt", "b/one.txt"]
    assert found("none") == found("none/*") == []


@pytest.mark.parametrize("kind", ["s3", "gs"])
def test_a_file_can_have_the_name_of_a_folder_in_an_object_store(kind, monkeypatch):
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    known = store(kind)
    root, options = f"{known.root}/{uuid.uuid4().hex}", known.options
    for name in ("a", "a/b", "odd*name"):
        storage.write_jsonl(f"{root}/{name}", [{"name": name}], storage_options=options)
    for name in ("a", "a/b", "odd*name"):
        for streaming in (True, False):
            with BlobFile(f"{root}/{name}", streaming=streaming, storage_options=options) as file:
                assert file.read() == f'{{"name": "{name}"}}\n'
    assert storage.listdir(f"{root}/a", options) == ["b"]


def test_only_the_folder_itself_is_listed(online):
    asked = []

    class Store(Quiet):
        def do_GET(self):
            asked.append(self.path)
            folders = "".join(f"<CommonPrefixes><Prefix>{name}/</Prefix></CommonPrefixes>" for name in "ab")
            self.answer(f"<ListBucketResult><IsTruncated>false</IsTruncated>{folders}</ListBucketResult>".encode())

        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(Store) as address:
        options = {"key": "me", "secret": "s3cret", "endpoint_url": address}
        assert storage.listdir("s3://bucket", options) == ["a", "b"]
        assert storage.glob("s3://bucket/*", options) == ["s3://bucket/a", "s3://bucket/b"]
    assert asked and all("delimiter=%2F" in path for path in asked)


def test_files_are_what_other_programs_expect(root):
    """As of code for blobfile: whatever it passes, and whatever it does with the file."""
    path = f"{root}/a.bin"
    with BlobFile(path, "wb", False, 4096, partial_writes_on_exc=True) as file:
        file.write(b"abcdef")
        assert file.seek(1) == 1
        file.write(b"X")
        assert (file.seek(0, io.SEEK_END), file.truncate(4), file.seekable(), file.mode) == (6, 4, True, "wb")
        file.flush()
    with BlobFile(path, "r", streaming=None, buffer_size=1, cache_dir="x", file_size=4) as file:
        assert (file.read(2), file.tell(), file.read()) == ("aX", 2, "cd")
    with BlobFile(path, "a") as file:
        assert (file.tell(), file.write("\u00fc"), file.tell()) == (4, 1, 6)
        assert not file.seekable()
    with BlobFile(path, "wb", streaming=True) as file:
        assert file.write(b"new") == 3
    with wave.open(BlobFile(f"{root}/a.wav", "wb"), "wb") as sound:  # its length is written last, at the start
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(b"\0" * 8000)
        sound._file.close()
    assert storage.stat(f"{root}/a.wav").size == 8044


def test_a_part_is_kept_only_if_that_is_wanted(root):
    for mode, whole in (("w", "new"), ("a", "newnew")):
        with pytest.raises(ZeroDivisionError), BlobFile(f"{root}/a", mode, partial_writes_on_exc=True) as file:
            file.write("new")
            raise ZeroDivisionError
        assert text(f"{root}/a") == whole


def test_a_version_is_that_of_the_content(root):
    with BlobFile(f"{root}/a", "w") as file:
        file.write("one")
    known = storage.stat(f"{root}/a")
    assert abs(known.mtime - time.time()) < 60
    with BlobFile(f"{root}/a", version=known.version) as file:
        assert file.read() == "one"
    with BlobFile(f"{root}/a", "w") as file:
        file.write("two!")
    with pytest.raises(ContentMismatchError, match=r"/a is not"):
        BlobFile(f"{root}/a", version=known.version)
    with pytest.raises(ArgumentError, match="only of a file that is read"):
        BlobFile(f"{root}/a", "w", version=known.version)


def test_the_errors_are_those_of_open_too(root):
    storage.write_jsonl(f"{root}/folder/file", [{}])
    for act in (BlobFile, storage.stat, storage.remove):
        with pytest.raises(IsADirectoryError, match="it is a folder"):
            act(f"{root}/folder")
    with pytest.raises(NotADirectoryError, match="it is a file"):
        storage.listdir(f"{root}/folder/file")
    for mode in ("r", "w", "ab"):
        with pytest.raises(IsADirectoryError, match="it is a folder"):
            BlobFile(f"{root}/folder/file/", mode)


def test_a_copy_replaces_only_what_it_may(root):
    storage.write_jsonl(f"{root}/a", [{"a": 1}])
    digest = storage.copy(f"{root}/a", f"{root}/b", overwrite=False, parallel=True, return_md5=True)
    assert digest == hashlib.md5(b'{"a": 1}\n').hexdigest()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        storage.copy(f"{root}/a", f"{root}/b", overwrite=False)
    assert storage.copy(f"{root}/a", f"{root}/b") is None


def test_two_colons_can_be_in_a_name(tmp_path):
    path = str(tmp_path / "module::test.jsonl")
    storage.write_jsonl(path, [{"a": 1}])
    assert list(storage.read_jsonl(path)) == [{"a": 1}]
    assert storage.stat(path).size == 9


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "lz4"])
def test_records_are_compressed_as_the_name_says(root, kind):
    path, records = f"{root}/r.jsonl.{kind}", [{"a": n, "text": "long " * 100} for n in range(2000)]
    storage.write_jsonl(path, records[:1500])
    storage.write_jsonl(path, records[1500:], append=True)
    assert storage.stat(path).size < 100_000
    assert list(storage.read_jsonl(path)) == records
    assert cd.load_dataset("json", data_files=path, split="train").to_list() == records


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_compressed_records_that_break_off_are_never_taken_for_all(tmp_path, on_error):
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 10_000)[:-30])
    with pytest.raises(FileFormatError, match="breaks off"):
        list(storage.read_jsonl(tmp_path / "r.jsonl.gz", on_error))


def test_arrays_and_times_are_written_as_json(tmp_path):
    record = {
        "number": np.int64(1),
        "real": np.float32(0.5),
        "yes": np.bool_(True),
        "rows": np.arange(4).reshape(2, 2),
        "when": datetime(2026, 1, 2, 3, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "map": MappingProxyType({"a": 1}),
        "half": "\ud83d",
    }
    storage.write_jsonl(tmp_path / "a.jsonl", [MappingProxyType(record)])
    assert list(storage.read_jsonl(tmp_path / "a.jsonl")) == [
        {
            "number": 1,
            "real": 0.5,
            "yes": True,
            "rows": [[0, 1], [2, 3]],
            "when": "2026-01-02T03:00:00+00:00",
            "day": "2026-01-02",
            "map": {"a": 1},
            "half": "\ud83d",
        }
    ]


@pytest.mark.parametrize("bad", [[1], "text", None, {"a": {1}}, {"a": b"1"}, {(1, 2): 3}])
def test_what_is_no_record_is_named_and_nothing_is_written(tmp_path, bad):
    with pytest.raises(InvalidRecordError, match=r"Record 2 for .*a\.jsonl"):
        storage.write_jsonl(tmp_path / "a.jsonl", [{"a": 1}, bad])
    assert storage.listdir(tmp_path) == []


def test_arguments_are_checked_at_the_call(tmp_path):
    with pytest.raises(ArgumentError, match="on_error"):
        storage.read_jsonl(tmp_path / "a", "ignore")


def test_the_end_of_a_line_is_no_part_of_a_bad_record(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n{"a"\r\n')
    errors = []
    assert list(storage.read_jsonl(tmp_path / "a.jsonl", "collect", errors)) == [{"a": 1}]
    assert [error.text for error in errors] == ['{"a"']


def test_a_bucket_that_is_missing_is_not_made(online):
    asked = []

    class Store(Quiet):
        def do_GET(self):
            asked.append((self.command, self.path))
            body = b"<Error><Code>NoSuchBucket</Code></Error>"
            self.send_response(404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_HEAD = do_PUT = do_POST = do_GET

    with served(Store) as address:
        options = {"key": "me", "secret": "s3cret", "endpoint_url": address}
        with pytest.raises(FileNotFoundError, match="bucket or folder to write to does not exist"):
            storage.write_jsonl("s3://bucket/a.jsonl", [{}], storage_options=options)
    assert asked and all(path.startswith("/bucket/a.jsonl") for _, path in asked)


def test_whom_google_forbids_is_denied_access(online):
    class Forbidding(Quiet):
        def do_GET(self):
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

    with served(Forbidding) as address:
        options = {"token": "anon", "endpoint_url": address}
        for act in (BlobFile, partial(BlobFile, mode="w")):
            with pytest.raises(PermissionError, match="GOOGLE_APPLICATION_CREDENTIALS"):
                act("gs://bucket/a", storage_options=options).close()


WITHOUT_KEYS = {"s3://bucket/a": "AWS_PROFILE", "az://container/a": "AZURE_STORAGE_CONNECTION_STRING"}


@pytest.mark.parametrize("address", WITHOUT_KEYS)
def test_whoever_has_no_keys_is_told_how_to_state_them(address, online, monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    fsspec.get_filesystem_class(address.partition(":")[0]).clear_instance_cache()
    for act in (BlobFile, storage.exists, partial(storage.write_jsonl, records=[{}])):
        with pytest.raises(PermissionError, match=WITHOUT_KEYS[address]):
            act(address)


def test_files_of_a_format_are_read_with_options_too(monkeypatch):
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    known = store("s3")
    rows, root = cd.Dataset.from_dict({"n": [1, 2]}), f"{known.root}/{uuid.uuid4().hex}"
    rows.to_json(f"{root}/a.jsonl", storage_options=known.options)
    rows.to_csv(f"{root}/a.csv", storage_options=known.options)
    rows.to_parquet(f"{root}/a.parquet", storage_options=known.options)
    for make in (cd.Dataset, cd.DatasetDict):
        for kind in ("json:a.jsonl", "csv:a.csv", "parquet:a.parquet"):
            name, _, file = kind.partition(":")
            paths = f"{root}/{file}" if make is cd.Dataset else {"train": f"{root}/{file}"}
            found = getattr(make, f"from_{name}")(paths, storage_options=known.options)
            assert (found if make is cd.Dataset else found["train"])["n"][:] == [1, 2]
