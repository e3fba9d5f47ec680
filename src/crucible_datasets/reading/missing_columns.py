"""Requested columns that only some files of a split have.

A column that exists in any file is null in the others; one that exists in none is an error. So a misspelt name is
searched for in all files, and the search must be cheap: for CSV and text the first lines suffice, and a file whose
bytes do not contain the name is not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, FileColumnsError, FileFormatError
from crucible_datasets.features import Features, Value
from crucible_datasets.features.storage import storage_type
from crucible_datasets.formats.base import Filters, expression_of, narrowed
from crucible_datasets.formats.streams import BLOCK, is_utf8
from crucible_datasets.reading.files import DataFile, opened

if TYPE_CHECKING:
    from crucible_datasets.reading.request import Request

_HEAD = 1 << 16
_TOLD = 8  # how many files' columns the error lists as available
_OF_LINES = ("csv", "text")  # formats whose columns are known from the first lines
_OF_VALUES = {"sep", "delimiter", "chunksize", "dtype", "na_values", "keep_default_na"}  # CSV options that keep names
_NEVER_ESCAPED = re.compile(r"[A-Za-z0-9_. -]+")  # names that JSON writes without escapes


class Seen:
    """The columns seen so far, and a requested one that is still missing."""

    def __init__(self, columns: Sequence[str] | None, filters: Filters) -> None:
        self.features: dict[str, object] = {}
        self.missing: str | None = None
        self.names_are_many = False  # enough for the error message
        self._columns, self._filters = columns, expression_of(filters)

    def add(self, found: Features) -> None:
        """Add the columns of some rows; any other type replaces null."""
        null = Value("null")
        self.features |= {name: kind for name, kind in found.items() if self.features.get(name, null) == null}
        self.missing = missing_column(Features(self.features), self._columns, self._filters)


Look = Callable[[Seen], Iterable[Features]]


def known_columns(looks: Iterable[Look], columns: Sequence[str] | None, filters: Filters) -> Features:
    """The columns of as many files as it takes to find all requested ones; raises if one is in no file."""
    seen = Seen(columns, filters)
    for number, look in enumerate(looks):
        seen.names_are_many = number >= _TOLD
        for found in look(seen):
            seen.add(found)
            if seen.missing is None:
                return Features(seen.features)
    if seen.missing is not None:
        raise ColumnNotFoundError(seen.missing, seen.features)
    return Features(seen.features)


def require_stated(looks: Iterable[Look], stated: Features) -> None:
    """Refuse features that no file has; files without any row say nothing."""
    try:
        known_columns(looks, list(stated), None)
    except ColumnNotFoundError as error:
        if error.available:
            raise FileColumnsError(stated, error.available) from None


def missing_column(known: Features, columns: Sequence[str] | None, filters: Filters) -> str | None:
    """A requested column that is not among the known ones, or None."""
    schema = pa.schema([(name, storage_type(kind)) for name, kind in known.items()])
    try:
        narrowed(schema.empty_table(), None if columns is None else list(columns), expression_of(filters))
    except ColumnNotFoundError as error:
        return str(error.column)
    except ArgumentError:
        pass  # filters of a wrong type raise when rows are read
    return None


def looked_at(file: DataFile, request: Request, seen: Seen) -> Iterator[Features]:
    """The columns of a file's first rows, then of more rows as long as the caller goes on."""
    options = dict(request.options)
    if options.get("on_bad_lines") == "warn":
        options["on_bad_lines"] = "skip"  # warnings are shown when rows are read
    everything = replace(request, options=options, columns=None, filters=None, known=None)
    with suppress(FileFormatError):
        if seen.missing is not None and seen.names_are_many and not _may_hold(file, request, seen.missing):
            return
        found = [Features.from_arrow_schema(table.schema) for table in _of_head(file, everything)]
        yield from found
        if found and request.format.name in _OF_LINES:
            return
        if seen.missing is not None and not _may_hold(file, request, seen.missing):
            return
        is_one_enough = request.format.name != "json" or file.elsewhere is not None
        with closing(everything.tables(file)) as tables:
            for table, _ in islice(tables, 1) if is_one_enough else tables:
                yield Features.from_arrow_schema(table.schema)


def _of_head(file: DataFile, everything: Request) -> Iterator[pa.Table]:
    """The rows of the first lines, for formats made of lines."""
    if everything.format.name not in (*_OF_LINES, "json"):
        return
    with opened(file) as stream:
        head = stream.read(_HEAD)
    lines = head[: head.rfind(b"\n") + 1] if len(head) == _HEAD else head
    with suppress(FileFormatError):  # the cut may be in the middle of a record
        yield from (table for table, _ in islice(everything.tables(file, lines), 1))


def _may_hold(file: DataFile, request: Request, name: str) -> bool:
    """Whether a file may have a column, judging by its bytes."""
    if not _NEVER_ESCAPED.fullmatch(name) or not _is_spelled_out(file, request):
        return True
    key = f'"{name}"'.encode() if request.format.name == "json" else name.encode()
    # Names are in the first lines of CSV, and anywhere in JSON; but no remote file is downloaded for them.
    size, is_read_on = (BLOCK, file.elsewhere is None) if request.format.name == "json" else (_HEAD, False)
    before = b""
    with opened(file) as stream:
        while data := stream.read(size):
            if key in before + data:
                return True
            before = data[-len(key) :]
            if not is_read_on:
                break
    return False


def _is_spelled_out(file: DataFile, request: Request) -> bool:
    """Whether column names occur literally in the bytes of a file."""
    options = request.all_options(file)
    if request.format.name == "csv":
        return options.keys() <= _OF_VALUES
    return request.format.name == "json" and is_utf8(options.get("encoding"))
