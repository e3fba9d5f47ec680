"""Several shards read concurrently; their samples are yielded in the order of the shards."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from crucible_datasets.formats.prefetch import begun
from crucible_datasets.formats.webdataset.contents import MediaFile, Sample

_SAMPLES, _BYTES = 64, 1 << 20
_BUFFERED = 2  # buffered lists of samples per shard


def in_turn(shards: Iterable[Callable[[], Iterator[Sample]]], num_threads: int) -> Generator[Sample]:
    """The samples of all shards in order, while threads read the next shards.

    A thread pauses when some MB of its shard are buffered, so memory does not grow with the size of shards.
    """
    to_come = iter(shards)
    reading: deque[Generator[list[Sample]]] = deque()
    with ExitStack() as stack:
        while True:
            for shard in to_come:
                reading.append(begun(_pieces(shard), _BUFFERED))
                stack.callback(reading[-1].close)
                if len(reading) >= num_threads:
                    break
            if not reading:
                return
            for piece in reading.popleft():
                yield from piece


def _pieces(shard: Callable[[], Iterator[Sample]]) -> Generator[list[Sample]]:
    """Lists of samples: passing single samples between threads would cost more than reading them."""
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
            yield piece  # complete samples before the error
        raise
    if piece:
        yield piece


def _size(value: Any) -> int:
    return len(value.bytes) if isinstance(value, MediaFile) else len(value) if isinstance(value, (bytes, str)) else 0
