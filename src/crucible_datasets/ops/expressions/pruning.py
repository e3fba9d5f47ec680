"""Comparisons in polars and DuckDB expressions as conditions for Parquet statistics."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

from crucible_datasets.formats.filters import Clauses
from crucible_datasets.tables.statistics import ALWAYS

SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def condition(name: str, operator: str, value: Any, schema: pa.Schema) -> Clauses:
    """The condition as clauses; no condition if statistics cannot decide it."""
    if name not in schema.names or not _can_tell(schema.field(name).type, operator, value):
        return ALWAYS
    return [[(name, operator, value)]]


def _can_tell(kind: pa.DataType, operator: str, value: Any) -> bool:
    if isinstance(value, list):
        return all(_can_tell(kind, "=", one) for one in value)
    if pa.types.is_integer(kind):
        return type(value) is int
    if pa.types.is_float64(kind):
        # Both engines treat NaN as larger than any number, and statistics ignore it.
        return type(value) in (int, float) and operator not in (">", ">=", "!=")
    if pa.types.is_date(kind):
        return type(value) is datetime.date
    return pa.types.is_string(kind) and type(value) is str
