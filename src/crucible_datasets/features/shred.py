"""Python values → Arrow arrays, column by column.

Arrow looks up every key of every dict separately. For rows of one shape (the usual case: chat messages, records) it is
faster to take them apart first: lists into lengths and items, dicts into one column per key, until plain values are
left, which Arrow converts in one call per column.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.leaves import avoids_pandas, is_missing, is_pandas, leaves_of

_PIECE_ROWS = 8000
_SYSTEM = pa.system_memory_pool()
_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
_FIRST_DAY = -719_162  # of year 1, counted from 1970
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}  # nanoseconds do not reach back that far


def array_of(values: Any, arrow: pa.DataType | None = None) -> pa.Array | pa.ChunkedArray:
    """Values as Arrow, of the given type or the inferred one; pandas' missing values become null."""
    try:
        array = _array_of(values, arrow)
    except _REFUSALS:
        if not _misses_some(values):
            raise
    else:
        # Arrow converts NaT to the first day of year 1, or refuses it.
        if avoids_pandas() or not _has_first_day(array) or not _misses_some(values):
            return array
    return _array_of(without_missing(values), arrow)


def _misses_some(values: Any) -> bool:
    """Whether anything is missing, at any depth."""
    if avoids_pandas():
        return False  # without pandas nothing can be
    items = values.values() if isinstance(values, dict) else values if _is_several(values) else ()
    return is_missing(values) or any(map(_misses_some, items))


def without_missing(value: Any) -> Any:
    """A value with None for what is missing, at any depth."""
    if isinstance(value, dict):
        return {key: without_missing(item) for key, item in value.items()}
    if _is_several(value):
        return [without_missing(item) for item in value]
    return None if is_missing(value) else value


def _is_several(value: Any) -> bool:
    """Whether a value is a sequence in which something can be missing."""
    if isinstance(value, (list, tuple)):
        return True
    if not hasattr(value, "dtype") or not hasattr(value, "__iter__"):
        return False
    return is_pandas(value) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")


def _has_first_day(array: pa.Array | pa.ChunkedArray) -> bool:
    """Whether there is a date on or before the first day of Python's calendar, probably from NaT."""
    kind = array.type
    if isinstance(array, pa.ChunkedArray):
        return any(map(_has_first_day, array.chunks)) if pa.types.is_nested(kind) or _is_day(kind) else False
    if is_list(kind):
        return _has_first_day(array.flatten())
    if pa.types.is_struct(kind):
        return any(_has_first_day(pc.struct_field(array, [place])) for place in range(kind.num_fields))
    first = pc.min(array).value if _is_day(kind) else None
    return first is not None and first <= _first_day(kind)


def _is_day(kind: pa.DataType) -> bool:
    return pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit in _PER_DAY)


def _first_day(kind: pa.DataType) -> int:
    if pa.types.is_date(kind):
        return _FIRST_DAY if pa.types.is_date32(kind) else _FIRST_DAY * _PER_DAY["ms"]
    return _FIRST_DAY * _PER_DAY[kind.unit]


def _array_of(values: list[Any], arrow: pa.DataType | None) -> pa.Array | pa.ChunkedArray:
    """Convert many values in chunks.

    One array would grow by being copied, and large fresh blocks cost Arrow's own allocator more than the system's
    (100k chat rows: 1.8 s → 0.5 s).
    """
    if len(values) <= _PIECE_ROWS:
        return _taken_apart(values) if arrow is None else _converted(values, arrow, None)
    parts = [values[start : start + _PIECE_ROWS] for start in range(0, len(values), _PIECE_ROWS)]
    pieces = [_taken_apart(part) if arrow is None else _converted(part, arrow) for part in parts]
    if any(piece.type != pieces[0].type for piece in pieces):
        return pa.array(values, type=arrow)
    return pa.chunked_array([chunk for piece in pieces for chunk in getattr(piece, "chunks", [piece])])


def _converted(
    values: list[Any], arrow: pa.DataType | None = None, pool: pa.MemoryPool | None = _SYSTEM
) -> pa.Array | pa.ChunkedArray:
    found = leaves_of(values, arrow) if avoids_pandas() else None
    if found is not None:
        return found
    return pa.array(values, type=arrow, memory_pool=pool)


def _shredded(values: list[Any], nested: bool = True) -> pa.Array | pa.ChunkedArray:
    # Checking all values costs as much as converting them, so the first one decides whether to try.
    first = type(values[0]) if values else None
    if first in _TAKEN_APART and set(map(type, values)) == {first}:
        return _TAKEN_APART[first](values)
    array = _converted(values)
    if nested and pa.types.is_binary(array.type) and str in set(map(type, values)):
        raise _LeftToArrowError  # which type strings and bytes share depends on how deep they are
    return array


class _LeftToArrowError(Exception):
    """Values that Arrow would interpret differently if taken apart."""


def _taken_apart(values: list[Any]) -> pa.Array | pa.ChunkedArray:
    try:
        return _shredded(values, nested=False)
    except _LeftToArrowError:
        return _converted(values)


def _lists(values: list[list[Any]]) -> pa.Array | pa.ChunkedArray:
    items = _shredded(list(chain.from_iterable(values)))
    if isinstance(items, pa.ChunkedArray):
        return _converted(values)
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, values), dtype=np.int32, count=len(values)), out=offsets[1:])
    return pa.ListArray.from_arrays(
        pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets)]), items
    )


def _records(values: list[dict[Any, Any]]) -> pa.Array | pa.ChunkedArray:
    """Dicts with the same keys; others are left to Arrow, which merges them."""
    names = list(values[0])
    if set(map(len, values)) != {len(names)} or not names or not all(isinstance(name, str) for name in names):
        return _converted(values)
    try:
        columns = [_shredded(list(map(itemgetter(name), values))) for name in names]
    except KeyError:
        return _converted(values)
    if any(isinstance(column, pa.ChunkedArray) for column in columns):
        return _converted(values)
    return pa.StructArray.from_arrays(columns, names)


_TAKEN_APART: dict[type, Callable[[list[Any]], pa.Array | pa.ChunkedArray]] = {list: _lists, dict: _records}
