"""Python values → Arrow columns of a known feature.

Arrow converts plain values by itself, so that is tried first for the whole column. Only features with an encoding of
their own (labels, images, JSON), and values that Arrow refuses, are encoded one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, CastError, ValueTypeError
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.leaves import is_missing, is_pandas
from crucible_datasets.features.shred import array_of
from crucible_datasets.features.storage import chunked, one_array, storage_type
from crucible_datasets.features.tensors import as_numpy, column_of_tensors, is_tensor, rows_of
from crucible_datasets.features.translation import Translation
from crucible_datasets.features.types import Json, LargeList, List, Value, any_leaf, is_identical, with_item
from crucible_datasets.features.unite import has_json_form

_REFUSALS = (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


TYPES_OF_POLARS = re.compile("Object|Int128")  # for which Arrow has no type


def column_of(values: Any, feature: Any, name: str | None = None) -> pa.ChunkedArray:
    """Values as a column of `feature`."""
    array = as_arrow(values)
    if array is not None:
        return cast_column(chunked(array), feature, name)
    if not hasattr(values, "__len__"):
        values = list(values)
    if is_plain(feature):
        try:
            return chunked(array_of(values, storage_type(feature)))
        except _REFUSALS:
            pass  # Values such as "3" for int64 can still be encoded one by one.
    elif isinstance(_innermost(feature), ClassLabel):
        try:
            return cast_column(chunked(pa.array(values)), feature, name)  # labels are looked up once per name
        except _REFUSALS:
            pass  # Names and integers may be mixed.
    try:
        return _tensors(values, feature) or _encoded([encode(feature, value) for value in values], feature)
    except _REFUSALS as error:
        raise _located(values, feature, name) or error from error


def recast(column: pa.ChunkedArray, before: Any, feature: Any, name: str | None = None) -> pa.ChunkedArray:
    """A stored column of one feature as another; Json values become what their text cannot be cast to exactly."""
    if _reads_json(before, feature):
        read = decoder(_decoding(before))
        return column_of([value if read is None else read(value) for value in column.to_pylist()], feature, name)
    return cast_column(column, feature, name)


def _reads_json(before: Any, feature: Any) -> bool:
    """Whether `before` has `Json`, at any depth, where `feature` has what the text of the JSON is no value of."""
    if isinstance(before, dict) and isinstance(feature, dict):
        return any(_reads_json(kind, feature[key]) for key, kind in before.items() if key in feature)
    if isinstance(before, (List, LargeList)) and isinstance(feature, (List, LargeList)):
        return _reads_json(before.feature, feature.feature)
    if isinstance(before, Json):
        target = storage_type(feature)
        return pa.types.is_nested(target) or pa.types.is_floating(target)
    return any_leaf(before, (Json,))


def _decoding(feature: Any) -> Any:
    """A feature in which JSON is decoded."""
    if isinstance(feature, dict):
        return {key: _decoding(kind) for key, kind in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return with_item(feature, _decoding(feature.feature))
    return Json() if isinstance(feature, Json) else feature


def widened(column: pa.ChunkedArray, before: Any, feature: Any, name: str | None = None) -> pa.ChunkedArray:
    """A stored column of one feature as a wider one, found by `unite`: the same values, texts in Json included."""
    if is_identical(before, feature):
        return column
    chunks = [_widened(chunk, before, feature, name) for chunk in column.chunks]
    return pa.chunked_array(chunks, storage_type(feature))


def _widened(array: pa.Array, before: Any, feature: Any, name: str | None) -> pa.Array:
    if is_identical(before, feature):
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), storage_type(feature))
    if isinstance(feature, Json) or isinstance(before, Json):
        decode = decoder(before)
        values = array.to_pylist()
        return one_array(column_of([decode(value) for value in values] if decode else values, feature, name))
    if isinstance(before, dict) and isinstance(feature, dict):
        fields = [
            _widened(pc.struct_field(array, key), before[key], kind, name)
            if key in before
            else pa.nulls(len(array), storage_type(kind))
            for key, kind in feature.items()
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(fields, fields=list(storage_type(feature)), mask=mask)
    if isinstance(before, (List, LargeList)) and isinstance(feature, (List, LargeList)) and any_leaf(feature, (Json,)):
        items = _widened(array.flatten(), before.feature, feature.feature, name)
        ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64()))
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        mask = array.is_null() if array.null_count else None
        lists = pa.LargeListArray.from_arrays(offsets, items, mask=mask)
        return lists.cast(storage_type(feature))
    return one_array(cast_column(pa.chunked_array([array]), feature, name))


def holding(column: pa.ChunkedArray, before: Any, feature: Any) -> Any:
    """A feature wider than that of a column, with `Json` in place of numbers that integers of the column do not fit."""
    for chunk in column.chunks:
        feature = _holding(chunk, before, feature)
    return feature


def _holding(array: pa.Array, before: Any, feature: Any) -> Any:
    if before == feature or pa.types.is_null(array.type):
        return feature
    if isinstance(before, dict) and isinstance(feature, dict):
        fields = {key: pc.struct_field(array, key) for key in before}
        return {
            key: _holding(fields[key], before[key], kind) if key in fields else kind for key, kind in feature.items()
        }
    if isinstance(before, (List, LargeList)) and isinstance(feature, (List, LargeList)):
        return with_item(feature, _holding(array.flatten(), before.feature, feature.feature))
    if not isinstance(before, Value) or not isinstance(feature, Value) or not has_json_form(feature):
        return feature
    try:
        cast_column(pa.chunked_array([array]), feature)
    except CastError:
        return Json()
    return feature


def as_arrow(values: Any) -> pa.Array | pa.ChunkedArray | None:
    """Values that already are an Arrow column, of any library that shares Arrow memory."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if is_pandas(values) or TYPES_OF_POLARS.search(str(getattr(values, "dtype", ""))):
        return None  # missing values of pandas need handling, and Polars would share the addresses of objects
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return pa.chunked_array(values)
    return None


def _tensors(values: Any, feature: Any) -> pa.ChunkedArray | None:
    if not isinstance(feature, ArrayXD):
        return None
    column = rows_of(as_numpy(values)) if is_tensor(values) else column_of_tensors(values)
    return None if column is None else cast_column(column, feature)


def _encoded(values: list[Any], feature: Any) -> pa.ChunkedArray:
    if not any_leaf(feature, (Translation,)):  # which no language may be missing from
        try:
            column = chunked(array_of(values, storage_type(feature)))
        except _REFUSALS:
            pass  # Casts convert more than arrays are made of: "2020-01-01" to a date.
        else:
            return cast_column(column, feature) if any_leaf(feature, (ArrayXD,)) else column  # which checks shapes
    return cast_column(chunked(array_of(values)), feature)


def _innermost(feature: Any) -> Any:
    while isinstance(feature, (List, LargeList)):
        feature = feature.feature
    return feature


def _located(values: Any, feature: Any, name: str | None) -> ValueTypeError | None:
    """The error that names the first row at fault."""
    for row, value in enumerate(values):
        try:
            _encoded([encode(feature, value)], feature)
        except _REFUSALS as cause:
            return ValueTypeError(name, row, _short(value), str(feature), str(cause))
    return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def is_plain(feature: Any) -> bool:
    """Whether Arrow's own conversion of Python values is what the feature means."""
    if isinstance(feature, dict):
        return all(is_plain(value) for value in feature.values())
    if isinstance(feature, (List, LargeList)):
        return is_plain(feature.feature)
    return isinstance(feature, Value)


def encode(feature: Any, value: Any) -> Any:
    """One value of a feature, nested as the feature is, in the form that Arrow stores."""
    if value is None or is_missing(value):
        return None
    if isinstance(feature, dict):
        if not value.keys() <= feature.keys():
            raise ArgumentError("keys", [*value], f"the type has only the fields {', '.join(feature)}.")
        return {name: encode(kind, value.get(name)) for name, kind in feature.items()}
    if isinstance(feature, (list, tuple)):
        return _items(List(feature[0]), value)
    if isinstance(feature, (List, LargeList)):
        return _items(feature, value)
    encoded = feature.encode_example(value) if hasattr(feature, "encode_example") else value
    return encoded.tolist() if isinstance(feature, ArrayXD) and hasattr(encoded, "tolist") else encoded


def _items(feature: List | LargeList, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)):  # the items of a dict would be its keys
        raise ArgumentError("value", _short(value), f"expected a list for {feature}.")
    items = value.tolist() if hasattr(value, "tolist") else value
    return [encode(feature.feature, item) for item in items]
