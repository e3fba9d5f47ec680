"""Forwards to `crucible_datasets.outputs`: what rows are shown as."""

from __future__ import annotations

from typing import Any

from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops.mapping.lazy import LazyBatch, LazyRow
from crucible_datasets.outputs.base import OUTPUTS, Formatter

from . import formatting
from ._queries import format_table, query_table

__all__ = [
    "Formatter",
    "LazyBatch",
    "LazyRow",
    "format_table",
    "formatting",
    "get_format_type_from_alias",
    "get_formatter",
    "query_table",
]


def get_format_type_from_alias(format_type: str | None) -> str | None:
    """The name of an output, by any of its names; None is Python objects."""
    name = None if format_type is None else OUTPUTS[format_type].name
    return None if name == "python" else name


def get_formatter(format_type: str | None, **format_kwargs: Any) -> Formatter:
    """What turns Arrow rows into objects of one library."""
    return OUTPUTS[format_type or "python"].make(**format_kwargs)


names_of_datasets(__name__)
