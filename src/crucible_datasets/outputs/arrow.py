"""Arrow tables, with the features' own types and their description in the schema's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.storage import to_extension
from crucible_datasets.outputs.base import Output


class ArrowFormatter:
    """A row is a table of one row, a column a `ChunkedArray`."""

    def __init__(self) -> None:
        self._last: tuple[Features, pa.Schema, dict[bytes, bytes]] | None = None

    def row(self, table: pa.Table, features: Features) -> pa.Table:
        return self.batch(table, features)

    def rows(self, table: pa.Table, features: Features) -> Iterator[pa.Table]:
        shown = self.batch(table, features)
        return (shown.slice(index, 1) for index in range(len(shown)))

    def column(self, column: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
        return to_extension(column, feature)

    def batch(self, table: pa.Table, features: Features) -> pa.Table:
        schema, metadata = self._described(features)
        if table.schema.equals(schema):
            return table.replace_schema_metadata(metadata)
        columns = [to_extension(table.column(name), feature) for name, feature in features.items()]
        return pa.Table.from_arrays(columns, schema=schema)

    def _described(self, features: Features) -> tuple[pa.Schema, dict[bytes, bytes]]:
        # Cached, since creating the metadata costs more than the rest of a batch.
        if self._last is None or self._last[0] is not features:
            schema = features.arrow_schema
            self._last = features, schema, schema.metadata
        return self._last[1:]


OUTPUT = Output("arrow", ArrowFormatter, aliases=("pa", "pyarrow"), lazy_column=False, mapping=False)
