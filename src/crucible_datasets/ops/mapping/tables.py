"""Arrow tables and data frames that a function returned."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import FunctionResultError
from crucible_datasets.features import Features
from crucible_datasets.features.infer import infer_column
from crucible_datasets.tables.table import ArrowTable


def is_frame_type(kind: type) -> bool:
    """Whether a type is an Arrow table or a data frame, without importing any library."""
    return issubclass(kind, (pa.Table, pa.RecordBatch)) or _library(kind) is not None


def _library(kind: type) -> str | None:
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        if module is not None and issubclass(kind, module.DataFrame):
            return library
    return None


def as_table(values: list[Any], batched: bool) -> tuple[pa.Table, Features]:
    """Returned tables as one table of storage types, and its features."""
    for value in values:
        if not is_frame_type(type(value)):
            raise FunctionResultError(type(value).__name__, batched)
        if not batched and len(value) != 1:
            raise FunctionResultError(f"a table of {len(value)} rows", batched)
    tables = [_arrow(value) for value in values]
    table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    return ArrowTable.of(table).table, Features.from_arrow_schema(table.schema)


def _arrow(value: Any) -> pa.Table:
    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    return _of_pandas(value) if _library(type(value)) == "pandas" else value.to_arrow()


def _of_pandas(frame: Any) -> pa.Table:
    # Arrow does not accept multi-dimensional arrays as cells.
    tensors = {
        name: infer_column(list(frame[name]), str(name))[0]
        for name in frame.columns
        if frame[name].dtype == object and any(getattr(cell, "ndim", 0) > 1 for cell in frame[name])
    }
    if not tensors:
        return pa.Table.from_pandas(frame)
    others = pa.Table.from_pandas(frame.drop(columns=list(tensors)))
    return pa.table({str(name): tensors[name] if name in tensors else others[str(name)] for name in frame.columns})
