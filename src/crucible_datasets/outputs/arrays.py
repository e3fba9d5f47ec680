"""Stored columns → numpy arrays, as close to Arrow's memory as the values allow.

Three ways, tried in this order by `outputs.tensors`: a column of equal shapes is one
`block`, a column of lists of unequal length is one flat array in `pieces`, and
everything else becomes Python `objects`. Dtypes stay those of the storage, except that
integers with nulls become floats with NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from crucible_datasets.exceptions import CastError
from crucible_datasets.features import dtypes
from crucible_datasets.features.extension import innermost

AnyArray = npt.NDArray[Any]


def holds_no_numbers(arrow: pa.DataType) -> bool:
    """Whether all leaves of a type are strings, bytes or null, from which no tensor can be made."""
    if dtypes.is_list(arrow):
        return holds_no_numbers(arrow.value_type)
    if kinds.is_struct(arrow):
        return all(holds_no_numbers(field.type) for field in arrow)
    return dtypes.is_text(arrow) or dtypes.is_bytes(arrow) or kinds.is_fixed_size_binary(arrow) or kinds.is_null(arrow)


def has_nulls(array: pa.Array) -> bool:
    """Whether there is a null anywhere in an array, at any depth."""
    if array.null_count:
        return True
    if dtypes.is_list(array.type):
        return has_nulls(array.flatten())
    if kinds.is_struct(array.type):
        return any(has_nulls(child) for child in array.flatten())
    return False


def block(array: pa.Array) -> AnyArray | None:
    """Values or nested lists of one shape as one array, or None if shapes or types differ."""
    shape = [len(array)]
    while dtypes.is_list(array.type):
        length = equal_length(array)
        # An empty list of lists has no shape.
        if length is None or (dtypes.is_list(array.type.value_type) and not length):
            return None
        shape.append(length)
        array = array.flatten()
    if kinds.is_struct(array.type):
        return None
    flat = leaves(array)
    return None if flat.dtype == object else flat.reshape(shape)


def pieces(array: pa.Array) -> tuple[AnyArray, list[int]] | None:
    """Lists of unequal length as their flat values and the end of each list, if there are no null lists."""
    if not dtypes.is_list(array.type) or array.null_count or dtypes.is_list(array.type.value_type):
        return None
    values = array.flatten()
    if kinds.is_struct(values.type):
        return None
    flat = leaves(values)
    return None if flat.dtype == object else (flat, lengths(array).tolist())


def objects(array: pa.Array) -> list[Any]:
    """Rows as None, scalars, dicts and (nested) arrays."""
    return list(_to_numpy(array))


def leaves(array: pa.Array) -> AnyArray:
    """A flat array without lists, sharing Arrow's memory where nothing is null."""
    return np.asarray(_to_numpy(array))


def _to_numpy(array: pa.Array) -> AnyArray:
    try:
        return array.to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:  # times of day with nanoseconds
        raise CastError(None, str(array.type), "numpy", str(error)) from error


def lengths(array: pa.Array) -> npt.NDArray[np.int64]:
    """The length of each list; there must be no null lists."""
    if kinds.is_fixed_size_list(array.type):
        return np.full(len(array), array.type.list_size, dtype=np.int64)
    offsets: npt.NDArray[np.int64] = array.offsets.to_numpy()
    return np.diff(offsets)


def equal_length(array: pa.Array) -> int | None:
    """The length that all lists of an array share, or None."""
    if array.null_count:
        return None
    if kinds.is_fixed_size_list(array.type):
        return int(array.type.list_size)
    sizes = lengths(array)
    return int(sizes[0]) if len(sizes) and (sizes == sizes[0]).all() else None


def matrices(array: pa.Array, shape: tuple[int | None, ...]) -> AnyArray:
    """A column of `Array2D` … `Array5D`: one array of all rows, or one array per row when their first sizes differ.

    A null row is a row of NaN, or a bare NaN where its size is unknown.
    """
    if shape[0] is None:
        return _sized_by_row(array, shape[1:])
    if not array.null_count:
        return leaves(innermost(array)).reshape(len(array), *shape)
    present = leaves(innermost(array.drop_null())).reshape(-1, *shape)
    rows = np.full((len(array), *present.shape[1:]), np.nan, dtype=np.result_type(present.dtype, np.float64))
    rows[array.is_valid().to_numpy(zero_copy_only=False)] = present
    return rows


def _sized_by_row(array: pa.Array, shape: tuple[int | None, ...]) -> AnyArray:
    flat = leaves(innermost(array)).reshape(-1, *shape)
    if not array.null_count and (length := equal_length(array)) is not None:
        return flat.reshape(len(array), length, *shape)
    rows = np.empty(len(array), dtype=object)
    start = 0
    for index, length in enumerate(array.value_lengths().to_pylist()):
        rows[index] = float("nan") if length is None else flat[start : start + length]
        start += length or 0
    return rows
