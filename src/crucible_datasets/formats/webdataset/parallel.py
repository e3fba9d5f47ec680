"""Several shards read at the same time, their samples given in the order of the shards."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from crucible_datasets.formats.prefetch import begun
from crucible_datasets.formats.webdataset.contents import MediaFile, Sample

_SAMPLES, _BYTES = 64, 1 << 20
_WAITING = 2  # pieces that wait for each shard


def in_turn(shards: Iterable[Callable[[], Iterator[Sample]]], num_threads: int) -> Generator[Sample]:
    """The samples of all shards, one shard after the other, while threads read the shards that come next.

    A thread stops when some MB of its shard wait, so memory does not grow with the shards.
    """
    to_come = iter(shards)
    reading: deque[Generator[list[Sample]]] = deque()
    with ExitStack() as stack:
        while True:
            for shard in to_come:
                reading.append(begun(_pieces(shard), _WAITING))
                stack.callback(reading[-1].close)
                if len(reading) >= num_threads:
                    break
            if not reading:
                return
            for piece in reading.popleft():
                yield from piece


def _pieces(shard: Callable[[], Iterator[Sample]]) -> Generator[list[Sample]]:
    """Handing over one sample at a time would cost more than reading it."""
    piece: list[Sample] = []
    size = 0
    try:
        for sample in shard():
            piece.append(sample)
            size += sum(map(_size, sample.values()))
            if len(piece) >= _SAMPLES or size >= _BYTES:
                yield piece
                piece, size = [], 0
    except Exception:
        if piece:
            yield piece  # what was whole comes first
        raise
    if piece:
        yield piece


def _size(value: Any) -> int:
    return len(value.bytes) if isinstance(value, MediaFile) else len(value) if isinstance(value, (bytes, str)) else 0
