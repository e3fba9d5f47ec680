"""Samples of tar shards: what files become, in which order samples come, and what is refused."""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import random
import tarfile
import threading
import tracemalloc
import zipfile
import zlib

import cbor2
import msgpack
import numpy as np
import pytest
import webdataset
from support.packed import COMPRESSIONS, compressed, tar_of
from support.web import folder_served

from crucible_datasets import load_dataset
from crucible_datasets.exceptions import DataFilesNotFoundError, DatasetsError, FileFormatError, LimitExceededError
from crucible_datasets.formats.webdataset import MediaFile, parse, parse_shards, stream, stream_shards
from crucible_datasets.formats.webdataset.decoders import gunzipped

_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6360000000020001e221bc33"
    "0000000049454e44ae426082"
)


def samples_of(members, **options):
    found = parse(io.BytesIO(tar_of(members)), **options)
    return [{name: value for name, value in sample.items() if not name.startswith("__")} for sample in found]


def npy(array, **how) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array, **how)
    return sink.getvalue()


def npz(**arrays) -> bytes:
    sink = io.BytesIO()
    np.savez_compressed(sink, **arrays)
    return sink.getvalue()


@pytest.fixture
def shards(tmp_path):
    """Five archives of 3, 4, 5, 6 and 7 samples."""
    count = 0
    for number in range(5):
        members = []
        for _ in range(3 + number):
            members += [(f"{count:04}.json", json.dumps({"n": count}).encode()), (f"{count:04}.txt", b" %d\n" % count)]
            count += 1
        (tmp_path / f"data-{number:03}.tar").write_bytes(tar_of(members))
    return tmp_path


def test_files_become_what_their_extensions_say():
    array, deep = np.arange(6, dtype="<f4").reshape(2, 3), {"a": [1, {"b": "é"}], "c": None}
    (sample,) = samples_of(
        [
            ("d/1.json", json.dumps(deep).encode()),
            ("d/1.jsn", b"[1, NaN]"),
            ("d/1.jsonl", b'{"a": 1}\n\n{"a": 2}\n'),
            *((f"d/1.{name}", b" \thi \n") for name in ("txt", "text", "transcript", "caption")),
            *((f"d/1.{name}", b" 12\n") for name in ("cls", "index", "id")),
            ("d/1.npy", npy(array)),
            ("d/1.f.npy", npy(np.asfortranarray(array))),
            ("d/1.npz", npz(x=array, y=np.array(["a", "bc"]))),
            *((f"d/1.{name}", msgpack.packb(deep)) for name in ("mp", "msg", "msgpack")),
            ("d/1.cbor", cbor2.dumps(deep)),
            ("d/1.Seg.PNG", _PNG),
            ("d/1.txt.gz", compressed(b"packed \n", "gz")),
            ("d/1.pkl", pickle.dumps([1])),
            ("d/1.other", b"\xff\0"),
        ]
    )
    for name in ("npy", "f.npy"):
        np.testing.assert_array_equal(sample.pop(name), array)
    arrays = sample.pop("npz")
    np.testing.assert_array_equal(arrays["x"], array)
    assert arrays["y"].tolist() == ["a", "bc"]
    assert str(sample.pop("jsn")) == "[1, nan]"
    picture = sample.pop("seg.png")
    assert isinstance(picture, MediaFile)
    assert (picture.path, picture.decode().size) == ("d/1.Seg.PNG", (1, 1))
    assert sample == {
        "json": deep,
        "jsonl": [{"a": 1}, {"a": 2}],
        **dict.fromkeys(("txt", "text", "transcript", "caption"), "hi"),
        **dict.fromkeys(("cls", "index", "id"), 12),
        **dict.fromkeys(("mp", "msg", "msgpack", "cbor"), deep),
        "txt.gz": "packed",
        "pkl": pickle.dumps([1]),
        "other": b"\xff\0",
    }


def test_the_caller_says_what_is_decoded_and_how():
    members = [("1.json", b"{}"), ("1.up.txt", b"a"), ("1.pyd", pickle.dumps({1})), ("2.txt", b"b")]
    assert samples_of(members, decode=False)[0] == {"json": b"{}", "up.txt": b"a", "pyd": pickle.dumps({1})}
    own = {"up.txt": lambda content: content.upper(), ".JSON": len}
    assert samples_of(members, decoders=own)[0] == {"json": 2, "up.txt": b"A", "pyd": pickle.dumps({1})}
    assert samples_of(members, allow_pickle=True)[0]["pyd"] == {1}
    assert samples_of(members, extensions=["TXT"]) == [{"txt": "b"}]
    assert samples_of(members, max_samples=1) == samples_of(members)[:1]
    with pytest.raises(ZeroDivisionError) as caught:
        samples_of(members, decoders={"txt": lambda content: 1 // 0})
    assert "1.up.txt" in caught.value.__notes__[0]


def test_json_that_is_none_stays_text_and_is_counted():
    bad = {"a.json": b"{bad", "b.json": b"[" * 100_000, "c.json": b"\xff", "d.jsonl": b'{"a": 1}\n{', "e.json": b"1"}
    found = parse(io.BytesIO(tar_of(bad.items())))
    assert [sample.get("json", sample.get("jsonl")) for sample in found] == [
        "{bad", "[" * 100_000, "\ufffd", '{"a": 1}\n{', 1,
    ]  # fmt: skip
    assert found.report.invalid_json == 4
    assert found.report.samples == 5


def test_content_that_is_not_what_its_extension_says_is_an_error_that_names_the_member():
    objects = npy(np.array([{}], dtype=object), allow_pickle=True)
    lying = npy(np.zeros(3)).replace(b"(3,)", b"(1 << 40,)") + npy(np.zeros(3)).replace(b"(3,), ", b"(9999999,), ")
    bad = {
        "cls": b"x", "npy": b"x", "a.npy": objects, "b.npy": lying, "npz": b"PK", "mp": b"\xc1", "msg": b"\x91" * 50_000,
        "cbor": b"\x9b" + b"\xff" * 8, "d.cbor": b"\x81" * 50_000, "txt": b"\xff", "txt.gz": b"x",
        "e.gz": compressed(b"x" * 99, "gz")[:-9], "f.npz": npz(x=np.zeros(9))[:-40], "g.npy": npy(np.zeros(3))[:-1],
    }  # fmt: skip
    for extension, content in bad.items():
        data = tar_of([("0.txt", b"fine"), (f"d/1.{extension}", content)])
        found = stream(io.BytesIO(data))
        assert next(found)["txt"] == "fine"
        with pytest.raises(FileFormatError, match=rf"d/1\.{extension}"):
            next(found)
        if not extension.endswith(("cbor", "msg")):
            with pytest.raises(DatasetsError):
                load_dataset("webdataset", data_files=_written(data), split="train")[:]


def _written(data: bytes) -> str:
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "x.tar")
    with open(path, "wb") as file:
        file.write(data)
    return path


def test_what_would_unpack_to_far_more_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("crucible_datasets.config.MAX_UNPACKED_BYTES_AT_ANY_RATIO", 1 << 18)
    monkeypatch.setattr("crucible_datasets.config.MAX_UNPACKED_RATIO", 10)
    zeros = bytes(4 << 20)
    bombs = {"x.gz": compressed(zeros, "gz"), "npz": npz(x=np.zeros(1 << 18))}
    for extension, content in bombs.items():
        with pytest.raises(LimitExceededError):
            samples_of([(f"1.{extension}", content)])
    for kind in COMPRESSIONS:
        (tmp_path / "bomb.tar").write_bytes(compressed(tar_of([("1.bin", zeros)]), kind))
        tracemalloc.start()
        with pytest.raises(LimitExceededError):
            parse(tmp_path / "bomb.tar")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20, kind
        tracemalloc.stop()


def test_a_bomb_takes_no_more_memory_than_is_allowed(monkeypatch):
    monkeypatch.setattr("crucible_datasets.config.MAX_UNPACKED_BYTES_AT_ANY_RATIO", 64 << 20)
    monkeypatch.setattr("crucible_datasets.config.MAX_UNPACKED_RATIO", 10)
    content = zlib.compress(bytes(100 << 20), 1, wbits=31)
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError):
            gunzipped(content)
        assert tracemalloc.get_traced_memory()[1] < 110 << 20
    finally:
        tracemalloc.stop()


def test_files_of_a_sample_that_do_not_lie_side_by_side_are_an_error_or_gathered():
    members = [("a/x.txt", b"1"), ("b/x.txt", b"2"), ("a/x.cls", b"3"), ("c.txt", b"4")]
    with pytest.raises(FileFormatError, match="a/x.*gather"):
        samples_of(members)
    assert samples_of(members, scattered="gather") == [{"txt": "1", "cls": 3}, {"txt": "2"}, {"txt": "4"}]
    data = _written(tar_of(members))
    rows = load_dataset("webdataset", data_files=data, split="train", scattered="gather")
    assert rows["cls"][:] == [3, None, None]
    for way in ("error", "gather"):
        with pytest.raises(FileFormatError, match=r"x\.txt.*twice"):
            samples_of([("x.txt", b""), ("x.txt", b"")], scattered=way)
        for name in ("TXT", "__key__", "__URL__"):
            with pytest.raises(FileFormatError, match=f"{name}.*takes the place"):
                samples_of([("x.txt", b""), (f"x.{name}", b"")], scattered=way)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the package leaves files open
def test_what_is_packed_is_read_here_as_by_the_package(tmp_path):
    chance, path = random.Random(9), tmp_path / "x.tar"
    kinds = {"json": lambda n: json.dumps({"n": n, "é": [n / 3]}), "txt": str, "cls": str, "bin": str, "seg.BIN": str}
    for format in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        members = []
        for number in range(200):
            key = f"{'d/' * chance.randrange(3)}{'é' * chance.randrange(40 if format else 3)}{number}"
            chosen = chance.sample([*kinds], chance.randint(1, 5))
            members += [(f"{key}.{kind}", kinds[kind](chance.randrange(999)).encode()) for kind in chosen]
        path.write_bytes(tar_of(members, format))
        there = list(webdataset.WebDataset(str(path), shardshuffle=False).decode())
        for sample in there:
            del sample["__local_path__"]
        assert parse(path) == there
    gc.collect()


def test_shards_are_named_by_braces_patterns_lists_and_addresses(shards, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", False)
    everything = parse(shards / "data-*.tar")
    assert [sample["txt"] for sample in everything] == [str(number) for number in range(25)]
    assert parse_shards(f"{shards}/data-{{000..004}}.tar") == everything
    assert parse_shards(f"{shards}/data-{{000,001}}.tar", max_samples=2) == everything[:2]
    assert parse_shards([shards / f"data-{number:03}.tar" for number in range(5)]) == everything
    monkeypatch.chdir(shards)
    assert parse_shards("data-{000..004}.tar") == everything
    assert stream("data-001.tar").__next__() == everything[3]
    with pytest.raises(DataFilesNotFoundError, match="data-005"):
        parse_shards("data-{000..005}.tar")
    with folder_served(shards) as address:
        found = parse_shards(f"{address}/data-{{000..001}}.tar")
        flowing = load_dataset(
            "webdataset", data_files=f"{address}/data-{{000..001}}.tar", split="train", streaming=True
        )
        rows = list(flowing)
    assert [sample["txt"] for sample in found] == [str(number) for number in range(7)]
    assert found[0]["__url__"] == f"{address}/data-000.tar"
    assert [row["json"]["n"] for row in rows] == list(range(7))


def test_threads_read_ahead_and_change_nothing_but_that(shards):
    paths = f"{shards}/data-{{000..004}}.tar"
    for threads in (2, 3, 9):
        found = stream_shards(paths, num_threads=threads)
        assert list(found) == parse_shards(paths)
        assert found.report.samples == 25
    names = {thread.name for thread in threading.enumerate()}
    few = stream_shards(paths, max_samples=2, num_threads=3)
    assert next(few)["__key__"] and few.report.samples == 1
    assert len(list(few)) == 1 and few.report.samples == 2
    assert {thread.name for thread in threading.enumerate()} == names
    with pytest.raises(FileFormatError, match="breaks off"):
        (shards / "data-002.tar").write_bytes((shards / "data-002.tar").read_bytes()[:3000])
        parse_shards(paths, num_threads=2)
    started = stream_shards(paths, num_threads=3)
    next(started)
    started.close()
    assert {thread.name for thread in threading.enumerate()} == names


def test_memory_is_that_of_a_sample(tmp_path):
    for number in range(3):
        members = ((f"{key}.bin", bytes(1 << 20)) for key in range(14))
        (tmp_path / f"{number}.tar").write_bytes(tar_of(members))
    next(stream_shards(tmp_path / "*.tar"))  # what is imported for it
    for threads, most in ((1, 12), (2, 24)):
        tracemalloc.start()
        for sample in stream_shards(tmp_path / "*.tar", num_threads=threads):
            assert len(sample["bin"]) == 1 << 20
        assert tracemalloc.get_traced_memory()[1] < most << 20
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [None, *COMPRESSIONS])
def test_every_compression_is_read_also_where_it_breaks_off(tmp_path, kind):
    members = [(f"{key}.txt", os.urandom(400).hex().encode()) for key in range(300)]
    data = tar_of(members)
    packed = compressed(data, kind) if kind else data
    path = tmp_path / "x.tar"
    path.write_bytes(packed)
    whole = parse(path)
    assert [sample["txt"].encode() for sample in whole] == [content for _, content in members]
    rows = load_dataset("webdataset", data_files=str(path), split="train")
    assert rows["txt"][:] == [sample["txt"] for sample in whole]
    path.write_bytes(packed[: len(packed) // 2])
    found = []
    with pytest.raises(FileFormatError) as caught:
        for sample in stream(path):
            found.append(sample)
    assert caught.value.offset is not None
    assert found == whole[: len(found)]
    assert kind == "bz2" or found  # bz2 has blocks that are larger than this archive


def test_archives_without_samples_are_no_error():
    assert samples_of([]) == []
    assert parse(io.BytesIO(bytes(1024))) == []
    rows = load_dataset("webdataset", data_files=_written(tar_of([])), split="train")
    assert len(rows) == 0


def test_nothing_is_written_under_a_name_of_an_archive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["../up.txt", "/abs.txt", "C:\\x.txt", "\\\\host\\x.txt", "a\0b.txt", "A.txt", "a.txt", "x" * 9000 + ".txt"]
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.CONTTYPE]
    special = []
    for number, kind in enumerate(kinds):
        info = tarfile.TarInfo(f"s{number}.txt")
        info.type, info.linkname, info.mode = kind, "../../etc/passwd", 0o4777
        special.append((info, b""))
    data = tar_of([*((name, b"1") for name in names), *special])
    (tmp_path / "x.tar").write_bytes(data)
    asked = {"data_files": "x.tar", "split": "train"}
    streamed, loaded = (
        load_dataset("webdataset", **asked, **how) for how in ({"streaming": True}, {"keep_in_memory": True})
    )
    for rows in (parse("x.tar"), streamed, loaded):
        assert {row["__key__"] for row in rows} >= {"../up", "/abs", "A", "a", "x" * 9000}
    assert os.listdir(tmp_path) == ["x.tar"]


def test_a_picture_without_bytes_opens_no_file_of_its_name(tmp_path):
    (tmp_path / "secret.png").write_bytes(_PNG)
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of([(f"{tmp_path}/secret.png", b"")]))
    (sample,) = parse(path)
    with pytest.raises(Exception, match="image"):
        sample["png"].decode()
    for streaming in (False, True):
        with pytest.raises(Exception, match="image"):
            next(iter(load_dataset("webdataset", data_files=str(path), split="train", streaming=streaming)))


def test_zip_is_no_tar():
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("x.txt", "1" * 600)
    with pytest.raises(FileFormatError, match="header"):
        parse(io.BytesIO(sink.getvalue()))


@pytest.mark.parametrize("name", ["__key__", "__url__"])
def test_a_file_that_is_called_as_what_every_sample_has_is_refused_however_it_is_read(tmp_path, name):
    path = str(tmp_path / "a.tar")
    with open(path, "wb") as file:
        file.write(tar_of([("x.txt", b"one"), (f"x.{name}", b"two")]))
    ways = [parse, lambda path: list(stream(path))] + [
        lambda path, streaming=streaming: list(
            load_dataset("webdataset", data_files=path, split="train", streaming=streaming)
        )
        for streaming in (False, True)
    ]
    for way in ways:
        with pytest.raises(FileFormatError, match=f"x.{name}"):
            way(path)
