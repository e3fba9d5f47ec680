"""pandas frames: a row is a frame of one row, a column a series."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import CastError
from crucible_datasets.features import Features, dtypes
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.batch_decode import decoded
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.storage import one_array
from crucible_datasets.outputs import arrays
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.python import collector_paused
from crucible_datasets.registry import need

_EXACT = 1 << 53  # floats have all integers up to here


class PandasFormatter:
    """Types are those `pyarrow` chooses; decoded values are objects, matrices are numpy arrays."""

    def __init__(self, integer_object_nulls: bool = False) -> None:
        self.pandas = need("pandas", extra="pandas")
        self.options = {"integer_object_nulls": True} if integer_object_nulls else {}

    def row(self, table: pa.Table, features: Features) -> Any:
        return self.batch(table, features)

    def rows(self, table: pa.Table, features: Features) -> Iterator[Any]:
        return (self.batch(table.slice(index, 1), features) for index in range(table.num_rows))

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        # A column remembers its name in the table, which `to_pandas` uses.
        if decoder(feature):
            values = decoded(column.to_pylist(), feature, column._name)
            return self._series(values, column._name)
        if isinstance(feature, ArrayXD):
            rows = arrays.matrices(one_array(column), feature.shape)
            return self.pandas.Series(np.fromiter(rows, dtype=object, count=len(rows)), name=column._name)
        if _are_records(column.type):
            return self.pandas.Series(_lists_of_records(column), name=column._name)
        options = {"integer_object_nulls": True} if _would_be_rounded(column) else self.options
        try:
            return column.to_pandas(**options)
        except pa.ArrowException as error:
            raise CastError(column._name, str(column.type), "pandas", str(error)) from error

    def _series(self, values: list[Any], name: str) -> Any:
        objects = self.pandas.Series(values, name=name, dtype=object)
        try:
            series = self.pandas.Series(values, name=name)
        except UnicodeEncodeError:  # half of a surrogate pair
            return objects
        has_integers = series.dtype.kind == "f" and any(type(value) is int for value in values)
        return objects if has_integers else series

    def batch(self, table: pa.Table, features: Features) -> Any:
        special = {
            name
            for (name, feature), column in zip(features.items(), table.columns, strict=True)
            if decoder(feature)
            or isinstance(feature, ArrayXD)
            or _are_records(column.type)
            or _would_be_rounded(column)
        }
        try:
            plain = (table.drop_columns(list(special)) if special else table).to_pandas(**self.options)
        except pa.ArrowException:
            # One of them cannot be converted, and says its name.
            special, plain = set(features), None
        if not special:
            return plain
        columns = {
            name: self.column(column, features[name]) if name in special else plain[name]
            for name, column in zip(features, table.columns, strict=True)
        }
        return self.pandas.DataFrame(columns)


def _would_be_rounded(column: pa.ChunkedArray) -> bool:
    """Whether there are integers beside nulls, at any depth, that are not exact as floats."""
    if pa.types.is_struct(column.type):
        return any(map(_would_be_rounded, column.flatten()))
    if dtypes.is_list(column.type):
        return _would_be_rounded(pc.list_flatten(column))
    if column.type not in (pa.int64(), pa.uint64()) or not column.null_count:
        return False
    least, most = pc.min_max(column).as_py().values()
    return most is not None and (most > _EXACT or least < -_EXACT)


def _are_records(kind: pa.DataType) -> bool:
    """Whether values are lists of dicts of texts, as the messages of a chat are."""
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return (
        is_list
        and pa.types.is_struct(kind.value_type)
        and all(pa.types.is_string(field.type) for field in kind.value_type)
    )


def _lists_of_records(column: pa.ChunkedArray) -> Any:
    """The arrays of dicts that `to_pandas` makes, a fifth faster, since strings are not deduplicated."""
    with collector_paused():
        cells = (cell for chunk in column.chunks for cell in _cells(chunk))
        return np.fromiter(cells, dtype=object, count=len(column))


def _cells(lists: Any) -> Iterator[Any]:
    offsets = lists.offsets.to_pylist()
    first, last = offsets[0], offsets[-1]
    records = np.empty(last - first, dtype=object)
    records[:] = lists.values.slice(first, last - first).to_pylist()
    cells = (records[start - first : stop - first] for start, stop in pairwise(offsets))
    if not lists.null_count:
        return cells
    return (cell if valid else None for cell, valid in zip(cells, lists.is_valid().to_pylist(), strict=True))


OUTPUT = Output("pandas", PandasFormatter, aliases=("pd",), lazy_column=False, mapping=False, package="pandas")
