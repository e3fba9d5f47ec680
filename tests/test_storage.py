"""`storage`: the same calls everywhere, and nothing half-written anywhere."""

from __future__ import annotations

import io
import random
import threading
import uuid
import zipfile
from functools import partial
from pathlib import Path

import fsspec
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
    DataFilesNotFoundError,
    DownloadError,
    UploadError,
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
        storage, "BlobFile", lambda path, mode, storage_options: seen.append(storage_options) or open(path, mode)
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


def test_who_may_not_write_to_the_hub_is_told_what_to_do(hub):
    with pytest.raises(AccessDeniedError, match="hf auth login") as caught:
        storage.write_jsonl("hf://datasets/acme/notes/a.jsonl", [{"a": 1}], storage_options={"token": "hf_wrong"})
    assert "hf_wrong" not in str(caught.value)
    assert storage.listdir("hf://datasets/acme/notes") == ["old.txt"]


def test_what_cannot_be_written_to_is_an_error_of_this_library(hub):
    with pytest.raises(UploadError, match=r"hf://buckets/acme/none/a\.jsonl"):
        storage.write_jsonl("hf://buckets/acme/none/a.jsonl", [{"a": 1}], storage_options=hub[1])
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
