"""Columns as integer codes: equal values get equal codes, so that numpy can split, group and join by any column.

Null is a value like any other and NaN equals NaN. Nested values, which Arrow cannot
compare, are compared by their JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.tables.rows import inverse

Codes = npt.NDArray[np.int64]

_OFFSET_LIMIT = 1 << 31


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
        return pa.chunked_array([[_text(value) for value in column.to_pylist()]], pa.large_string())
    if pa.types.is_floating(arrow):
        # Adding zero turns -0.0 into 0.0, which Arrow would distinguish.
        return pc.add(column.cast(pa.float64()), 0.0)
    if pa.types.is_string_view(arrow) or (pa.types.is_string(arrow) and column.nbytes >= _OFFSET_LIMIT):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(arrow) or (pa.types.is_binary(arrow) and column.nbytes >= _OFFSET_LIMIT):
        return column.cast(pa.large_binary())
    return column


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
