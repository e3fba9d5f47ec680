"""Decoded data that does not fit into memory: Arrow on disk, memory-mapped.

The file is unlinked from the start, so its space is freed when the process ends, in whatever way.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO
from weakref import WeakSet

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.atomic.private import make_private
from crucible_datasets.tables.budget import BUDGET

_WRITE_BYTES = 32 << 20
_LEAST_TOUCHED = 64 << 20
_mappings: WeakSet[mmap.mmap] = WeakSet()
_touched = 0


def spilled(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """The same rows over a memory-mapped file, written batch by batch."""
    with nameless_file() as file:
        with pa.ipc.new_stream(file, schema) as writer:
            for batch in _joined(batches):
                writer.write_batch(batch)
        file.flush()
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    _mappings.add(mapping)
    return pa.ipc.open_stream(pa.py_buffer(mapping)).read_all()


def touched(size: int) -> None:
    """Count bytes of spilled data that may now be resident, and release all pages if there are too many.

    Pages that were read count as memory of the process until they are released; then they are read again from the file
    when needed.
    """
    global _touched
    _touched += size
    if _touched > max(BUDGET.limit // 2, _LEAST_TOUCHED):
        _touched = 0
        for mapping in list(_mappings):
            with suppress(AttributeError, ValueError, OSError):  # not available everywhere, nor for closed maps
                mapping.madvise(mmap.MADV_DONTNEED)


def nameless_file() -> IO[bytes]:
    """A new unlinked file, whose space is freed with its last reference."""
    return tempfile.TemporaryFile(dir=spill_folder(), prefix="spill-")


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fewer, larger batches: rows are gathered faster from them."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= _WRITE_BYTES:
            yield pa.concat_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def spill_folder() -> str:
    """The folder for data that exceeds the memory budget."""
    # Not the system's temporary folder, which is often in memory.
    folder = config.SPILL_FOLDER or os.path.join(config.HF_DATASETS_CACHE, "spill")
    make_private(folder)
    return os.fspath(folder)
