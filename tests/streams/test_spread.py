"""Streams whose shards workers read: the same rows, in their order, from every place on."""

import json
import os

import pytest

from crucible_datasets import IterableDatasetDict, load_dataset
from crucible_datasets.exceptions import ArgumentError

SIZES = [7, 0, 1, 12, 5]


@pytest.fixture(params=["processes", "ray"])
def executor(request):
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
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


def test_workers_do_it_and_a_reader_resumes_from_every_row(stream):
    away = stream.map(tagged, executor="processes")
    rows, states = [], [away.state_dict()]
    for row in away:
        rows.append(row)
        states.append(json.loads(json.dumps(away.state_dict())))
    assert [row["n"] for row in rows] == list(range(sum(SIZES)))
    assert os.getpid() not in {row["process"] for row in rows}
    for number in range(0, len(states), 4):
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
