"""Rows sent between processes as Arrow columns, so that rows are not pickled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

Columns = list[Any]  # each an Arrow array, or a tuple of values that are neither texts nor numbers

_KINDS = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}


def columns_of(rows: Iterable[tuple[Any, ...]]) -> Columns:
    """Rows of the same length as columns."""
    return [_column(values) for values in zip(*rows, strict=True)]


def rows_of(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """The rows of the columns."""
    return zip(*(column if isinstance(column, tuple) else column.to_pylist() for column in columns), strict=True)


def _column(values: tuple[Any, ...]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) != 1 or (kind := _KINDS.get(kinds.pop())) is None:
        return values
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):  # integers beyond 64 bits, lone surrogates
        return values
