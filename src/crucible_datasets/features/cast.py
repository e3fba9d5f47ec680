"""Columns of one feature → columns of another.

Null casts to anything, numbers and times convert as in Arrow unless a value would change, text is parsed exactly
(`features.scalars`), any primitive casts to text, structs are matched by field name, and kinds of lists convert into
each other. `features.unite` finds the common feature of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import CastError, DatasetsError
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.dtypes import is_bytes, is_list, is_text
from crucible_datasets.features.extension import check_shape
from crucible_datasets.features.scalars import parse_texts
from crucible_datasets.features.storage import feature_of, storage_type
from crucible_datasets.features.translation import Translation
from crucible_datasets.features.types import Json, LargeList, List, any_leaf

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def cast_column(column: pa.ChunkedArray, feature: Any, name: str | None = None) -> pa.ChunkedArray:
    """A stored column as storage of `feature`."""
    target = storage_type(feature)
    if column.type == target and not any_leaf(feature, (ClassLabel, Json, ArrayXD)):
        return column
    chunks = _one_chunk(column) if any_leaf(feature, (Json,)) else column.chunks
    arrays: list[pa.Array] = []
    try:
        arrays.extend(_cast(chunk, feature) for chunk in chunks)
    except CastError as error:
        is_own = error.target in (str(feature), str(target)) and error.source in ("string", str(column.type))
        reason = error.reason if is_own and error.reason else str(error)
        row = None if error.row is None or pa.types.is_nested(target) else error.row + sum(map(len, arrays))
        raise CastError(name, str(column.type), str(feature), reason, row) from error
    except DatasetsError:
        raise  # some are Arrow errors too
    except pa.ArrowException as error:
        raise CastError(name, str(column.type), str(feature), str(error)) from error
    return pa.chunked_array(arrays, type=target)


def _one_chunk(column: pa.ChunkedArray) -> list[pa.Array]:
    """All rows at once, so that whether text is JSON is decided for the column; beyond 2 GiB chunk by chunk."""
    try:
        joined = column.combine_chunks()
    except pa.ArrowInvalid:
        return list(column.chunks)
    return list(joined.chunks) if isinstance(joined, pa.ChunkedArray) else [joined]


def _cast(array: pa.Array, feature: Any) -> pa.Array:
    target = storage_type(feature)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if isinstance(feature, dict):
        return _cast_struct(array, feature, target)
    if isinstance(feature, (List, LargeList)):
        return _cast_list(array, feature, target)
    if isinstance(feature, Json):
        return feature.cast_storage(array).storage
    if hasattr(feature, "cast_storage"):
        return feature.cast_storage(array)
    if isinstance(feature, ArrayXD):
        lists = _cast(array, feature_of(target))
        check_shape(lists, feature.shape)
        return lists
    if array.type == target:
        return array
    if isinstance(feature, Translation) and {field.name for field in array.type} != set(feature.languages):
        raise CastError(None, str(array.type), str(feature), "the languages differ")
    if pa.types.is_nested(target):
        return _cast(array, feature_of(target))
    return _cast_primitive(array, target)


def _cast_primitive(array: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_nested(array.type):
        raise CastError(None, str(array.type), str(target))
    if is_text(array.type) and not (is_text(target) or is_bytes(target)):
        return parse_texts(array.cast(pa.large_string()), target)
    if pa.types.is_decimal(array.type) and is_text(target):
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], target)
    if pa.types.is_floating(array.type) and pa.types.is_decimal(target):
        return parse_texts(array.cast(pa.large_string()), target)  # 0.1 is the decimal number that it is written as
    cast = array.cast(target)
    if pa.types.is_float16(target) and pa.types.is_integer(array.type):
        _require_same(array, pc.equal(cast.cast(pa.float64()), array.cast(pa.float64(), safe=False)), target)
    elif pa.types.is_floating(target) and pa.types.is_floating(array.type):
        _require_same(array, pc.equal(pc.is_inf(cast), pc.is_inf(array)), target)
    elif pa.types.is_boolean(target) or (pa.types.is_date(target) and pa.types.is_timestamp(array.type)):
        _require_same(array, pc.equal(cast.cast(array.type), array), target)
    elif pa.types.is_integer(array.type) and (pa.types.is_date64(target) or pa.types.is_time(target)):
        _require_same(array, _are_whole(cast.cast(pa.int64()), target), target)
    return cast


def _are_whole(numbers: pa.Array, target: pa.DataType) -> pa.Array:
    """Whether numbers are whole days, for dates, or within one day, for times of day."""
    day = _PER_DAY["ms" if pa.types.is_date64(target) else target.unit]
    if pa.types.is_date64(target):
        return pc.equal(pc.multiply(pc.divide(numbers, day), day), numbers)
    return pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, day))


def _require_same(array: pa.Array, is_same: pa.Array, target: pa.DataType) -> None:
    """Raise unless all values are the same after a cast."""
    row = pc.index(is_same, False).as_py()
    if row >= 0:
        raise CastError(None, str(array.type), str(target), f"{array[row]} would change.", row)


def _cast_struct(array: pa.Array, feature: dict[str, Any], target: pa.DataType) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise CastError(None, str(array.type), str(feature))
    present = {field.name for field in array.type}
    if not present <= set(feature):
        raise CastError(None, str(array.type), str(feature), f"fields {sorted(present - set(feature))} would be lost")
    if not feature:
        return array
    # `struct_field` masks values under null structs, which need not be castable.
    kids = [
        _cast(pc.struct_field(array, name), kind) if name in present else pa.nulls(len(array), storage_type(kind))
        for name, kind in feature.items()
    ]
    return pa.StructArray.from_arrays(kids, fields=list(target), mask=array.is_null() if array.null_count else None)


def _cast_list(array: pa.Array, feature: List | LargeList, target: pa.DataType) -> pa.Array:
    if not is_list(array.type):
        raise CastError(None, str(array.type), str(feature))
    # `flatten` drops values outside the slice and under null lists, so lengths are computed again.
    values = _cast(array.flatten(), feature.feature)
    lengths = pc.list_value_length(array)
    missing = array.is_null() if array.null_count else None
    if pa.types.is_fixed_size_list(target):
        return _fixed_lists(values, lengths, missing, target)
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0).cast(pa.int64()))
    large = pa.types.is_large_list(target)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int64() if large else pa.int32())
    kind = pa.LargeListArray if large else pa.ListArray
    return kind.from_arrays(offsets, values, type=target, mask=missing)


def _fixed_lists(values: pa.Array, lengths: pa.Array, missing: pa.Array | None, target: pa.DataType) -> pa.Array:
    size = target.list_size
    if pc.any(pc.not_equal(lengths, size)).as_py():
        raise CastError(None, "lists of other lengths", str(target), f"not every list has {size} items")
    if missing is None:
        return pa.FixedSizeListArray.from_arrays(values, type=target)
    # A null list of fixed length still has slots for its items.
    valid = lengths.is_valid().to_numpy(zero_copy_only=False)
    places = np.zeros((len(lengths), size), dtype=np.int64)
    places[valid] = np.arange(len(values)).reshape(int(valid.sum()), size)
    padded = values.take(pa.array(places.reshape(-1), mask=np.repeat(~valid, size)))
    return pa.FixedSizeListArray.from_arrays(padded, type=target, mask=missing)
