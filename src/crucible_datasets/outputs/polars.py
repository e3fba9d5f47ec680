"""Polars frames: a row is a frame of one row, a column a series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import CastError
from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import decoded
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.storage import to_extension
from crucible_datasets.outputs.base import Output
from crucible_datasets.registry import need


class PolarsFormatter:
    """Types are those Polars gives to Arrow's; decoded values are typed where they agree, otherwise objects."""

    def __init__(self) -> None:
        self.polars = need("polars", extra="polars")
        self._refusals = (self.polars.exceptions.PolarsError, self.polars.exceptions.PanicException)

    def row(self, table: pa.Table, features: Features) -> Any:
        return self.batch(table, features)

    def rows(self, table: pa.Table, features: Features) -> Iterator[Any]:
        shown = self.batch(table, features)
        return (shown[index : index + 1] for index in range(len(shown)))

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        # A column remembers its name in the table.
        name = column._name or ""
        if decoder(feature):
            return self._series(name, decoded(column.to_pylist(), feature, name))
        typed = to_extension(column, feature)
        try:
            return self._frame(pa.table([typed], names=[name]))[name]
        except self._refusals as error:
            raise CastError(name, str(column.type), "polars", str(error)) from error

    def _frame(self, table: pa.Table) -> Any:
        try:
            return self.polars.from_arrow(table)
        except self.polars.exceptions.ComputeError:
            # Slices of fixed-size lists with nulls are refused (2.1), copies of them are not.
            return self.polars.from_arrow(table.take(pa.array(range(len(table)), pa.int64())))

    def batch(self, table: pa.Table, features: Features) -> Any:
        pairs = zip(table.columns, features.values(), strict=True)
        if not any(decoder(feature) for feature in features.values()):
            # Without metadata in the schema: Polars ignores it, and for wide tables it takes longer than the rest.
            typed = pa.table([to_extension(*pair) for pair in pairs], names=list(features))
            try:
                return self._frame(typed)
            except self._refusals:
                pairs = zip(table.columns, features.values(), strict=True)  # one of them says its name
        return self.polars.DataFrame([self.column(column, feature) for column, feature in pairs])

    def _series(self, name: str, values: list[Any]) -> Any:
        objects = self.polars.Series(name, values, dtype=self.polars.Object)
        try:
            series = self.polars.Series(name, values, strict=True)
        except (TypeError, ValueError, OverflowError, *self._refusals):
            return objects
        # A type inferred from some values would change the others: 0 beside 0.5 is equal to 0.0, and not the same.
        return series if repr(series.to_list()) == repr(values) else objects


OUTPUT = Output("polars", PolarsFormatter, aliases=("pl",), lazy_column=False, mapping=False, package="polars")
