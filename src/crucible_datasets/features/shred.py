"""Python values → Arrow arrays that give the same values back, or an error.

Rows are taken apart: lists into lengths and items, dicts into one column per key, until plain values are left, which
Arrow converts in one call per column. That is faster than Arrow's own conversion of nested values, and exact: Arrow
would pad objects whose keys differ with nulls, read bytes beside text as bytes, True beside 0.5 as 1.0, a time beside a
date as a date, and cut off whatever a given type cannot hold.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from operator import is_, itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.dtypes import is_bytes, is_list, is_text
from crucible_datasets.features.leaves import avoids_pandas, is_missing, is_pandas, leaves_of, only_texts

_PIECE_ROWS = 8000
_SYSTEM = pa.system_memory_pool()
_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError)
_FIRST_DAY = -719_162  # of year 1, counted from 1970
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}  # nanoseconds do not reach back that far
# The first class that a type is derived from; subclasses come before their parents.
_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("object", (dict,)),
    ("list", (list, tuple, set, frozenset, range)),
    ("bool", (bool, np.bool_)),
    ("integer", (int, np.integer)),
    ("float", (float, np.floating)),
    ("text", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("timestamp", (dt.datetime,)),
    ("date", (dt.date,)),
    ("time", (dt.time,)),
    ("duration", (dt.timedelta,)),
    ("decimal", (decimal.Decimal,)),
)
_COMMON = ({"integer", "float"}, {"integer", "decimal"}, {"date", "timestamp"})
_ACCEPTED: tuple[tuple[Callable[[pa.DataType], bool], set[str]], ...] = (
    (pa.types.is_boolean, {"bool"}),
    (pa.types.is_integer, {"integer"}),
    (pa.types.is_floating, {"integer", "float"}),
    (is_text, {"text"}),
    (is_bytes, {"bytes", "text"}),
    (pa.types.is_fixed_size_binary, {"bytes"}),
    (pa.types.is_decimal, {"integer", "decimal"}),
    (pa.types.is_date32, {"date"}),
    (pa.types.is_date64, {"date"}),
    (pa.types.is_timestamp, {"timestamp", "date"}),
    (pa.types.is_time, {"time"}),
    (pa.types.is_duration, {"duration"}),
)


class DifferentKeysError(TypeError):
    """Dicts of one column have different keys, or none."""


class _TooLongError(Exception):
    """The items of some lists exceed what one array can hold."""


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
    arrow = array.type
    if isinstance(array, pa.ChunkedArray):
        return any(map(_has_first_day, array.chunks)) if pa.types.is_nested(arrow) or _is_day(arrow) else False
    if is_list(arrow):
        return _has_first_day(array.flatten())
    if pa.types.is_struct(arrow):
        return any(_has_first_day(pc.struct_field(array, [index])) for index in range(arrow.num_fields))
    first = pc.min(array).value if _is_day(arrow) else None
    return first is not None and first <= _first_day(arrow)


def _is_day(arrow: pa.DataType) -> bool:
    return pa.types.is_date(arrow) or (pa.types.is_timestamp(arrow) and arrow.unit in _PER_DAY)


def _first_day(arrow: pa.DataType) -> int:
    if pa.types.is_date(arrow):
        return _FIRST_DAY if pa.types.is_date32(arrow) else _FIRST_DAY * _PER_DAY["ms"]
    return _FIRST_DAY * _PER_DAY[arrow.unit]


def _array_of(values: Any, arrow: pa.DataType | None) -> pa.Array | pa.ChunkedArray:
    """Convert many values in chunks.

    One array would grow by being copied, and large fresh blocks cost Arrow's own allocator more than the system's
    (100k chat rows: 1.8 s → 0.5 s).
    """
    if not isinstance(values, list):
        values = list(values)
    if len(values) <= _PIECE_ROWS:
        try:
            return _convert(values, arrow)
        except _TooLongError:
            if len(values) == 1:
                raise pa.ArrowInvalid("The items of one value take more than 2 GiB.") from None
            middle = len(values) // 2
            arrays = [_array_of(half, arrow) for half in (values[:middle], values[middle:])]
    else:
        starts = range(0, len(values), _PIECE_ROWS)
        arrays = [_array_of(values[start : start + _PIECE_ROWS], arrow) for start in starts]
    if any(array.type != arrays[0].type for array in arrays):
        return _convert_at_once(values, arrow)
    return pa.chunked_array([chunk for array in arrays for chunk in getattr(array, "chunks", [array])])


def _convert_at_once(values: list[Any], arrow: pa.DataType | None) -> pa.Array | pa.ChunkedArray:
    try:
        return _convert(values, arrow)
    except _TooLongError:
        raise pa.ArrowInvalid("The items of the values take more than 2 GiB and differ in type.") from None


def _convert(values: list[Any], arrow: pa.DataType | None = None) -> pa.Array | pa.ChunkedArray:
    if values and type(values[0]) is str and arrow in (None, pa.string()) and avoids_pandas():
        texts = only_texts(values)  # before the types of all values are looked up, which takes as long
        if texts is not None:
            return texts
    types = set(map(type, values))
    has_nulls = type(None) in types
    types.discard(type(None))
    if not types:
        return pa.nulls(len(values), arrow)
    families = set(map(_family, types))
    if families == {"object"} and (arrow is None or pa.types.is_struct(arrow)):
        return _convert_objects(values, arrow, has_nulls)
    if families == {"list"} and (arrow is None or is_list(arrow)):
        return _convert_lists(values, arrow, has_nulls)
    if None in families and (arrow is None or not pa.types.is_nested(arrow)):
        return _by_arrow(values, arrow)  # arrays, media and other objects: Arrow knows some of them
    _require_common(families, arrow)
    if families & {"timestamp", "time", "duration"} or (arrow is not None and pa.types.is_timestamp(arrow)):
        return _convert_times(values, families, arrow)
    return _convert_leaves(values, families, arrow)


def _family(python: type) -> str | None:
    return next((family for family, classes in _FAMILIES if issubclass(python, classes)), None)


def _require_common(families: set[str | None], arrow: pa.DataType | None) -> None:
    """Raise unless values of these families share a type that gives them back."""
    if arrow is None:
        is_accepted = len(families) == 1 or families in _COMMON
    else:
        is_accepted = any(check(arrow) and families <= accepted for check, accepted in _ACCEPTED)
    if not is_accepted:
        names = " and ".join(sorted(map(str, families)))
        raise pa.ArrowInvalid(f"{names} values cannot be stored as {arrow}" if arrow else f"{names} share no type")


def _by_arrow(values: list[Any], arrow: pa.DataType | None) -> pa.Array | pa.ChunkedArray:
    # Where Arrow infers a type it may pad dicts inside of arrays and other containers.
    array = pa.array(values, type=arrow, memory_pool=_SYSTEM)
    if arrow is None and pa.types.is_nested(array.type) and _has_structs(array.type):
        raise pa.ArrowInvalid("objects inside of arrays")
    if arrow is None and isinstance(array.type, pa.BaseExtensionType):
        raise pa.ArrowInvalid(f"{array.type} has no counterpart among the feature types")  # a UUID would become bytes
    return array


def _has_structs(arrow: pa.DataType) -> bool:
    return pa.types.is_struct(arrow) or (is_list(arrow) and _has_structs(arrow.value_type))


def _convert_leaves(values: list[Any], families: set[str | None], arrow: pa.DataType | None) -> Any:
    array = leaves_of(values, arrow) if avoids_pandas() else None
    if array is not None:
        return array
    if arrow is not None and pa.types.is_floating(arrow) and arrow != pa.float64():
        return _as_narrow_floats(values, families, arrow)
    try:
        return pa.array(values, type=arrow, memory_pool=_SYSTEM)
    except OverflowError:
        if arrow is not None or families != {"integer"}:
            raise
        return pa.array(values, pa.uint64())


def _as_narrow_floats(values: list[Any], families: set[str | None], arrow: pa.DataType) -> pa.Array:
    """Fractions are rounded to the type; integers must fit it exactly."""
    array = pa.array(values, pa.float64())
    narrow = array.cast(arrow)
    if "integer" in families:
        for value, number in zip(values, narrow.cast(pa.float64()).to_pylist(), strict=True):
            if value != number and _family(type(value)) == "integer":
                raise pa.ArrowInvalid(f"{arrow} cannot hold {value} exactly")
    if not pc.is_inf(narrow).equals(pc.is_inf(array)):
        raise pa.ArrowInvalid(f"a value is too big for {arrow}")
    return narrow


def _convert_times(values: list[Any], families: set[str | None], arrow: pa.DataType | None) -> pa.Array:
    """Times with a zone or without, as their type says; dates beside them as the midnights they begin with."""
    if "date" in families:
        midnight = dt.time()
        values = [dt.datetime.combine(day, midnight) if _family(type(day)) == "date" else day for day in values]
    zones = {False} if "duration" in families else {value.tzinfo is not None for value in values if value is not None}
    has_zone = (zones == {True} and "time" not in families) if arrow is None else getattr(arrow, "tz", None) is not None
    if zones != {has_zone}:
        raise pa.ArrowInvalid("times with and without a zone share no type")
    fine = _with_unit(pa.array(values), "ns" if any(map(_nanoseconds, values)) else "us")
    array = pa.array(values, fine)
    return array if arrow is None else array.cast(arrow)


def _with_unit(array: pa.Array, unit: str) -> pa.DataType:
    arrow = array.type
    if pa.types.is_timestamp(arrow):
        return pa.timestamp(unit, arrow.tz)
    return pa.duration(unit) if pa.types.is_duration(arrow) else pa.time64(unit)


def _nanoseconds(value: Any) -> int:
    """Beyond microseconds, which only the times of pandas have."""
    return getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0)


def _convert_lists(values: list[Any], arrow: pa.DataType | None, has_nulls: bool) -> pa.Array:
    # No array is cast to the type: Arrow 26 loses the slots of fixed-size lists of nulls.
    if arrow is not None and pa.types.is_fixed_size_list(arrow):
        return _convert_fixed_size_lists(values, arrow, has_nulls)
    lengths: Iterable[int] = (0 if value is None else len(value) for value in values) if has_nulls else map(len, values)
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=len(values)), out=offsets[1:])
    items = list(chain.from_iterable(filter(None, values) if has_nulls else values))
    array = _as_one(_convert(items, None if arrow is None else arrow.value_type))
    mask = _mask(values) if has_nulls else None
    if arrow is not None and pa.types.is_large_list(arrow):
        return pa.LargeListArray.from_arrays(pa.array(offsets), array, type=arrow, mask=mask)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise _TooLongError
    starts = pa.Array.from_buffers(pa.int32(), len(offsets), [None, pa.py_buffer(offsets.astype(np.int32))])
    return pa.ListArray.from_arrays(starts, array, mask=mask)


def _convert_fixed_size_lists(values: list[Any], arrow: pa.DataType, has_nulls: bool) -> pa.Array:
    size = arrow.list_size
    if any(value is not None and len(value) != size for value in values):
        raise pa.ArrowInvalid(f"not every list has {size} items")
    empty = [None] * size  # a null list has slots as well
    items = list(chain.from_iterable(empty if value is None else value for value in values))
    array = _as_one(_convert(items, arrow.value_type))
    return pa.FixedSizeListArray.from_arrays(array, type=arrow, mask=_mask(values) if has_nulls else None)


def _convert_objects(values: list[Any], arrow: pa.DataType | None, has_nulls: bool) -> pa.Array:
    """Dicts with the same keys; where the fields are given, a missing key is null."""
    names = list(next(value for value in values if value is not None)) if arrow is None else [one.name for one in arrow]
    if arrow is not None and not names and not any(values):
        return pa.array(values, arrow)
    if not names:
        raise DifferentKeysError("dicts without keys")
    if (name := next((name for name in names if not isinstance(name, str)), None)) is not None:
        raise DifferentKeysError(f"the key {name!r} of an object is no text")
    objects = [value for value in values if value is not None] if has_nulls else values
    columns = _columns(objects, names, arrow is not None)
    if has_nulls:
        rows = np.cumsum([value is not None for value in values]) - 1
        columns = [[None if values[at] is None else column[row] for at, row in enumerate(rows)] for column in columns]
    types: Sequence[Any] = [None] * len(names) if arrow is None else [field.type for field in arrow]
    arrays = [_as_one(_convert(column, kind)) for column, kind in zip(columns, types, strict=True)]
    return pa.StructArray.from_arrays(arrays, names, mask=_mask(values) if has_nulls else None)


def _columns(objects: list[dict[str, Any]], names: list[str], is_given: bool) -> list[list[Any]]:
    if set(map(len, objects)) == {len(names)}:
        try:
            return [list(map(itemgetter(name), objects)) for name in names]
        except KeyError:
            pass
    if not is_given:
        raise DifferentKeysError("dicts with different keys")
    extra = {key for value in objects for key in value}.difference(names)
    if extra:
        raise TypeError(f"the type has no field for the keys {sorted(map(str, extra))}")
    return [[value.get(name) for value in objects] for name in names]


def _mask(values: list[Any]) -> pa.Array:
    return pa.array(np.fromiter(map(is_, values, repeat(None)), dtype=np.bool_, count=len(values)))


def _as_one(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        raise _TooLongError
    return array
