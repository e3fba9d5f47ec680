"""Arrow tables and data frames that a function returned."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import FunctionResultError
from crucible_datasets.features import Features
from crucible_datasets.features.frames import arrow_of_pandas, arrow_of_polars
from crucible_datasets.ops.mapping.typing import Typing
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.writing import concatenated


def is_frame_type(kind: type) -> bool:
    """Whether a type is an Arrow table or a data frame, without importing any library."""
    return issubclass(kind, (pa.Table, pa.RecordBatch)) or _library(kind) is not None


def _library(kind: type) -> str | None:
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        if module is not None and issubclass(kind, module.DataFrame):
            return library
    return None


def as_table(values: list[Any], batched: bool, typing: Typing) -> tuple[pa.Table, Features]:
    """Returned tables as one table of storage types, and its features."""
    for value in values:
        if not is_frame_type(type(value)):
            raise FunctionResultError(type(value).__name__, batched)
        if not batched and len(value) != 1:
            raise FunctionResultError(f"a table of {len(value)} rows", batched)
    table = concatenated([_arrow(value, typing) for value in values], typing.on_mixed_types)
    return ArrowTable.of(table).table, Features.from_arrow_schema(table.schema)


def _arrow(value: Any, typing: Typing) -> pa.Table:
    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    if _library(type(value)) == "pandas":
        return arrow_of_pandas(value, None, typing.wanted, typing.on_mixed_types)
    return arrow_of_polars(value, typing.wanted, typing.on_mixed_types)
