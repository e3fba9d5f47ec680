"""Python values → an Arrow column with an inferred feature.

Arrow infers the type from all values at once: nulls adopt the type of the others, integers widen to floats, structs
merge their fields. Values that Arrow does not know (tensors, matrices, images) are converted first. Values without a
common type are an error that names the row, or become `Json` on request.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import MixedTypesError, ValueTypeError
from crucible_datasets.features import jsontext
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.encode import as_arrow, column_of
from crucible_datasets.features.leaves import is_missing, is_pandas
from crucible_datasets.features.media_types import media_of
from crucible_datasets.features.shred import array_of, without_missing
from crucible_datasets.features.storage import chunked, feature_of, plain
from crucible_datasets.features.tensors import as_numpy, column_of_tensors, is_tensor, rows_of
from crucible_datasets.features.types import Json, LargeList, List

# Token columns take as few bytes as their values need; tokenizers produce billions of them.
_COMPACT = {
    "input_ids": pa.int32(),
    "attention_mask": pa.int8(),
    "special_tokens_mask": pa.int8(),
    "token_type_ids": pa.int8(),
}
_FAILURES = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def infer_column(
    values: Any, name: str | None = None, on_mixed_types: str | None = None
) -> tuple[pa.ChunkedArray, Any]:
    """The values as a column, and its feature."""
    array = None if type(values) is list else _at_once(values)
    if array is None:
        values = values if isinstance(values, list) else list(values)
        try:
            array = array_of(values)
        except (*_FAILURES, OverflowError):
            return _translated(values, name, on_mixed_types)
        if on_mixed_types == "use_json" and _has_gaps(array):
            return _mixed(without_missing(values), name)
    array = _compact(array, name)
    return chunked(array), feature_of(array.type)


def _at_once(values: Any) -> pa.Array | pa.ChunkedArray | None:
    """Columns that need no look at their values one by one."""
    array = as_arrow(values)
    if array is not None:
        return array
    if is_pandas(values) and hasattr(values, "dtype"):
        return _from_pandas(values)
    if not is_tensor(values):
        return None
    array = as_numpy(values)
    return rows_of(array) if array.ndim and array.dtype.kind != "O" else None


def _from_pandas(values: Any) -> pa.Array | pa.ChunkedArray:
    # Among floats NaN is a number; elsewhere it means missing.
    array = pa.array(values.copy(), from_pandas=getattr(values.dtype, "kind", "") != "f")
    narrow = plain(array.type) == pa.large_string() and array.nbytes < 2**31
    return array.cast(pa.string()) if narrow else array


def _compact(array: pa.Array | pa.ChunkedArray, name: str | None) -> pa.Array | pa.ChunkedArray:
    leaf = array.type
    while pa.types.is_list(leaf):
        leaf = leaf.value_type
    if name not in _COMPACT or not pa.types.is_int64(leaf):
        return array
    try:
        return array.cast(_with_leaf(array.type, _COMPACT[name]))
    except pa.ArrowInvalid:
        return array  # a value does not fit: the column stays wide


def _with_leaf(arrow: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    return pa.list_(_with_leaf(arrow.value_type, leaf)) if pa.types.is_list(arrow) else leaf


def _translated(values: list[Any], name: str | None, on_mixed_types: str | None) -> tuple[pa.ChunkedArray, Any]:
    """Values that Arrow does not accept directly."""
    column = column_of_tensors(values)
    if column is not None:
        column = chunked(_compact(column, name))
        return column, feature_of(column.type)
    if (media := next(filter(None, map(media_of, values)), None)) is not None:
        return column_of(values, media, name), media
    known = [translate(value) for value in values]
    try:
        array = pa.array(known)
    except (*_FAILURES, OverflowError) as error:
        if on_mixed_types != "use_json" or isinstance(error, OverflowError):
            raise _located(known, name) from error
        return _mixed([_json_value_or_error(value, row, name) for row, value in enumerate(known)], name)
    array = _compact(array, name)
    feature = _with_media(feature_of(array.type), values)
    return cast_column(chunked(array), feature, name), feature


def translate(value: Any) -> Any:
    """A value as plain Python objects and one-dimensional numpy arrays, which Arrow accepts."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if is_missing(value):
        return None
    if isinstance(value, dict):
        return {key: translate(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [translate(item) for item in value]
    if is_tensor(value):
        array = as_numpy(value)
        if array.ndim == 0:
            return translate(array.item()) if array.dtype.kind == "O" else array[()]
        return [translate(item) for item in array] if array.ndim > 1 or array.dtype.kind == "O" else array
    if (media := media_of(value)) is not None:
        return media.encode_example(value)
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return value.to_pylist()
    if hasattr(value, "tolist") and not isinstance(value, np.generic):  # a pandas or polars series
        return [translate(item) for item in value.tolist()]
    return value


def _json_value_or_error(value: Any, row: int, name: str | None) -> Any:
    try:
        return _json_value(value)
    except RecursionError as error:  # a tree whose nodes know their parents
        raise ValueTypeError(name, row, type(value).__name__, str(Json()), "it holds itself.") from error


def _json_value(value: Any) -> Any:
    """A value as JSON: keys are text, NaN is null, and unknown objects are their public attributes."""
    if value is None or isinstance(value, (str, bytes, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_key(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    try:
        pa.array([value])
    except _FAILURES:
        found = jsontext.attributes(value)
        return _json_value(translate(found)) if found else value
    return value


def _key(key: Any) -> str:
    return key.decode() if isinstance(key, bytes) else str(key)


def _with_media(feature: Any, values: Iterable[Any]) -> Any:
    """The feature with a media type wherever values are decoded media."""
    present = [value for value in values if value is not None]
    if isinstance(feature, dict):
        media = next(filter(None, map(media_of, present)), None)
        return media or {
            name: _with_media(kind, [value.get(name) for value in present]) for name, kind in feature.items()
        }
    if isinstance(feature, List):
        return List(_with_media(feature.feature, (item for value in present for item in value)))
    return feature


def _located(values: list[Any], name: str | None) -> MixedTypesError | ValueTypeError:
    """The first row whose value does not fit the rows before it."""
    good, bad = 0, len(values)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            pa.array(values[:middle])
            good = middle
        except (*_FAILURES, OverflowError):
            bad = middle
    found = f"{values[good]!r:.80} ({type(values[good]).__name__})"
    try:
        pa.array(values[good : good + 1])
    except (*_FAILURES, OverflowError) as error:
        return ValueTypeError(name, good, found, "any Arrow type", str(error))
    return MixedTypesError(name, good, found, str(pa.array(values[:good]).type))


def _has_gaps(array: pa.Array | pa.ChunkedArray) -> bool:
    """Whether structs may have come from dicts of different keys, which leaves nulls in their fields."""
    if isinstance(array, pa.ChunkedArray):
        return any(_has_gaps(chunk) for chunk in array.chunks)
    if is_list(array.type):
        return pa.types.is_nested(array.type.value_type) and _has_gaps(array.flatten())
    if not pa.types.is_struct(array.type):
        return False
    fields = [pc.struct_field(array, [index]) for index in range(array.type.num_fields)]
    return not fields or any(field.null_count > array.null_count or _has_gaps(field) for field in fields)


def _mixed(values: list[Any], name: str | None) -> tuple[pa.ChunkedArray, Any]:
    feature = mixed_feature(values)
    return encoded_exactly(values, feature, name), feature


def encoded_exactly(values: list[Any], feature: Any, name: str | None) -> pa.ChunkedArray:
    """Values as a column of a feature with `Json`, in which strings stay strings even if they look like JSON."""
    return column_of([_quoted(feature, value) for value in values], feature, name)


def mixed_feature(values: Iterable[Any]) -> Any:
    """The feature of values of different types: `Json` exactly where types, or the keys of dicts, differ."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, dict) for value in present):
        names = present[0].keys()
        if not names or any(value.keys() != names for value in present):
            return Json()
        return {name: mixed_feature(value[name] for value in present) for name in names}
    if present and all(isinstance(value, (list, tuple, np.ndarray)) for value in present):
        return List(mixed_feature(item for value in present for item in value))
    try:
        return feature_of(pa.array(present).type)
    except (*_FAILURES, OverflowError):
        return Json()


def _quoted(feature: Any, value: Any) -> Any:
    """A value whose strings, where they become JSON, are JSON already: the text "2" must not turn into a number."""
    if isinstance(feature, Json) and isinstance(value, str):
        return jsontext.dumps(value)
    if isinstance(feature, dict) and value is not None:
        return {name: _quoted(kind, value[name]) for name, kind in feature.items()}
    if isinstance(feature, (List, LargeList)) and value is not None:
        return [_quoted(feature.feature, item) for item in value]
    return value
