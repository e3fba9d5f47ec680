"""Bitwise equality of columns: unlike Arrow's, it distinguishes 0.0 from -0.0."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.storage import one_array


def is_same(left: pa.ChunkedArray, right: pa.ChunkedArray) -> bool:
    """Whether columns of the same type hold the same values; False if that is not certain."""
    if left.type != right.type or not left.equals(right):
        return False
    if not _has_floats(left.type):
        return True
    return _same_floats(one_array(left), one_array(right))


def _has_floats(arrow: pa.DataType) -> bool:
    if pa.types.is_struct(arrow):
        return any(_has_floats(field.type) for field in arrow)
    if is_list(arrow):
        return _has_floats(arrow.value_type)
    return pa.types.is_floating(arrow) or (pa.types.is_nested(arrow))


def _same_floats(left: pa.Array, right: pa.Array) -> bool:
    """Whether zeros have the same signs; everything else is known to be equal."""
    if pa.types.is_struct(left.type):
        return all(map(_same_floats, left.flatten(), right.flatten()))
    if is_list(left.type):
        return _same_floats(left.flatten(), right.flatten())
    if not pa.types.is_floating(left.type):
        return not pa.types.is_nested(left.type)
    signs = [np.signbit(array.drop_null().to_numpy(zero_copy_only=False)) for array in (left, right)]
    return bool(np.array_equal(*signs))
