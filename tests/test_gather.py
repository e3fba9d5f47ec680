"""Gathering rows gives what Arrow's own `take` gives, whatever the batches, and also where `take` cannot follow."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import Dataset
from crucible_datasets.tables import addresses
from crucible_datasets.tables import gather as gathering
from crucible_datasets.tables.gather import gather
from crucible_datasets.tables.rows import chosen, compose, tightest
from crucible_datasets.tables.table import ArrowTable

SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("s", pa.string()),
        ("l", pa.list_(pa.int16())),
        ("d", pa.struct({"x": pa.bool_(), "y": pa.string()})),
    ]
)


def numbered(size: int) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "n": n,
                "s": None if n % 5 == 0 else "é" * (n % 4),
                "l": list(range(n % 3)),
                "d": {"x": n % 2 == 0, "y": str(n)},
            }
            for n in range(size)
        ],
        SCHEMA,
    )


def cut(table: pa.Table, sizes: list[int]) -> pa.Table:
    """The same table in pieces."""
    pieces, start = [], 0
    for size in sizes:
        pieces.append(table.slice(start, size))
        start += size
    return pa.concat_tables([*pieces, table.slice(start)])


sizes = st.lists(st.integers(0, 40), max_size=6)
wanted = st.lists(st.integers(0, 10**6), max_size=80)


@pytest.mark.parametrize("long_run", [0, 8, 1000])
@pytest.mark.parametrize("block", [1, 1000, 64 << 20])
@given(size=st.integers(1, 120), sizes=sizes, wanted=wanted, columns=st.sampled_from([None, ["s"], ["d", "n"]]))
def test_gather_is_take(long_run, block, size, sizes, wanted, columns):
    """By slices and by addresses, and for blocks of any size."""
    whole = numbered(size)
    table = ArrowTable(cut(whole, sizes))
    rows = np.array([place % size for place in wanted], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "LONG_RUN", long_run)
        patch.setattr(gathering, "BLOCK_BYTES", block)
        found = gather(table.batches, table.starts, rows, columns)
    expected = whole.take(pa.array(rows)).select(columns or SCHEMA.names)
    assert pa.Table.from_batches(found, expected.schema).equals(expected)


TYPES = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.float16(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.decimal128(20, 2),
    pa.decimal256(50, 2),
    pa.binary(3),
    pa.binary(0),
    pa.binary(),
    pa.large_string(),
    pa.list_(pa.int32()),
    pa.large_list(pa.bool_()),
    pa.list_(pa.float64(), 3),
    pa.list_(pa.string(), 2),
    pa.list_(pa.list_(pa.int64(), 2)),
    pa.list_(pa.struct({"role": pa.string(), "tokens": pa.list_(pa.int16()), "ok": pa.bool_()})),
    pa.struct({"a": pa.int64(), "b": pa.struct({"c": pa.string()}), "d": pa.null()}),
    pa.struct([]),
    pa.map_(pa.string(), pa.int32()),
]


def value(random: Random, arrow: pa.DataType, nulls: float) -> Any:
    """A random value of a type, in which anything may be null."""
    kinds = pa.types
    if kinds.is_null(arrow) or random.random() < nulls:
        return None
    if kinds.is_map(arrow):
        return [(f"key {n}", n) for n in range(random.randrange(3))]
    if kinds.is_struct(arrow):
        return {field.name: value(random, field.type, nulls) for field in arrow}
    if kinds.is_nested(arrow):
        size = getattr(arrow, "list_size", None) or random.randrange(4)
        return [value(random, arrow.value_type, nulls) for _ in range(size)]
    if kinds.is_fixed_size_binary(arrow):
        return random.randbytes(arrow.byte_width)
    if kinds.is_large_string(arrow) or kinds.is_string(arrow):
        return "añ🙂"[: random.randrange(4)] * random.randrange(6)
    if kinds.is_binary(arrow):
        return random.randbytes(random.randrange(20))
    number = random.randrange(2) if kinds.is_boolean(arrow) else random.randrange(-100, 100)
    wide = pa.int64() if kinds.is_timestamp(arrow) else pa.int32()
    return pa.scalar(number, wide).cast(arrow).as_py()


@pytest.mark.parametrize("arrow", TYPES, ids=str)
@given(seed=st.integers(0, 10**6), sizes=sizes, wanted=st.lists(st.integers(0, 10**6), min_size=1, max_size=80))
def test_every_type_is_gathered_as_take_does(arrow, seed, sizes, wanted):
    """With nulls anywhere or nowhere, from batches that are slices or not."""
    random = Random(seed)
    nulls = random.choice([0, 0.3])
    values = [value(random, arrow, nulls) for _ in range(random.randrange(1, 120))]
    whole = pa.table({"value": pa.array(values, arrow)})
    table = cut(whole, sizes) if random.random() < 0.5 else copied(cut(whole, sizes))
    rows = np.array([place % len(values) for place in wanted], dtype=np.int64)
    found = ArrowTable(table).read(rows)
    found.validate(full=True)
    assert found.schema.equals(whole.schema)
    assert found["value"].to_pylist() == [whole["value"][row].as_py() for row in rows.tolist()]


def copied(table: pa.Table) -> pa.Table:
    """The same batches, each in memory of its own, which begins at an odd address."""
    batches = []
    for batch in table.to_batches():
        stream = pa.BufferOutputStream()
        stream.write(b"x")
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_batch(batch)
        batches.extend(pa.ipc.open_stream(stream.getvalue().slice(1)))
    return pa.Table.from_batches(batches, table.schema)


@given(size=st.integers(0, 120), sizes=sizes, wanted=wanted, start=st.integers(0, 130), stop=st.integers(0, 130))
def test_tables_read_rows_as_take_does(size, sizes, wanted, start, stop):
    whole = numbered(size)
    table = ArrowTable(cut(whole, sizes))
    start, stop = min(start, size), min(stop, size)
    assert table.read(range(start, stop)).equals(whole.slice(start, max(stop - start, 0)))
    rows = np.array([place % size for place in wanted] if size else [], dtype=np.int64)
    assert table.read(rows).equals(whole.take(pa.array(rows)))
    assert [table.row(int(row)) for row in rows] == whole.take(pa.array(rows)).to_pylist()


@given(size=st.integers(1, 60), first=wanted, second=wanted)
def test_rows_compose_as_lists_do(size, first, second):
    outer = [place % size for place in first]
    inner = [place % len(outer) for place in second] if outer else []
    found = compose(chosen(outer, size), chosen(inner, len(outer)))
    assert list(found) == [outer[place] for place in inner]


@given(st.lists(st.integers(0, 30), max_size=20))
def test_runs_are_ranges(places):
    rows = tightest(np.array(places, dtype=np.int64))
    assert list(rows) == places
    assert isinstance(rows, range) == (places == list(range(places[0], places[0] + len(places))) if places else True)


class Overflowing:
    """`concat_batches` of an Arrow whose offsets hold few bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.refused = limit, 0
        self.real = pa.concat_batches

    def __call__(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        if sum(batch.nbytes for batch in batches) > self.limit:
            self.refused += 1
            raise pa.ArrowInvalid("offset overflow while concatenating arrays")
        return self.real(batches)


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6), wanted=st.lists(st.integers(0, 99), max_size=60))
def test_blocks_that_overflow_are_halved(sizes, wanted):
    """The answer is the same, only in more pieces: here offsets count up to 50."""
    whole = numbered(100)
    table = ArrowTable(cut(whole, sizes))
    rows = np.array([0, 99, *wanted], dtype=np.int64)
    expected = whole.take(pa.array(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "LONG_RUN", 1000)
        patch.setattr(addresses, "_MOST_COUNTED", 50)
        found = gather(table.batches, table.starts, rows)
    assert pa.Table.from_batches(found).equals(expected)
    texts = [expected["s"], pc.struct_field(expected["d"], "y")]
    assert (len(found) > 1) == (max(pc.sum(pc.binary_length(text)).as_py() or 0 for text in texts) > 50)


@given(sizes=sizes, wanted=st.lists(st.integers(0, 99), min_size=2, max_size=60))
def test_slices_that_overflow_are_halved(sizes, wanted):
    """What Arrow cannot concatenate in one piece."""
    whole = numbered(100)
    table = ArrowTable(cut(whole, sizes))
    rows = np.array(wanted, dtype=np.int64)
    small = Overflowing(limit=400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "LONG_RUN", 0)
        patch.setattr(gathering.pa, "concat_batches", small)
        found = gather(table.batches, table.starts, rows)
    assert pa.Table.from_batches(found).equals(whole.take(pa.array(rows)))
    assert (len(found) > 1) == (small.refused > 0)


@pytest.mark.slow
def test_strings_beyond_32_bit_offsets():
    """40 cells of 64 MiB: 2.5 GiB in one column. Arrow's own `take` of the whole column fails."""
    cells, letters = 40, 64 << 20
    chunk = pa.array(["a" * letters, "b" * letters])
    table = pa.table({"s": pa.chunked_array([chunk] * (cells // 2)), "n": list(range(cells))})
    dataset = Dataset(table)

    def initials(view: Dataset) -> list[str]:
        return [view[place]["s"][0] for place in range(len(view))]

    expected = ["a", "b"] * (cells // 2)
    order = np.random.default_rng(1).permutation(cells).tolist()
    assert initials(dataset) == expected
    shuffled = dataset.shuffle(seed=1)
    assert [row["s"][0] for row in shuffled] == [expected[place] for place in order]
    assert initials(shuffled.sort("n", reverse=True)) == expected[::-1]
    read = shuffled.with_format("arrow")[:]["s"]
    assert pc.utf8_length(read).to_pylist() == [letters] * cells
    del read
    frame = shuffled.to_pandas()
    assert (frame["s"].str.len() == letters).all()
    del frame
    assert sum(len(text) for text in dataset[:]["s"]) == cells * letters


def test_memory_mapped_batches_are_read_in_place(tmp_path):
    """A row of a file costs no more than that row: the file is not read as a whole."""
    path = os.path.join(tmp_path, "big.arrow")
    table = pa.table({"s": ["x" * 1_000_000] * 40, "n": list(range(40))})
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    del table
    before = pa.total_allocated_bytes()
    dataset = Dataset.from_file(path)
    assert dataset[7]["n"] == 7
    assert dataset.select([3, 1])["n"][:] == [3, 1]
    assert pa.total_allocated_bytes() - before < 1_000_000
