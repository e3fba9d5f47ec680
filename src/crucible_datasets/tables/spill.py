"""Decoded data that memory has no room for: Arrow on the disk, memory-mapped.

The file has no name, or loses it at once: when the process ends, however it ends, the
space is free again and there is nothing to clean up.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator

import pyarrow as pa

from crucible_datasets import config

_WRITE_BYTES = 32 << 20


def spilled(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """The same rows over a memory-mapped file. Takes one batch after the other."""
    with tempfile.TemporaryFile(dir=_folder(), prefix="spill-") as file:
        with pa.ipc.new_stream(file, schema) as writer:
            for batch in _joined(batches):
                writer.write_batch(batch)
        file.flush()
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_stream(pa.py_buffer(mapping)).read_all()


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


def _folder() -> str:
    # Not the system's temporary folder, which often lies in memory.
    folder = config.SPILL_FOLDER or os.path.join(config.HF_DATASETS_CACHE, "spill")
    os.makedirs(folder, exist_ok=True)
    return os.fspath(folder)
