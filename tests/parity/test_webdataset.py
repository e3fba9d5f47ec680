"""Tar shards become the same rows and features here as in Hugging Face datasets."""

from __future__ import annotations

import gzip
import io
import json

import datasets as hf
import msgpack
import numpy as np
import pytest
from PIL import Image
from support.packed import compressed, tar_of

import crucible_datasets as ours

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def picture(kind: str) -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", (4, 3), (200, 0, 0)).save(sink, kind)
    return sink.getvalue()


def saved(array) -> bytes:
    sink = io.BytesIO()
    (np.savez(sink, **array) if isinstance(array, dict) else np.save(sink, array))
    return sink.getvalue()


def sample(key: str, number: int) -> list[tuple[str, bytes]]:
    made = {
        "jpg": picture("JPEG"),
        "seg.PNG": picture("PNG"),
        "json": json.dumps({"n": number, "deep": {"x": [number / 3]}, "s": "2020-01-01"}).encode(),
        "Meta.jsn": json.dumps([number, number + 1]).encode(),
        "txt": b" hi \n",
        "text": "é".encode(),
        "transcript": b"",
        "caption": b"bytes",
        "cls": b" 3\n",
        "cls2": b"4",
        "index": b"5",
        "inx": b"6",
        "id": b"7",
        "npy": saved(np.arange(6, dtype="float32").reshape(2, 3) + number),
        "npz": saved({"a": np.arange(3), "b": np.ones((2, 2))}),
        "mp": msgpack.packb({"a": number}),
        "txt.gz": gzip.compress(b"packed\n"),
        "json.gz": gzip.compress(b'{"a": 1}'),
        "jsonl": b'{"a": 1}\n',
        "pkl": b"\x80\x04]\x94.",
        "glb": b"mesh",
        "mp4": b"film",
        "pdf": b"pages",
    }
    return [(f"{key}.{kind}", content) for kind, content in made.items()]


def loaded(library, path, streaming: bool, tmp_path):
    folder = str(tmp_path / library.__name__)
    data = library.load_dataset("webdataset", data_files=path, split="train", streaming=streaming, cache_dir=folder)
    for name, kind in data.features.items():
        if type(kind).__name__ in ("Image", "Audio", "Video", "Mesh"):
            data = data.cast_column(name, type(kind)(decode=False))
    return data


def plain(value):
    """Hugging Face gives arrays in streams, and lists otherwise."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("streaming", [False, True])
def test_rows_and_features_are_the_same(tmp_path, streaming):
    cases = {
        "one": tar_of(sample("d/1", 1)),
        "two": tar_of([*sample("d/1", 1), *sample("e/1", 2)]),
        "packed": compressed(tar_of([*sample("a", 1), *sample("b", 2)]), "gz"),
        "late": tar_of([*((f"{key}.txt", b"x") for key in range(6)), ("7.txt", b"y")]),
        "sounds": tar_of([("1.wav", b"x"), ("1.FLAC", b"x"), ("1.mp3", b"x"), ("1.opus", b"x"), ("1.aif", b"x")]),
        "hidden": tar_of([(".x.txt", b"1"), ("README", b"2"), ("a/.y.txt", b"3"), ("./a.txt", b"4"), ("b.txt", b"5")]),
    }
    for name, data in cases.items():
        path = str(tmp_path / f"{name}.tar{'.gz' if name == 'packed' else ''}")
        with open(path, "wb") as file:
            file.write(data)
        there, here = loaded(hf, path, True, tmp_path), loaded(ours, path, streaming, tmp_path)
        assert [(key, str(kind)) for key, kind in here.features.items()] == [
            (key, str(kind)) for key, kind in there.features.items()
        ], name
        if name != "sounds":  # which Hugging Face datasets only encodes with torchcodec
            assert [plain(row) for row in here] == [plain(row) for row in there], name


def test_shuffled_streams_give_the_same_rows(tmp_path):
    for number in range(4):
        members = [(f"{number}-{key}.txt", b"%d" % key) for key in range(7 + number)]
        (tmp_path / f"{number}.tar").write_bytes(tar_of(members))
    paths = [str(tmp_path / f"{number}.tar") for number in range(4)]
    for seed, size in ((0, 1), (1, 5), (2, 1000)):
        there, here = (
            library.load_dataset("webdataset", data_files=paths, split="train", streaming=True)
            for library in (hf, ours)
        )
        assert here.n_shards == there.n_shards
        shuffled = [[row["__key__"] for row in one.shuffle(seed=seed, buffer_size=size)] for one in (here, there)]
        assert shuffled[0] == shuffled[1]
    both = [library.load_dataset(str(tmp_path), streaming=True) for library in (hf, ours)]
    assert [list(one) for one in both] == [["train"], ["train"]]


def test_what_is_wrong_is_wrong_in_both(tmp_path):
    bad = [
        [("1.json", b"{bad")], [("1.cls", b"x")], [("1.txt", b"\xff")], [("1.npy", b"x")],
        [("1.txt", b""), ("1.txt", b""), ("2.txt", b"")],
    ]  # fmt: skip
    for members in bad:
        path = str(tmp_path / "x.tar")
        with open(path, "wb") as file:
            file.write(tar_of(members))
        for library in (hf, ours):
            with pytest.raises(ValueError):
                list(loaded(library, path, True, tmp_path))
