"""Vectors as matrices: from a column of lists, or from an array.

Lists are flattened and reshaped by Arrow and numpy, not row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, RowIndexError
from crucible_datasets.ops.search.errors import VectorError
from crucible_datasets.tables.view import View

Matrix = npt.NDArray[Any]


class ColumnVectors:
    """A column of lists of equal length, which can be sliced like a matrix."""

    def __init__(self, view: View, column: str, dtype: npt.DTypeLike) -> None:
        _check_column(view, column)
        self._view, self._column, self._dtype = view, column, dtype
        self.shape = (len(view), 0)
        first = self._lists(range(1))
        self.shape = (len(view), pc.list_value_length(first)[0].as_py())

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> Matrix:
        rows = range(len(self))[span]
        lists, width = self._lists(rows), self.shape[1]
        lengths = pc.list_value_length(lists)
        if (at := _first(pc.not_equal(lengths, width))) >= 0:
            raise VectorError(self._column, rows[at], f"{lengths[at]} numbers", f"{width}, as in the rows before")
        flat = pa.chunked_array([chunk.flatten() for chunk in lists.chunks], lists.type.value_type).to_numpy()
        with np.errstate(over="ignore"):
            return flat.astype(self._dtype, copy=False).reshape(len(rows), width)

    def _lists(self, rows: range) -> pa.ChunkedArray:
        lists = self._view.read(rows, [self._column]).column(0)
        if lists.null_count:
            raise VectorError(self._column, rows[_first(pc.is_null(lists))], "None", "a vector in every row")
        return lists


Vectors = Matrix | ColumnVectors


def vectors_of(source: Any, column: str | None, dtype: npt.DTypeLike) -> Vectors:
    """The vectors in a column of a view or dataset; without a column, those in an array."""
    if column is None:
        return array_matrix(source, dtype)
    return ColumnVectors(getattr(source, "_view", source), column, dtype)


def spans(length: int, step: int) -> Iterator[slice]:
    """Slices of at most `step` that cover `length`."""
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def batches(vectors: Vectors, batch_size: int) -> Iterator[Matrix]:
    """All vectors, `batch_size` rows at a time."""
    if batch_size < 1:
        raise ArgumentError("batch_size", batch_size, "expected 1 or more.")
    return (np.ascontiguousarray(vectors[span]) for span in spans(len(vectors), batch_size))


def column_matrix(view: View, column: str, batch_size: int, dtype: npt.DTypeLike) -> Matrix:
    """All vectors of a column as one matrix; raises for numbers that are not finite."""
    vectors = ColumnVectors(view, column, dtype)
    matrix, filled = np.empty(vectors.shape, dtype), 0
    for batch in batches(vectors, batch_size):
        check_finite(batch, column, filled)
        matrix[filled : filled + len(batch)] = batch
        filled += len(batch)
    return matrix


def array_matrix(arrays: Any, dtype: npt.DTypeLike) -> Matrix:
    """A caller's array as a matrix with one vector per row."""
    try:
        matrix = np.asarray(arrays, dtype)
    except (TypeError, ValueError) as error:
        raise VectorError(None, None, f"values that do not fill an array of {np.dtype(dtype)}", "equal rows") from error
    if matrix.ndim != 2:
        raise VectorError(None, None, f"shape {matrix.shape}", "a shape of (rows, numbers)")
    return matrix


def finite_matrix(arrays: Any, dtype: npt.DTypeLike) -> Matrix:
    """A copy of a caller's array, checked to be finite."""
    matrix = array_matrix(arrays, dtype)
    check_finite(matrix, None)
    return np.array(matrix, order="C")


def check_finite(batch: Matrix, column: str | None, first_row: int = 0) -> None:
    """Raise for NaN and infinite numbers, which cannot be ranked."""
    finite = np.isfinite(batch).all(axis=1)
    if not finite.all():
        raise VectorError(column, first_row + int(finite.argmin()), "NaN, None or infinity", "finite numbers")


def _check_column(view: View, column: str) -> None:
    """Raise for a column that is missing, empty, or not of lists of numbers."""
    view.require([column])
    stored = view.read(range(0), [column]).schema.field(0).type
    if not _is_list(stored) or not _is_number(stored.value_type):
        raise VectorError(column, None, str(stored), "lists of numbers")
    if not len(view):
        raise RowIndexError(0, 0)


def _is_list(stored: pa.DataType) -> bool:
    return any(test(stored) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _is_number(stored: pa.DataType) -> bool:
    return any(test(stored) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))


def _first(mask: pa.ChunkedArray) -> int:
    position: int = pc.index(mask, True).as_py()
    return position
