"""Python values → an Arrow column with an inferred feature.

The type is inferred from all values at once: nulls adopt the type of the others, and integers widen to floats. Values
that Arrow does not know (tensors, matrices, images) are converted first. Objects whose keys differ become `Json`. Other
values without a common type are an error that names the row, or become `Json` on request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import MixedTypesError, ValueTypeError
from crucible_datasets.features import jsontext
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import as_arrow, column_of
from crucible_datasets.features.leaves import is_missing, is_pandas
from crucible_datasets.features.media_types import media_of
from crucible_datasets.features.names import require_name
from crucible_datasets.features.shred import array_of
from crucible_datasets.features.storage import chunked, feature_of, plain
from crucible_datasets.features.tensors import as_numpy, column_of_tensors, is_tensor, rows_of
from crucible_datasets.features.types import Json, List

# Token columns take as few bytes as their values need; tokenizers produce billions of them.
_COMPACT = {
    "input_ids": pa.int32(),
    "attention_mask": pa.int8(),
    "special_tokens_mask": pa.int8(),
    "token_type_ids": pa.int8(),
}
_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


def infer_column(
    values: Any, name: str | None = None, on_mixed_types: str | None = None
) -> tuple[pa.ChunkedArray, Any]:
    """The values as a column, and its feature."""
    if name is not None:
        require_name(name)
    array = None if type(values) is list else _at_once(values)
    if array is None:
        values = values if isinstance(values, list) else as_list(values)
        try:
            array = array_of(values)
        except _FAILURES:
            return _translated(values, name, on_mixed_types)
    array = _compact(array, name)
    return chunked(array), feature_of(array.type)


def _at_once(values: Any) -> pa.Array | pa.ChunkedArray | None:
    """Columns that need no look at their values one by one."""
    array = as_arrow(values)
    if array is not None:
        return array
    if is_pandas(values) and hasattr(values, "dtype"):
        return None if values.dtype == object else _from_pandas(values)
    if not is_tensor(values):
        return None
    array = as_numpy(values)
    return rows_of(array) if array.ndim and array.dtype.kind != "O" else None


def as_list(values: Any) -> list[Any]:
    """Values of any library as a list, with None for what is missing."""
    if not is_pandas(values):
        return list(values)
    # In a column of objects NaN means missing.
    return [None if isinstance(value, float) and value != value else value for value in values]


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
    plain_values = [translate(value) for value in values]
    try:
        array = array_of(plain_values)
    except _FAILURES as error:
        return _mixed(plain_values, name, on_mixed_types, error)
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


def _json_value(value: Any) -> Any:
    """A value in which objects that Arrow does not know are their public attributes."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if isinstance(value, dict):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    try:
        pa.array([value])
    except _FAILURES:
        content = jsontext.attributes(value)
        return _json_value(translate(content)) if content else value
    return value


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
        if _failure(values[:middle]) is None:
            good = middle
        else:
            bad = middle
    value = f"{values[good]!r:.80} ({type(values[good]).__name__})"
    if (failure := _failure(values[good : good + 1])) is not None:
        return ValueTypeError(name, good, value, "any Arrow type", str(failure))
    return MixedTypesError(name, good, value, str(array_of(values[:good]).type))


def _failure(values: list[Any]) -> Exception | None:
    try:
        array_of(values)
    except _FAILURES as error:
        return error
    return None


def _mixed(
    values: list[Any], name: str | None, on_mixed_types: str | None, error: Exception
) -> tuple[pa.ChunkedArray, Any]:
    """Values of which some objects have different keys, or, if that is allowed, different types."""
    if on_mixed_types == "use_json":
        values = [_json_value_in_row(value, row, name) for row, value in enumerate(values)]
    try:
        feature = mixed_feature(values, on_mixed_types)
    except _FAILURES:
        raise _located(values, name) from error
    return column_of(values, feature, name), feature


def _json_value_in_row(value: Any, row: int, name: str | None) -> Any:
    try:
        return _json_value(value)
    except RecursionError as error:  # a tree whose nodes know their parents
        raise ValueTypeError(name, row, type(value).__name__, str(Json()), "it holds itself.") from error


def mixed_feature(values: Iterable[Any], on_mixed_types: str | None = "use_json") -> Any:
    """The feature of values of which some differ: `Json` where the keys of dicts, or on request types, differ."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, dict) for value in present):
        names = present[0].keys()
        if not names or any(value.keys() != names for value in present):
            return Json()
        return {name: mixed_feature((value[name] for value in present), on_mixed_types) for name in names}
    if present and all(isinstance(value, (list, tuple, np.ndarray)) for value in present):
        return List(mixed_feature((item for value in present for item in value), on_mixed_types))
    try:
        return feature_of(array_of(present).type)
    except _FAILURES:
        if on_mixed_types != "use_json":
            raise
        return Json()
