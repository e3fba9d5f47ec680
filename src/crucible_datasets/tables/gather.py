"""Collect scattered rows from many record batches.

`take` on a chunked table looks at every chunk again for every call, and is slow for
strings and lists. Two ways are fast, and which one is faster depends on how many of the
wanted rows a batch holds:

- few: slice out each run of rows and concatenate the slices (about 2 µs a run);
- many: take from each batch at once (about 60 µs a batch), concatenate, and put the rows
  into order by one more take.

Long requests are cut into blocks, so that memory stays bounded and the strings of a
block do not outgrow 32-bit offsets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.tables.rows import as_arrow

Indices = npt.NDArray[np.int64]

BLOCK_BYTES = 64 << 20
RUNS_WORTH_A_TAKE = 25


def gather(
    batches: Sequence[pa.RecordBatch], starts: Sequence[int], rows: Indices, columns: Sequence[str] | None = None
) -> list[pa.RecordBatch]:
    """The given rows, in order, as record batches."""
    if not len(rows) or not batches:
        return []
    firsts = np.asarray(starts[:-1], dtype=np.int64)
    block = _block_rows(batches)
    pieces = [_fitting(batches, firsts, rows[at : at + block], columns) for at in range(0, len(rows), block)]
    return [piece for several in pieces for piece in several]


def _block_rows(batches: Sequence[pa.RecordBatch]) -> int:
    """How many rows make a block of about `BLOCK_BYTES`, judging by the first batches."""
    seen = batches[:4]
    row_bytes = sum(batch.nbytes for batch in seen) / sum(len(batch) for batch in seen)
    return max(16, int(BLOCK_BYTES / max(row_bytes, 1)))


def _fitting(
    batches: Sequence[pa.RecordBatch], firsts: Indices, rows: Indices, columns: Sequence[str] | None
) -> list[pa.RecordBatch]:
    """One block, or its halves when a few huge values outgrow the offsets of one array."""
    try:
        return [_collected(batches, firsts, rows, columns)]
    except pa.ArrowInvalid:
        if len(rows) == 1:
            raise
        middle = len(rows) // 2
        first, second = rows[:middle], rows[middle:]
        return _fitting(batches, firsts, first, columns) + _fitting(batches, firsts, second, columns)


def _collected(
    batches: Sequence[pa.RecordBatch], firsts: Indices, rows: Indices, columns: Sequence[str] | None
) -> pa.RecordBatch:
    homes = np.searchsorted(firsts, rows, side="right") - 1
    used = np.unique(homes)
    wanted = {home: batches[home] if columns is None else batches[home].select(columns) for home in used.tolist()}
    if len(used) == 1:
        return wanted[int(used[0])].take(as_arrow(rows - firsts[used[0]]))
    breaks = np.flatnonzero((np.diff(rows) != 1) | (np.diff(homes) != 0)) + 1
    if len(breaks) < len(used) * RUNS_WORTH_A_TAKE:
        return _by_slices(wanted, homes, rows - firsts[homes], breaks)
    return _by_takes(wanted, homes, rows - firsts[homes])


def _by_slices(wanted: dict[int, pa.RecordBatch], homes: Indices, places: Indices, breaks: Indices) -> pa.RecordBatch:
    begins = np.concatenate([[0], breaks])
    lengths = np.diff(np.concatenate([begins, [len(homes)]]))
    runs = zip(homes[begins].tolist(), places[begins].tolist(), lengths.tolist(), strict=True)
    return pa.concat_batches([wanted[home].slice(place, length) for home, place, length in runs])


def _by_takes(wanted: dict[int, pa.RecordBatch], homes: Indices, places: Indices) -> pa.RecordBatch:
    order = np.argsort(homes, kind="stable")
    grouped = places[order]
    ends = np.cumsum(np.bincount(homes, minlength=max(wanted) + 1))
    pieces = [
        batch.take(as_arrow(grouped[(ends[home - 1] if home else 0) : ends[home]])) for home, batch in wanted.items()
    ]
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    return pa.concat_batches(pieces).take(as_arrow(inverse))
