"""Tar shards that are elsewhere, streamed and read at random, are those of this disk; when they change, that is told."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import contextmanager

import pytest
from fsspec.core import url_to_fs
from support.packed import tar_of
from support.servers import Store, store
from support.web import folder_served

from crucible_datasets import config, load_dataset
from crucible_datasets.exceptions import ContentMismatchError, FileFormatError
from crucible_datasets.formats.webdataset import stream_shards
from crucible_datasets.localhub.server import serving

SHARDS, SAMPLES = 2, 5


def shard(number, word="old"):
    """An archive whose samples say which they are; the new ones lie elsewhere in it."""
    members = []
    for row in range(SAMPLES):
        about = json.dumps({"n": number * SAMPLES + row, "word": word}).encode()
        members += [
            (f"s{number}/{row}.json", about),
            (f"s{number}/{row}.bin", word.encode() * (40_000 + 400 * len(word))),
        ]
    return tar_of(members)


@contextmanager
def web(tmp_path):
    (tmp_path / "place").mkdir()

    def write(name, content):
        path = tmp_path / "place" / name
        # Times that servers state have no fractions of a second.
        age = int(path.stat().st_mtime) + 1000 if path.exists() else 10**9
        path.write_bytes(content)
        os.utime(path, (age, age))

    with folder_served(tmp_path / "place") as address:
        yield address, write, {}


@contextmanager
def bucket(found):
    root = f"{found.root}/{uuid.uuid4().hex}"
    system, base = url_to_fs(root, **found.options, skip_instance_cache=True)
    yield root, lambda name, content: system.pipe_file(f"{base}/{name}", content), found.options
    system.rm(base, recursive=True)


@contextmanager
def hub(tmp_path):
    folder = tmp_path / "hub" / "acme" / "shards"
    folder.mkdir(parents=True)
    with serving(str(tmp_path / "hub")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "HF_ENDPOINT", server.endpoint)

        def write(name, content):
            (folder / name).write_bytes(content)
            server.hub._looked.clear()

        yield "hf://datasets/acme/shards", write, {}


PLACES = {
    "web": web,
    "memory": lambda _: bucket(Store("memory:/", {}, None, {})),
    "s3": lambda _: bucket(store("s3")),
    "hub": hub,
}


@pytest.fixture(params=PLACES)
def place(request, online, tmp_path):
    with PLACES[request.param](tmp_path) as found:
        for number in range(SHARDS):
            found[1](f"data-{number:03}.tar", shard(number))
        yield found


def test_shards_elsewhere_are_streamed_resumed_and_read_at_random(place, tmp_path):
    root, write, options = place
    pattern = f"{root}/data-{{000..{SHARDS - 1:03}}}.tar"
    for number in range(SHARDS):
        (tmp_path / f"data-{number:03}.tar").write_bytes(shard(number))
    here = load_dataset("webdataset", data_files=f"{tmp_path}/*.tar", split="train").remove_columns("__url__")[:]
    rows = [dict(zip(here, values, strict=True)) for values in zip(*here.values(), strict=True)]
    asked = {"data_files": pattern, "split": "train", "storage_options": options}
    stream = load_dataset("webdataset", **asked, streaming=True).remove_columns("__url__")
    assert stream.num_shards == SHARDS
    started = iter(stream)
    assert [next(started) for _ in range(7)] == rows[:7]
    again = load_dataset("webdataset", **asked, streaming=True).remove_columns("__url__")
    again.load_state_dict(stream.state_dict())
    assert list(again) == rows[7:]
    ranged = load_dataset("webdataset", **asked, download=False).remove_columns("__url__")
    assert [ranged[row] for row in (8, 0, -1)] == [rows[row] for row in (8, 0, -1)]
    brought = load_dataset("webdataset", **asked).remove_columns("__url__")
    assert [brought[row] for row in (8, 0, -1)] == [rows[row] for row in (8, 0, -1)]
    if not options:
        assert [sample["json"] for sample in stream_shards(pattern)] == [row["json"] for row in rows]
    if root.startswith("hf:"):
        repository = {"path": "acme/shards", "split": "train"}
        assert [row["json"] for row in load_dataset(**repository, streaming=True)] == [row["json"] for row in rows]
        assert load_dataset(**repository)[8]["json"] == rows[8]["json"]
        return  # an address means one commit, for ever
    for number in range(SHARDS):
        write(f"data-{number:03}.tar", shard(number, "another"))
    for read in (lambda: ranged[3], lambda: ranged.select([9, 1])[:]):
        with pytest.raises(FileFormatError, match="changed or removed"):
            read()
    reloaded = load_dataset("webdataset", **asked, download=False)
    assert reloaded[6]["json"] == {"n": 6, "word": "another"}
    assert [row["json"]["word"] for row in load_dataset("webdataset", **asked, streaming=True)] == ["another"] * len(
        rows
    )
    begun = [iter(load_dataset("webdataset", **asked, streaming=True)) for _ in range(2)]
    assert [next(one)["json"]["n"] for one in begun] == [0, 0]
    write("data-000.tar", shard(0, "changed"))  # of the same length: no header tells
    with pytest.raises(ContentMismatchError):
        list(begun.pop())
    if not options:
        samples = stream_shards(pattern)
        next(samples)
        write("data-000.tar", shard(0, "another"))
        with pytest.raises(ContentMismatchError):
            list(samples)
    write("data-000.tar", shard(0, "another"))
    write("data-001.tar", shard(1, "old"))
    with pytest.raises(ContentMismatchError):
        list(begun.pop())
