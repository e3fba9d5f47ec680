"""Polars frames: a row is a frame of one row, a column a series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

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
        return self.polars.from_arrow(to_extension(column, feature)).alias(name)

    def batch(self, table: pa.Table, features: Features) -> Any:
        pairs = zip(table.columns, features.values(), strict=True)
        if not any(decoder(feature) for feature in features.values()):
            # Without metadata in the schema: Polars ignores it, and for wide tables it takes longer than the rest.
            return self.polars.from_arrow(pa.table([to_extension(*pair) for pair in pairs], names=list(features)))
        return self.polars.DataFrame([self.column(column, feature) for column, feature in pairs])

    def _series(self, name: str, values: list[Any]) -> Any:
        objects = self.polars.Series(name, values, dtype=self.polars.Object)
        try:
            series = self.polars.Series(name, values, strict=True)
        except (TypeError, self.polars.exceptions.PolarsError):
            return objects
        # A type inferred from some values would change the others.
        return series if series.to_list() == values else objects


OUTPUT = Output("polars", PolarsFormatter, aliases=("pl",), lazy_column=False, mapping=False, package="polars")
