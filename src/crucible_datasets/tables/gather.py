"""Collect scattered rows from many record batches.

`take` on a chunked table visits every chunk again for every call, and is slow for strings and lists. Which way is
fastest depends on the requested rows:

- in one batch: one `take`;
- in long runs: slice out each run and concatenate the slices (2–4 µs a run);
- scattered: look up the addresses of their values (`tables.addresses`).

Types that cannot be read by address are taken batch by batch, and put into order by another `take`.

Long requests are split into blocks, so that memory is bounded and the strings of a block do not exceed 32-bit offsets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.records import dataclass
from crucible_datasets.tables.addresses import Addresses
from crucible_datasets.tables.rows import as_arrow, inverse

Indices = npt.NDArray[np.int64]

BLOCK_BYTES = 64 << 20
LONG_RUN = 6  # length of runs from which slices are faster


def gather(
    batches: Sequence[pa.RecordBatch],
    starts: Sequence[int],
    rows: Indices,
    columns: Sequence[str] | None = None,
    addresses: Addresses | None = None,
) -> list[pa.RecordBatch]:
    """The given rows, in order, as record batches; `addresses` caches what it learns about the batches."""
    if not len(rows) or not batches:
        return []
    source = Source(batches, np.asarray(starts[:-1], dtype=np.int64), columns, addresses or Addresses(batches))
    block = _block_rows(batches)
    pieces = [_fitting(source, rows[at : at + block]) for at in range(0, len(rows), block)]
    return [piece for several in pieces for piece in several]


@dataclass(frozen=True)
class Source:
    """Where rows are collected from: batches, the first row of each, and the columns."""

    batches: Sequence[pa.RecordBatch]
    firsts: Indices
    columns: Sequence[str] | None
    addresses: Addresses

    def batch(self, home: int) -> pa.RecordBatch:
        """The requested columns of one batch."""
        return self.batches[home] if self.columns is None else self.batches[home].select(self.columns)

    @property
    def schema(self) -> pa.Schema:
        """The requested columns."""
        schema = self.batches[0].schema
        return schema if self.columns is None else pa.schema([schema.field(name) for name in self.columns])


def _block_rows(batches: Sequence[pa.RecordBatch]) -> int:
    """How many rows make a block of about `BLOCK_BYTES`, judging by the first batches."""
    seen = batches[:4]
    row_bytes = sum(batch.nbytes for batch in seen) / sum(len(batch) for batch in seen)
    return max(16, int(BLOCK_BYTES / max(row_bytes, 1)))


def _fitting(source: Source, rows: Indices) -> list[pa.RecordBatch]:
    """One block, or its halves if a few huge values exceed the offsets of one array."""
    try:
        return [_collected(source, rows)]
    except pa.ArrowInvalid:
        if len(rows) == 1:
            raise
        middle = len(rows) // 2
        return _fitting(source, rows[:middle]) + _fitting(source, rows[middle:])


def _collected(source: Source, rows: Indices) -> pa.RecordBatch:
    homes = np.searchsorted(source.firsts, rows, side="right") - 1
    places = rows - source.firsts[homes]
    moves = homes[1:] != homes[:-1]
    if not moves.any():
        return source.batch(int(homes[0])).take(as_arrow(places))
    breaks = np.flatnonzero((np.diff(rows) != 1) | moves) + 1
    if len(breaks) * LONG_RUN < len(rows):
        return _by_slices(source, homes, places, breaks)
    found = source.addresses.collect(source.schema, homes, places)
    return _by_takes(source, homes, places) if found is None else found


def _by_slices(source: Source, homes: Indices, places: Indices, breaks: Indices) -> pa.RecordBatch:
    begins = np.concatenate([[0], breaks])
    lengths = np.diff(np.concatenate([begins, [len(homes)]]))
    wanted = {home: source.batch(home) for home in np.unique(homes).tolist()}
    runs = zip(homes[begins].tolist(), places[begins].tolist(), lengths.tolist(), strict=True)
    return pa.concat_batches([wanted[home].slice(place, length) for home, place, length in runs])


def _by_takes(source: Source, homes: Indices, places: Indices) -> pa.RecordBatch:
    order = np.argsort(homes, kind="stable")
    used, begins = np.unique(homes[order], return_index=True)
    several = zip(used.tolist(), np.split(places[order], begins[1:]), strict=True)
    pieces = [source.batch(home).take(as_arrow(chosen)) for home, chosen in several]
    return pa.concat_batches(pieces).take(as_arrow(inverse(order)))
