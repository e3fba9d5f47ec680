"""A lower bound of the time: the same calls in bare pyarrow and numpy.

A replacement for a library with the part of `Dataset` that some cases need, without features, fingerprints and
formats. It is a hand-written estimate: the report notes if a library is faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import read_table

BLOCK = 1_000  # rows gathered or decoded at a time
PART = 4_000  # rows encoded at a time


def as_batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """One array per column."""
    return pa.RecordBatch.from_pydict({name: [row[name] for row in rows] for name in rows[0]})


def as_numpy(column: pa.Array) -> np.ndarray:
    """Texts as fixed-width arrays, as both libraries return them; padding takes most of the time."""
    return np.array(column.to_pylist()) if pa.types.is_string(column.type) else column.to_numpy(zero_copy_only=False)


class Dataset:
    """A table and, after a shuffle, the order of its rows."""

    def __init__(self, table: pa.Table, order: np.ndarray | None = None, kind: str = "") -> None:
        self.table = table
        self.order = order
        self.columns = dict(zip(table.column_names, table.columns, strict=True))
        self.kind = kind

    @classmethod
    def from_file(cls, path: str) -> Dataset:
        """Memory-map the file."""
        return cls(read_table(Path(path)))

    @classmethod
    def from_list(cls, rows: list[dict[str, Any]]) -> Dataset:
        """From columns, a few thousand rows at a time.

        One array of all 100,000 chat rows takes three times as long, since builders grow by copying.
        """
        parts = (rows[start : start + PART] for start in range(0, len(rows), PART))
        return cls(pa.Table.from_batches([as_batch(part) for part in parts]))

    @classmethod
    def from_generator(cls, function: Any, gen_kwargs: dict[str, Any]) -> Dataset:
        """The same, without keeping the rows.

        Half of the time may be page faults of new memory: with mimalloc, pyarrow's default, they took 0.4–0.7 s of
        0.8–1.1 s on chat rows; with jemalloc or the system allocator 0.1 s.
        """
        rows, batches = function(**gen_kwargs), []
        while part := list(islice(rows, PART)):
            batches.append(as_batch(part))
        return cls(pa.Table.from_batches(batches))

    def __len__(self) -> int:
        return len(self.table)

    def shuffle(self, seed: int) -> Dataset:
        """A random order; the table is made contiguous so that gathering is cheap."""
        order = np.random.default_rng(seed).permutation(len(self))
        return Dataset(self.table.combine_chunks(), order)

    def select(self, rows: range) -> Dataset:
        """A part of the order."""
        order = np.arange(len(self)) if self.order is None else self.order
        return Dataset(self.table, order[rows.start : rows.stop])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Blocks of rows, gathered if there is an order."""
        if self.order is None:
            yield from self.table.to_batches(BLOCK)
            return
        whole = self.table.to_batches()[0]
        for start in range(0, len(self.order), BLOCK):
            yield whole.take(pa.array(self.order[start : start + BLOCK]))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            yield from batch.to_pylist()

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, str):
            return self.table[key].to_pylist()
        row = key if self.order is None else int(self.order[key])
        return {name: column[row].as_py() for name, column in self.columns.items()}

    def to_list(self) -> list[dict[str, Any]]:
        """Every row."""
        return list(self)

    def with_format(self, kind: str) -> Dataset:
        """The same with another format."""
        return Dataset(self.table, self.order, kind)

    def iter(self, size: int) -> Iterator[dict[str, Any]]:
        """Columns of each batch, as lists or as arrays."""
        for batch in self.table.to_batches(size):
            if self.kind == "numpy":
                names, columns = batch.schema.names, batch.columns
                yield dict(zip(names, map(as_numpy, columns), strict=True))
            else:
                yield batch.to_pydict()

    def train_test_split(self, test_size: float, seed: int, stratify_by_column: str) -> Any:
        """Shuffle, sort by class, and take the same share of each."""
        codes = self.table[stratify_by_column].to_numpy()
        order = np.random.default_rng(seed).permutation(len(self))
        order = order[np.argsort(codes[order], kind="stable")]
        ends = np.cumsum(np.bincount(codes))
        begins = np.concatenate(([0], ends[:-1]))
        sizes = ((ends - begins) * test_size).astype(int)
        parts = [order[a : a + size] for a, size in zip(begins, sizes, strict=True)]
        return {"test": Dataset(self.table, np.concatenate(parts))}

    def sort(self, column: str) -> Dataset:
        """The sorted order."""
        return Dataset(self.table, pc.sort_indices(self.table[column]).to_numpy())

    def unique(self, column: str) -> Any:
        """The distinct values."""
        return pc.unique(self.table[column]).to_pylist()

    def to_pandas(self) -> Any:
        """Arrow's own conversion."""
        return self.table.to_pandas()
