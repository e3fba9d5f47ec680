"""Tar shards as streams: resumed from every row, shuffled, and shared out."""

from __future__ import annotations

import json
import os

import pytest
from support.packed import compressed, tar_of

from crucible_datasets import load_dataset
from crucible_datasets.distributed import split_dataset_by_node
from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.webdataset import rows


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Three archives of 5 samples, read in blocks of a few."""
    monkeypatch.setattr(rows, "_FIRST", 2)
    monkeypatch.setattr(rows, "_MOST", 3)
    for number in range(3):
        members = []
        for count in range(5 * number, 5 * number + 5):
            members += [(f"{count:03}.json", json.dumps({"n": count}).encode()), (f"{count:03}.bin", os.urandom(700))]
        (tmp_path / f"{number}.tar").write_bytes(tar_of(members))
    return tmp_path


def flowing(shards, **options):
    return load_dataset("webdataset", data_files=f"{shards}/{{0..2}}.tar", split="train", streaming=True, **options)


def numbers(rows) -> list[int]:
    return [row["json"]["n"] for row in rows]


def test_a_stream_goes_on_from_every_row(shards):
    streams = {"in order": flowing(shards), "shuffled": flowing(shards).shuffle(seed=3, buffer_size=4)}
    for name, stream in streams.items():
        everything, states = [], []
        for row in stream:
            everything.append(row)
            states.append(json.loads(json.dumps(stream.state_dict())))
        assert (numbers(everything) == list(range(15))) == (name == "in order")
        for count, state in enumerate(states, 1):
            stream.load_state_dict(state)
            assert list(stream) == everything[count:]


def test_going_on_in_a_plain_archive_reads_nothing_before_the_place(tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of((f"{key:03}.bin", bytes([key]) * 10_000) for key in range(200)))
    stream = load_dataset("webdataset", data_files=str(path), split="train", streaming=True)
    for count, row in enumerate(stream, 1):
        if count == 150:
            state = stream.state_dict()
            break
    # What lies far before the place may be anything.
    data = bytearray(path.read_bytes())
    data[: 500 * 1000] = b"\xff" * (500 * 1000)
    path.write_bytes(data)
    del state["fingerprint"]
    stream.load_state_dict(state)
    assert [row["bin"][0] for row in stream] == list(range(row["bin"][0] + 1, 200))


def test_shards_are_shuffled_and_shared_out_whole(shards):
    stream = flowing(shards)
    assert stream.n_shards == 3
    assert sorted(numbers(stream.shuffle(seed=1, buffer_size=1))) == list(range(15))
    for nodes in (2, 3, 4):
        parts = [numbers(split_dataset_by_node(stream, rank, nodes)) for rank in range(nodes)]
        assert sorted(number for part in parts for number in part) == list(range(15))
    assert numbers(stream.shard(3, 1)) == list(range(5, 10))


def test_columns_and_filters_are_read_alone(shards):
    assert [*flowing(shards, columns=["__key__"])][12] == {"__key__": "012"}
    assert [*flowing(shards, columns=["json", "__key__"])][5] == {"json": {"n": 5}, "__key__": "005"}
    found = list(flowing(shards, filters=[("__key__", ">=", "013")], columns=["json"]))
    assert found == [{"json": {"n": 13}}, {"json": {"n": 14}}]


def test_compressed_and_broken_shards_flow_as_far_as_they_are_whole(shards):
    whole = (shards / "1.tar").read_bytes()
    (shards / "1.tar").write_bytes(compressed(whole, "gz"))
    assert numbers(flowing(shards)) == list(range(15))
    (shards / "1.tar").write_bytes(whole[: len(whole) // 2])
    found = []
    with pytest.raises(FileFormatError) as caught:
        for row in flowing(shards):
            found.append(row)
    assert caught.value.offset == len(whole) // 2
    assert numbers(found) == list(range(len(found)))
    assert len(found) > 5
    left = numbers(flowing(shards, on_bad_files="skip"))
    assert left == [*numbers(found), *range(10, 15)]
