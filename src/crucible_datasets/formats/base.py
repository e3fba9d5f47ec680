"""`Format`, the interface of a file format, and the registry of formats.

A format is one file with one `FORMAT`. Its `read` turns the bytes of one file into Arrow
tables, in blocks; options are its keyword parameters. If `read` does not select columns or filter rows itself,
`Format.rows` does.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, FileFormatError
from crucible_datasets.formats.filters import Filters, expression_of, unknown_column
from crucible_datasets.formats.streams import name_of
from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry

__all__ = ["FORMATS", "Filters", "Format", "columns_of", "expression_of", "fitting", "narrowed"]

# Raised by Arrow for filters that do not fit the columns. Other errors (out of memory, cancelled) have other causes.
_MISFITS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, pa.ArrowKeyError)
_NO_OPTIONS = ("columns", "filters", "features", "expected")


@dataclass(frozen=True)
class Format:
    """One kind of file.

    `read(stream, *, columns=None, filters=None, features=None, **options)` yields tables; if it infers dates, it also
    takes `expected`, the features of other rows.
    `write(tables, features, stream, **options)` writes them and returns the number of bytes.
    """

    name: str
    extensions: tuple[str, ...]
    read: Callable[..., Iterator[pa.Table]]
    write: Callable[..., int] | None = None
    aliases: tuple[str, ...] = ()
    by_extension: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # options that an extension implies
    in_place: bool = False  # read without conversion
    infers_dates: bool = False  # text that looks like a date is read as a timestamp, unless `expected` says text
    needs_path: bool = False  # `read` opens the file by its path, so it cannot read from memory or out of an archive
    reads_archives: bool = False  # the archive itself is a file of this format: it is not unpacked
    common_types: Callable[..., Any] | None = None  # streams with their options → the types that fit all rows of all
    folder: Any = None  # for media: a `MediaFolder` (formats.folders); rows are made of the whole folder

    def options(self) -> dict[str, Any]:
        """The options that `read` takes, with their defaults."""
        parameters = inspect.signature(self.read).parameters.values()
        return {
            parameter.name: parameter.default
            for parameter in parameters
            if parameter.kind is parameter.KEYWORD_ONLY
            and parameter.name not in ("columns", "filters", "features", "expected")
        }

    def rows(
        self,
        stream: BinaryIO,
        *,
        columns: list[str] | None = None,
        filters: Filters = None,
        features: Any = None,
        **options: Any,
    ) -> Iterator[pa.Table]:
        """The tables of the file, with only the requested columns and rows."""
        expression = expression_of(filters)
        if columns is not None and len(set(columns)) != len(columns):
            raise ArgumentError("columns", columns, "expected names that differ.")
        if self.needs_path and not os.path.exists(name_of(stream)):
            raise FileFormatError(name_of(stream), f"{self.name} is read from a file of this disk: unpack it first.")
        for table in self.read(stream, columns=columns, filters=expression, features=features, **options):
            yield narrowed(table, columns, expression)


FORMATS: Registry[Format] = Registry("format", "crucible_datasets.formats", "FORMAT")


def columns_of(filters: pc.Expression | None, available: list[str]) -> list[str]:
    """The columns that an expression uses, and perhaps more."""
    if filters is None:
        return []
    # Expressions do not list their fields. Searching their text finds all of them, and sometimes others.
    text = str(filters)
    return [name for name in available if name in text]


def narrowed(table: pa.Table, columns: list[str] | None, filters: pc.Expression | None) -> pa.Table:
    """The rows that match, with only the columns asked for."""
    if filters is not None:
        with fitting(filters, table.column_names):
            table = table.filter(filters)
    if columns is None or table.column_names == list(columns):
        return table
    for column in columns:
        if column not in table.column_names:
            raise ColumnNotFoundError(column, table.column_names)
    return table.select(columns)


@contextmanager
def fitting(filters: pc.Expression, available: Iterable[str] | None = None) -> Iterator[None]:
    """Turn errors of Arrow about filters that do not fit the columns into errors about the argument `filters`."""
    try:
        yield
    except _MISFITS as error:
        unknown, names = unknown_column(error), None if available is None else list(available)
        if unknown is not None and names is not None and unknown not in names:
            raise ColumnNotFoundError(unknown, names) from error
        raise ArgumentError("filters", str(filters), f"they do not fit the columns: {error}") from error
