"""Streams whose shards workers read: the same rows, in their order, from every place on."""

import json
import os
import pickle

import cloudpickle
import pytest
from PIL import Image as Pictures

from crucible_datasets import (
    Dataset,
    Features,
    Image,
    IterableDataset,
    IterableDatasetDict,
    Value,
    config,
    load_dataset,
)
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import Once
from crucible_datasets.executors.ray import RayExecutor
from crucible_datasets.streams.parallel import _Read
from crucible_datasets.streams.source import Source

SIZES = [7, 0, 1, 12, 5]


@pytest.fixture(params=["processes", "ray"])
def executor(request):
    """Processes, which find the files of this machine; a cluster that is told that it does not."""
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
        return RayExecutor(shared_disk=False)
    return request.param


@pytest.fixture
def stream(tmp_path):
    at = 0
    for number, size in enumerate(SIZES):
        rows = [{"n": n, "t": [f"text {n}"]} for n in range(at, at + size)]
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        at += size
    return load_dataset("json", data_files=str(tmp_path / "*.jsonl"), split="train", streaming=True)


def tagged(row):
    return {"m": (row["n"], None), "process": os.getpid()}


PIPELINES = {
    "map": lambda stream, **how: stream.map(lambda row: {"m": (row["n"], row["t"][0])}, **how),
    "filter": lambda stream, **how: stream.filter(lambda row: row["n"] % 3, **how),
    "both": lambda stream, **how: (
        stream.select_columns("n").map(lambda row: {"m": 1}, **how).filter(lambda n: n != 8, input_columns="n", **how)
    ),
    "behind": lambda stream, **how: stream.map(lambda row: {"m": 1}, **how).shuffle(3, buffer_size=4).skip(2).take(15),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_rows_are_those_of_this_process(name, executor, stream):
    assert list(PIPELINES[name](stream, executor=executor)) == list(PIPELINES[name](stream))


def test_batches_end_where_shards_end(executor, stream):
    away = stream.map(lambda b: {"size": [len(b["n"])] * len(b["n"])}, batched=True, batch_size=5, executor=executor)
    sizes = [part for size in SIZES for part in [5] * (size // 5) + [size % 5]]
    assert [row["size"] for row in away] == [size for size in sizes for _ in range(size)]


def test_workers_do_it_and_a_reader_resumes_from_every_row(executor, stream):
    away = stream.map(tagged, executor=executor)
    rows, states = [], [away.state_dict()]
    for row in away:
        rows.append(row)
        states.append(json.loads(json.dumps(away.state_dict())))
    assert [row["n"] for row in rows] == list(range(sum(SIZES)))
    assert os.getpid() not in {row["process"] for row in rows}
    for number in range(0, len(states), 8):
        away.load_state_dict(states[number])
        assert [row["n"] for row in away] == list(range(number, sum(SIZES)))


def test_an_error_comes_behind_the_rows_before_it(executor, stream):
    def fails_at_14(row):
        if row["n"] == 14:
            raise ValueError("no 14")
        return {}

    seen = []
    with pytest.raises(ValueError, match="no 14") as found:
        seen.extend(row["n"] for row in stream.map(fails_at_14, executor=executor))
    assert seen == list(range(14))
    assert "shard 3 of 5" in found.value.__notes__[-1]


def test_splits(stream):
    splits = IterableDatasetDict({"a": stream, "b": stream.take(3)})
    with pytest.raises(ArgumentError, match="taken comes before"):
        splits.map(tagged, executor="processes")
    assert [
        row["n"] for row in IterableDatasetDict(a=stream).filter(lambda r: r["n"] < 2, executor="processes")["a"]
    ] == [0, 1]


def test_what_needs_the_rows_of_other_shards_is_refused(stream):
    for made in (
        lambda: stream.map(lambda row, index: {}, with_indices=True, executor="processes"),
        lambda: stream.shuffle(1).map(tagged, executor="processes"),
        lambda: stream.take(2).filter(tagged, executor="processes"),
        lambda: stream.batch(2).map(tagged, executor="processes"),
    ):
        with pytest.raises(ArgumentError):
            made()


def test_rows_go_along_where_files_do_not(tmp_path):
    Pictures.new("RGB", (3, 2)).save(tmp_path / "a.png")
    rows = {"n": [0, 1, 2], "image": [str(tmp_path / "a.png")] * 3}
    stream = Dataset.from_dict(rows, Features({"n": Value("int64"), "image": Image()})).to_iterable_dataset(3)
    read = _Read(Once(Source(())), stream._stream.stage.shard(3, 1), None, goes_along=True)
    sent = cloudpickle.dumps(read)
    (tmp_path / "a.png").unlink()
    items, error = pickle.loads(sent)(None, lambda rows: None)
    assert error is None
    assert [(row["n"], row["image"].size) for _, batch in items for row in batch.rows()] == [(1, (3, 2))]


def test_the_setting_reaches_streams_of_files_whose_rows_it_does_not_change(stream, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_EXECUTOR", "processes")
    here = os.getpid()
    away = stream.map(tagged).filter(lambda row: row["process"] != here)
    assert [row["n"] for row in away] == list(range(sum(SIZES)))
    for not_spread in (
        stream.map(tagged, with_indices=False, batched=False, executor="serial"),
        stream.take(30).map(tagged),
        stream.shuffle(1).map(tagged),
        stream.map(lambda batch: {"process": [os.getpid()] * len(batch["n"])}, batched=True),
        IterableDataset.from_generator(lambda: iter([{"n": 1}])).map(tagged),
    ):
        assert {row["process"] for row in not_spread} == {here}
