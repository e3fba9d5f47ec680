"""Plain Python objects: a row is a dict, a batch a dict of lists."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import decoded, in_turn, is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.forking import Lock
from crucible_datasets.outputs.base import Output

_DECODED_AT_ONCE = 256
_MEDIA_AT_ONCE = 64
_OBJECTS_PER_COLLECTION = 20_000  # about as many lists and dicts as 2,000 conversations have


@contextmanager
def collector_paused() -> Iterator[None]:
    """Disable garbage collection while many values without cycles are created.

    The collector would traverse all of them repeatedly: without it, 100k chat rows become a list in 0.46 s instead of
    1.07 s. With overlapping threads it may be enabled again too early, which does no harm.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def paused_for(*kinds: pa.DataType) -> AbstractContextManager[None]:
    """Disable garbage collection while values of these types are created, unless they are numbers and strings only."""
    return collector_paused() if any(map(pa.types.is_nested, kinds)) else nullcontext()


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Collect garbage less often while users' code creates or receives rows, most of which are short-lived.

    Otherwise the collector traverses them several times: a third of the time that 100k chat rows take.
    """
    with _collecting.lock:
        if not _collecting.users:
            _collecting.usual = usual = gc.get_threshold()
            if usual[0]:  # 0 turns it off
                gc.set_threshold(max(usual[0], _OBJECTS_PER_COLLECTION), *usual[1:])
        _collecting.users += 1
    try:
        yield
    finally:
        with _collecting.lock:
            _collecting.users -= 1
            if not _collecting.users:
                gc.set_threshold(*_collecting.usual)


class _Collecting:
    """How many callers want garbage to be collected rarely; the last one restores what the first one found."""

    def __init__(self) -> None:
        self.lock, self.users, self.usual = Lock(), 0, gc.get_threshold()


_collecting = _Collecting()


class PythonFormatter:
    """Plain Python values, with media decoded."""

    def row(self, table: pa.Table, features: Features) -> dict[str, Any]:
        return next(self.rows(table, features))

    def rows(self, table: pa.Table, features: Features) -> Iterator[dict[str, Any]]:
        special = {name: feature for name, feature in features.items() if decoder(feature)}
        # Few rows at a time: decoding is fastest while they fit the processor's cache, and media are large.
        size = _MEDIA_AT_ONCE if any(map(is_media, special.values())) else _DECODED_AT_ONCE
        lists = (batch.to_pylist() for batch in table.to_batches(max_chunksize=size))
        return chain.from_iterable((_decoded(rows, special) for rows in lists) if special else lists)

    def column(self, column: pa.ChunkedArray, feature: Any) -> list[Any]:
        with paused_for(column.type):
            values = column.to_pylist()
        return decoded(values, feature, column._name) if decoder(feature) else values

    def values(self, column: pa.ChunkedArray, feature: Any) -> Iterator[Any]:
        """The values of a column one by one, with media decoded a few at a time."""
        return in_turn(column.to_pylist(), feature) if is_media(feature) else iter(self.column(column, feature))

    def batch(self, table: pa.Table, features: Features) -> dict[str, list[Any]]:
        pairs = zip(features.items(), table.columns, strict=True)
        return {name: self.column(column, feature) for (name, feature), column in pairs}


def _decoded(rows: list[dict[str, Any]], special: dict[str, Any]) -> Iterator[dict[str, Any]]:
    columns = [in_turn([row[name] for row in rows], feature, name) for name, feature in special.items()]
    rows.reverse()
    for values in zip(*columns, strict=True):
        row = rows.pop()  # so that nothing decoded is kept here
        row.update(zip(special, values, strict=True))
        yield row


OUTPUT = Output("python", PythonFormatter)
