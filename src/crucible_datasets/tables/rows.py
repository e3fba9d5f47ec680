"""The row indices of a view: a `range` if contiguous, else an index array.

Indices are composed eagerly, so a chain of selections costs one array, not a chain of look-ups. A `range` here always
has step 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.exceptions import DatasetsError, RowIndexError

Rows = range | npt.NDArray[np.int64]

_NONE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
_COMPARED_AT_ONCE = 1 << 14


def compose(outer: Rows, inner: Rows) -> Rows:
    """The rows that `inner` picks among `outer`.

    >>> compose(range(10, 20), range(2, 4))
    range(12, 14)
    """
    if isinstance(inner, range):
        return outer[inner.start : inner.stop]
    return inner + outer.start if isinstance(outer, range) else outer[inner]


def is_whole(rows: Rows, num_rows: int) -> bool:
    """Whether these are all rows of a table, in order."""
    return isinstance(rows, range) and rows == range(num_rows)


def as_array(rows: Rows) -> npt.NDArray[np.int64]:
    """The rows as an index array."""
    return np.arange(rows.start, rows.stop, dtype=np.int64) if isinstance(rows, range) else rows


def as_arrow(indices: npt.NDArray[np.int64]) -> pa.Int64Array:
    """An index array for Arrow, over the same memory."""
    # `pa.array` would import pandas, which is slow.
    held = np.ascontiguousarray(indices, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(held), [None, pa.py_buffer(held)])


def inverse(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The permutation that undoes another.

    >>> inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    undone = np.empty(len(order), dtype=np.int64)
    undone[order] = np.arange(len(order))
    return undone


def true_rows(mask: pa.ChunkedArray | pa.BooleanArray) -> npt.NDArray[np.int64]:
    """The positions where a mask is true, neither false nor null."""
    chunks = mask.chunks if isinstance(mask, pa.ChunkedArray) else [mask]
    starts = accumulate(map(len, chunks), initial=0)
    return np.concatenate([_NONE, *(_true_places(chunk) + start for chunk, start in zip(chunks, starts, strict=False))])


def _true_places(mask: pa.BooleanArray) -> npt.NDArray[np.int64]:
    # `to_numpy` would import pandas too, and Arrow's kernels allocate fresh pages.
    there, true = mask.buffers()
    bits = _unpacked(true, mask)
    return np.flatnonzero(bits if there is None else bits & _unpacked(there, mask))


def _unpacked(bits: pa.Buffer, mask: pa.BooleanArray) -> npt.NDArray[np.uint8]:
    every = np.unpackbits(np.frombuffer(bits, np.uint8), count=mask.offset + len(mask), bitorder="little")
    return every[mask.offset :]


def tightest(indices: npt.NDArray[np.int64]) -> Rows:
    """A range if the indices are contiguous, else the indices."""
    if len(indices) == 0:
        return range(0)
    first, last = int(indices[0]), int(indices[-1])
    contiguous = last - first == len(indices) - 1 and _lie_side_by_side(indices)
    return range(first, last + 1) if contiguous else indices


def _lie_side_by_side(indices: npt.NDArray[np.int64]) -> bool:
    parts = (indices[at : at + _COMPARED_AT_ONCE + 1] for at in range(0, len(indices), _COMPARED_AT_ONCE))
    return all(bool((np.diff(part) == 1).all()) for part in parts)


def shared_out(count: int, num_shards: int, index: int, contiguous: bool = True) -> range:
    """Which of `count` items belong to one of `num_shards`: contiguous ones (the first are longer), or every n-th."""
    if not contiguous:
        return range(index, count, num_shards)
    size, longer = divmod(count, num_shards)
    start = size * index + min(index, longer)
    return range(start, start + size + (index < longer))


def chosen(indices: Iterable[Any], num_rows: int) -> Rows:
    """The argument of `select`, checked against the number of rows."""
    if isinstance(indices, range) and indices.step == 1 and len(indices):
        _check(indices.start, num_rows)
        _check(indices.stop - 1, num_rows)
        return indices
    array = _integers(indices)
    if len(array):
        _check(int(array.min()), num_rows)
        _check(int(array.max()), num_rows)
    return tightest(array)


def _integers(indices: Iterable[Any]) -> npt.NDArray[np.int64]:
    if isinstance(indices, range):
        return np.arange(indices.start, indices.stop, indices.step, dtype=np.int64)
    if isinstance(indices, (pa.Array, pa.ChunkedArray)):
        indices = indices.to_numpy(zero_copy_only=False)
    elif hasattr(indices, "to_numpy"):
        indices = indices.to_numpy()
    elif not hasattr(indices, "__array__") and not isinstance(indices, list):
        indices = list(indices)
    array = np.asarray(indices)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise RowNumbersError(str(array.dtype), array.ndim)
    return array.astype(np.int64)  # a copy: the caller may change the array before its content is hashed


class RowNumbersError(DatasetsError, TypeError, ValueError, IndexError):
    """Rows were selected by something other than a flat sequence of integers."""

    def message(self, dtype: str, dimensions: int) -> str:
        self.dtype, self.dimensions = dtype, dimensions
        return f"Rows are named by a flat sequence of integers, not by {dtype} in {dimensions} dimensions."


def _check(index: int, num_rows: int) -> None:
    if not 0 <= index < num_rows:
        raise RowIndexError(index, num_rows)
