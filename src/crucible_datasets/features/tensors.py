"""Tensors of any framework → nested Arrow lists over their own memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

_FRAMEWORKS = (("torch", ("Tensor",)), ("tensorflow", ("Tensor", "RaggedTensor")), ("jax", ("Array",)))
_MOST = 2**30  # half of what the 32-bit offsets of one list array reach, so that one more row fits


def is_tensor(value: Any) -> bool:
    """A numpy array or the tensor of a framework that is already loaded."""
    if isinstance(value, np.ndarray):
        return True
    for framework, names in _FRAMEWORKS:
        module = sys.modules.get(framework)
        if module and any(isinstance(value, kind) for name in names if (kind := getattr(module, name, None))):
            return True
    return False


def as_numpy(tensor: Any) -> np.ndarray[Any, Any]:
    """A tensor as a numpy array, sharing memory if possible."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            tensor = tensor.float()
    return np.asarray(tensor)


def rows_of(array: np.ndarray[Any, Any]) -> pa.ChunkedArray:
    """The rows of an n-dimensional array as one column."""
    pieces = np.array_split(array, max(1, -(-array.size // _MOST))) if array.size > _MOST else [array]
    return pa.chunked_array([_nested(piece) for piece in pieces])


def _nested(array: np.ndarray[Any, Any]) -> pa.Array:
    lists = pa.array(np.array(array, order="C").reshape(-1))  # a copy: the caller may change the array later
    for level in range(array.ndim - 1, 0, -1):
        count = int(np.prod(array.shape[:level]))
        lists = pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32) * np.int32(array.shape[level]), lists)
    return lists


def column_of_tensors(values: Sequence[Any]) -> pa.ChunkedArray | None:
    """One tensor, or None, per row as a column; None unless all have the same dtype and number of dimensions."""
    if not all(value is None or is_tensor(value) for value in values):
        return None
    arrays = [None if value is None else as_numpy(value) for value in values]
    kinds = {(array.ndim, array.dtype) for array in arrays if array is not None}
    if len(kinds) != 1:
        return None
    ((ndim, dtype),) = kinds
    if dtype.kind not in "biuf":
        return None
    if ndim == 0:
        return pa.chunked_array([pa.array([None if array is None else array[()] for array in arrays])])
    return pa.chunked_array([_joined(part) for part in _parts(arrays)])


def _parts(arrays: list[np.ndarray[Any, Any] | None]) -> list[list[np.ndarray[Any, Any] | None]]:
    """The rows in groups, each small enough for one list array."""
    sizes = np.cumsum([0 if array is None else array.size for array in arrays])
    groups = sizes // _MOST
    bounds = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(arrays)]
    return [arrays[start:stop] for start, stop in pairwise(bounds)]


def _joined(arrays: list[np.ndarray[Any, Any] | None]) -> pa.Array:
    lengths = [0 if array is None else len(array) for array in arrays]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    present = [array for array in arrays if array is not None]
    alike = len({array.shape[1:] for array in present}) == 1
    items = _nested(np.concatenate(present)) if alike else pa.concat_arrays([_nested(array) for array in present])
    missing = [array is None for array in arrays]
    return pa.ListArray.from_arrays(offsets, items, mask=pa.array(missing) if any(missing) else None)
