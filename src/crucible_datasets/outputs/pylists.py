"""Arrow → Python lists and dicts, all of them at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from crucible_datasets.outputs.python import paused_for

_ROWS_AT_ONCE = 256  # decoding is fastest while they fit the CPU cache


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """Every row as a dict."""
    with paused_for(*table.schema.types):
        return [row for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE) for row in batch.to_pylist()]


def column_of(column: pa.ChunkedArray) -> list[Any]:
    """Every value of a column."""
    with paused_for(column.type):
        return list(column.to_pylist())
