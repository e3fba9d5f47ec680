"""Columns as integer codes: equal values get equal codes, so that numpy can split, group and join by any column.

Null is a value like any other, NaN equals NaN, and -0.0 equals 0.0, at any depth. Nested values, which Arrow cannot
compare, are compared by their JSON text; values of `Json` as Python compares them, so 1 equals 1.0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features import Json, Value
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.storage import children, feature_of, rebuilt, storage_type
from crucible_datasets.features.types import any_leaf, with_leaves
from crucible_datasets.tables.rows import inverse
from crucible_datasets.tables.view import View

Codes = npt.NDArray[np.int64]

_OFFSET_LIMIT = 1 << 31


def key_column(view: View, name: str) -> pa.ChunkedArray:
    """A column whose equal values are stored alike."""
    view.require([name])
    return as_keys(view.column(name), view.features[name])


def as_keys(column: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
    """A stored column with one form for equal values of `Json`."""
    if not any_leaf(feature, (Json,)):
        return column
    decode: Any = decoder(feature)
    texts = [None if value is None else _text(_with_json_numbers(decode(value))) for value in column.to_pylist()]
    return pa.chunked_array([texts], pa.large_string())


def codes_of(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """One code per row, numbered by first appearance, and the value of each code."""
    comparable = _comparable(column)
    encoded = comparable.dictionary_encode(null_encoding="encode")
    if not encoded.num_chunks:
        return np.zeros(0, dtype=np.int64), pa.array([], comparable.type)
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks])
    return codes.astype(np.int64), encoded.chunk(0).dictionary


def sorted_codes(column: pa.ChunkedArray) -> Codes:
    """One code per row, in the order of the values; null comes last."""
    codes, values = codes_of(column)
    ranks = inverse(pc.sort_indices(values).to_numpy())
    return ranks[codes]


def joint_codes(columns: Sequence[pa.ChunkedArray]) -> Codes:
    """One code per row for the values of several columns together, in order of first appearance."""
    codes, _ = codes_of(columns[0])
    for column in columns[1:]:
        others, values = codes_of(column)
        codes, _ = codes_of(pa.chunked_array([codes * max(len(values), 1) + others]))
    return codes


def by_code(codes: Codes, size: int | None = None) -> tuple[Codes, Codes]:
    """The rows sorted by code, stably, and where each code begins (and the last ends)."""
    size = int(codes.max(initial=-1)) + 1 if size is None else size
    # Integers of 16 bits are sorted by radix, several times faster.
    order = np.argsort(codes.astype(np.int16) if size < 1 << 15 else codes, kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=size))]).astype(np.int64)


def turns(codes: Codes) -> Codes:
    """For each row, how many rows before it have the same code.

    >>> turns(np.array([0, 1, 0, 0, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order, starts = by_code(codes)
    turn = np.empty(len(codes), dtype=np.int64)
    turn[order] = np.arange(len(codes)) - starts[codes[order]]
    return turn


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as a type that Arrow can hash and sort."""
    arrow = column.type
    if pa.types.is_nested(arrow) or pa.types.is_interval(arrow):
        chunks = map(_with_one_zero, column.chunks)
        return pa.chunked_array([[_text(value) for chunk in chunks for value in chunk.to_pylist()]], pa.large_string())
    if pa.types.is_floating(arrow):
        return pa.chunked_array(map(_with_one_zero, column.chunks), pa.float64())
    if pa.types.is_string_view(arrow) or (pa.types.is_string(arrow) and column.nbytes >= _OFFSET_LIMIT):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(arrow) or (pa.types.is_binary(arrow) and column.nbytes >= _OFFSET_LIMIT):
        return column.cast(pa.large_binary())
    return column


def _with_one_zero(array: pa.Array) -> pa.Array:
    """Floats without -0.0 and with one NaN, at any depth."""
    arrow = array.type
    if pa.types.is_floating(arrow):
        # Arrow compares bits, and so distinguishes -0.0 and NaNs; -0.0 + 0.0 is 0.0.
        numbers = pc.add(array.cast(pa.float64()), 0.0)
        return pc.if_else(pc.is_nan(numbers), math.nan, numbers)
    if not pa.types.is_struct(arrow) and not is_list(arrow):
        return array
    return rebuilt(array, list(map(_with_one_zero, children(array))), _with_doubles(arrow))


def _with_doubles(arrow: pa.DataType) -> pa.DataType:
    """A type whose floats have 64 bits."""
    return storage_type(
        with_leaves(feature_of(arrow), lambda leaf: Value("float64") if pa.types.is_floating(leaf.pa_type) else leaf)
    )


def _with_json_numbers(value: Any) -> Any:
    """A JSON value whose whole numbers are integers."""
    if isinstance(value, dict):
        return {key: _with_json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_json_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
