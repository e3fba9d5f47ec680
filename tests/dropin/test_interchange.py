"""Other libraries read datasets, columns and streams through the Arrow PyCapsule protocol, without copies where rows lie together."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crucible_datasets import ClassLabel, Dataset, Features, IterableDataset, List, Value, load_dataset

FEATURES = Features(
    {"n": Value("int32"), "t": Value("string"), "l": List(Value("float64")), "c": ClassLabel(names=["x", "y"])}
)
N = 5000


def rows():
    columns = {
        "n": range(N),
        "t": map(str, range(N)),
        "l": [[float(i)] * (i % 3) for i in range(N)],
        "c": [0, 1] * (N // 2),
    }
    return Dataset.from_dict({name: list(values) for name, values in columns.items()}, features=FEATURES)


@pytest.fixture(params=["in memory", "shuffled", "sliced", "parquet", "stream", "stream without features"])
def whole(request, tmp_path):
    """A thing with rows, and the rows."""
    kind, made = request.param, rows()
    if kind == "shuffled":
        made = made.shuffle(seed=1)
    elif kind == "sliced":
        made = made.select(range(7, 4000)).remove_columns("l")
    elif kind == "parquet":
        made.to_parquet(tmp_path / "x.parquet", batch_size=700)
        made = load_dataset("parquet", data_files=str(tmp_path / "x.parquet"), split="train")
    elif kind == "stream":
        return made.to_iterable_dataset(), made.to_list()
    elif kind == "stream without features":
        listed = made.to_list()
        return IterableDataset.from_generator(lambda: iter(listed)), listed
    return made, made.to_list()


def test_every_library_reads_the_same_rows(whole):
    data, listed = whole
    assert pa.table(data).to_pylist() == listed
    assert pl.DataFrame(data).to_dicts() == listed
    assert pd.DataFrame.from_arrow(data)["t"].tolist() == [row["t"] for row in listed]
    counted = duckdb.sql("select count(*), sum(n), min(t) from data").fetchall()
    assert counted == [(len(listed), sum(row["n"] for row in listed), min(row["t"] for row in listed))]


def addresses(column):
    return [buffer.address for chunk in column.chunks for buffer in chunk.buffers() if buffer is not None]


def test_rows_that_lie_together_are_not_copied():
    data = rows()
    for part, length in ((data, N), (data.select(range(10, 50)), 40)):
        taken = pa.table(part)
        assert len(taken) == length
        for name in FEATURES:
            assert addresses(taken[name]) == addresses(data.data.table[name])
            assert addresses(pa.chunked_array(data[name])) == addresses(data.data.table[name])


def test_large_files_are_read_while_they_are_taken(tmp_path):
    """The first batch of Parquet comes before the last row group is read."""
    many = 300_000
    pq.write_table(pa.table({"n": range(many)}), tmp_path / "x.parquet", row_group_size=10_000)
    data = load_dataset("parquet", data_files=str(tmp_path / "x.parquet"), split="train")
    first = pa.RecordBatchReader.from_stream(data).read_next_batch()
    assert 0 < first.num_rows < many and first.schema.names == ["n"]


def test_types_are_told_without_reading():
    data = rows()
    assert pa.schema(data).equals(FEATURES.arrow_schema, check_metadata=True)
    assert pa.field(data["c"]).equals(FEATURES.arrow_schema.field("c"))
    assert Dataset.from_dict({"again": data["n"]}).to_dict() == {"again": list(range(N))}
