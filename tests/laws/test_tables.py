"""What Arrow and Parquet files of others hold comes out, whatever their types and row groups, and after any step."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.test_chains import _follow
from laws.ways import MOVES, STEPS


def _parquet(table, path, size):
    pq.write_table(table, path, row_group_size=size)


def _stream(table, path, size):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=size)


def _file(table, path, size):
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table, max_chunksize=size)


def _feather(table, path, size):
    feather.write_feather(table, path, compression="lz4", chunksize=size)


_FILES = {"parquet": _parquet, "arrow stream": _stream, "arrow file": _file, "feather": _feather}
_BUILTIN = {"parquet": "parquet"}


def _load(table, name, size, folder, streaming=False):
    path = os.path.join(folder, f"data{len(os.listdir(folder))}.{_BUILTIN.get(name, 'arrow')}")
    _FILES[name](table, path, size)
    return ours.load_dataset(_BUILTIN.get(name, "arrow"), data_files=path, split="train", streaming=streaming)


_WAYS = ["memory", *_FILES]


@law(
    examples=50,
    weight=2,
    tables=values.tables(),
    way=st.sampled_from(_WAYS),
    size=st.sampled_from([1, 2, 3, 100]),
    streaming=st.booleans(),
)
def test_tables_give_back_their_rows(tables, way, size, streaming, folder):
    arrow = tables[0].arrow()
    if way == "memory":
        data = ours.Dataset(arrow)
        data = data.to_iterable_dataset() if streaming else data
    else:
        try:
            _FILES[way](arrow, os.path.join(folder, "probe"), size)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return  # the format has no such type
        data = _load(arrow, way, size, folder, streaming)
    expected = pq.read_table(os.path.join(folder, "probe")) if way == "parquet" else arrow
    equality.same(expected.to_pylist(), list(data))


@law(
    examples=30,
    weight=2,
    tables=values.tables(),
    steps=st.lists(st.tuples(st.sampled_from([*STEPS, *STEPS, *MOVES]), st.integers(0, 5)), min_size=1, max_size=4).map(
        tuple
    ),
)
def test_any_chain_keeps_the_rows_of_tables(tables, steps, folder):
    _follow(ours.Dataset(tables[0].arrow()), steps, folder)


@law(
    examples=40,
    weight=2,
    tables=values.tables(2),
    way=st.sampled_from(["concatenate", "parquet", "arrow stream"]),
    streaming=st.booleans(),
)
def test_tables_of_different_types_are_united_exactly_or_refused(tables, way, streaming, folder):
    tables = [table.arrow() for table in tables]
    expected = [row for table in tables for row in table.to_pylist()]
    facts = equality.facts_of(expected)
    try:
        if way == "concatenate":
            parts = [ours.Dataset(table) for table in tables]
            data = ours.concatenate_datasets([part.to_iterable_dataset() for part in parts] if streaming else parts)
        else:
            format = "parquet" if way == "parquet" else "arrow"
            paths = [os.path.join(folder, f"{number}.{format}") for number in range(2)]
            for table, path in zip(tables, paths, strict=True):
                try:
                    _FILES[way](table, path, 100)
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    return
            if way == "parquet":
                expected = [row for path in paths for row in pq.read_table(path).to_pylist()]
            data = ours.load_dataset(format, data_files=paths, split="train", streaming=streaming)
        result = list(data)
    except DatasetsError:
        return
    equality.same(expected, result, facts)
