"""The rows of a view as tables small enough to hold several of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnLengthError
from crucible_datasets.features import Features
from crucible_datasets.features.embed import embedded, names_files
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View

_BLOCK_BYTES = 16 << 20
_MOST_ROWS = 1 << 17
_MOST_CHUNKS = 8
_FIRST_FILES, _MOST_FILES = 4, 64
_SMALL = 128 << 10  # bytes; smaller chunks are combined


def nbytes(view: View) -> int:
    """About how many bytes the rows of a view take."""
    return int(view.table.nbytes * len(view) / max(view.table.num_rows, 1))


def _row_bytes(view: View) -> float:
    """About how many bytes a row takes."""
    if isinstance(view.table, ArrowTable) and _most_chunks(view.table.table) > _MOST_CHUNKS:
        # For a slice this also counts bytes outside it. But `nbytes` visits every chunk: a fourth of a filter's time.
        return view.table.table.get_total_buffer_size() / max(view.table.num_rows, 1)
    return nbytes(view) / max(len(view), 1)


def blocks(view: View, batch_size: int | None = None, rows: range | None = None) -> Iterator[pa.Table]:
    """Some rows of a view (all by default), as stored, in blocks of `batch_size`; at least one block, perhaps empty."""
    require_batch_size(batch_size)
    wanted = range(len(view)) if rows is None else rows
    row_bytes = _row_bytes(view)
    size = batch_size or _rows_in_block(row_bytes)
    for start in range(wanted.start, max(wanted.stop, wanted.start + 1), size):
        block = range(start, min(start + size, wanted.stop))
        table = view.read(block)
        if len(table) != len(block):
            raise ColumnLengthError(", ".join(view.features), len(table), len(block))
        yield _few_chunks(table, row_bytes)


def blocks_with_files(view: View, rows: range | None = None) -> Iterator[pa.Table]:
    """Like `blocks`, with the content of media files embedded; as few rows at a time as fit into memory."""
    for table in blocks(view, rows=rows):
        if not names_files(table, view.features):
            yield table
            continue
        make = partial(_embedded, table, view.readable)
        yield from (made for _, made in growing(len(table), make))


def _embedded(table: pa.Table, features: Features, rows: range) -> pa.Table:
    return embedded(table.slice(rows.start, len(rows)), features)


def growing(length: int, make: Callable[[range], pa.Table], start: int = 0) -> Iterator[tuple[int, pa.Table]]:
    """The rows from `start` in tables into which `make` embeds files, each with the number of its first row.

    File sizes become known only when the files are read, so tables start short, and stay short for large files.
    """
    count = _FIRST_FILES
    while start < length:
        rows = range(start, min(start + count, length))
        made = make(rows)
        yield start, made
        fitting = int(_BLOCK_BYTES * len(made) / max(made.nbytes, 1))
        start, count = rows.stop, max(1, min(2 * count, fitting, _MOST_FILES))


def require_batch_size(batch_size: int | None) -> None:
    """Raise unless a batch has at least one row."""
    if batch_size is not None and batch_size < 1:
        raise ArgumentError("batch_size", batch_size, "expected at least 1.")


def _rows_in_block(row_bytes: float) -> int:
    return max(1, min(_MOST_ROWS, int(_BLOCK_BYTES / max(row_bytes, 1e-9))))


def _few_chunks(table: pa.Table, row_bytes: float) -> pa.Table:
    # Writers work chunk by chunk, and a dataset of many small batches would be written as many small batches.
    if not _are_small(_most_chunks(table), len(table) * row_bytes):
        return table
    # A block is short-lived. The system allocator reuses memory for it, whereas Arrow's pools take fresh pages.
    return table.combine_chunks(memory_pool=pa.system_memory_pool())


def is_in_small_chunks(table: pa.Table) -> bool:
    """Whether a table would be written in fewer chunks than it has."""
    return _are_small(_most_chunks(table), table.get_total_buffer_size())


def _are_small(chunks: int, size: float) -> bool:
    return chunks > _MOST_CHUNKS and size < chunks * _SMALL


def _most_chunks(table: pa.Table) -> int:
    return max((column.num_chunks for column in table.columns), default=0)
