"""A request: how to read files, and which columns and rows of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from typing import Any, BinaryIO, cast

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import storage_type
from crucible_datasets.formats.base import Filters, Format, columns_of, expression_of, narrowed
from crucible_datasets.formats.faults import require_policy
from crucible_datasets.formats.filters import identity_of
from crucible_datasets.formats.streams import NamedBytes
from crucible_datasets.reading.files import DataFile, opened
from crucible_datasets.records import dataclass

_NEUTRAL = {"download", "use_threads"}


@dataclass(frozen=True)
class Request:
    """How to read files: the format and its options, and which columns and rows.

    `features` are requested by the caller, `described` come from the dataset's card. The former may select columns, if
    the format supports it; the latter must match the files.
    """

    format: Format
    options: Mapping[str, Any] = field(default_factory=dict)
    implied: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # options by extension
    features: Features | None = None
    described: Features | None = None
    columns: list[str] | None = None
    filters: Filters = None
    on_bad_files: str = "error"
    known: Features | None = None  # the columns of all files, if some lack a requested one
    types: Mapping[str, pa.DataType] | None = None  # of columns of text, as other rows have them
    expected: Features | None = None  # the types of other rows, for formats that infer dates from text

    def __post_init__(self) -> None:
        require_policy(self.on_bad_files)
        if self.columns is not None and not len(self.columns):
            raise ArgumentError("columns", self.columns, "name one at least: without columns there are no rows.")

    @property
    def raises(self) -> bool:
        """Whether a damaged file is an error; otherwise its good rows are read, and then the next file."""
        return self.on_bad_files == "error"

    @property
    def quiet(self) -> Request:
        """The same request for a look at the files, which says nothing about damage that reading them will tell."""
        return self if self.raises else replace(self, on_bad_files="skip")

    @property
    def is_downloaded(self) -> bool:
        """Whether remote files are downloaded before they are read."""
        return bool(self.options.get("download", True))

    @property
    def final(self) -> Features | None:
        """The features of the result, if known before reading."""
        stated = self.features or self.described
        return None if stated is None else self.only(stated)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What rows and positions of a file depend on besides its content; `on_bad_files` changes neither."""
        options = {name: value for name, value in self.options.items() if name not in _NEUTRAL}
        return self.format.name, options, self.features, self.columns, identity_of(self.filters)

    @property
    def needs_stated(self) -> bool:
        """Whether every column that the caller states must be in a file: CSV has a header, so others are misspelt."""
        return bool(self.features) and self.format.name == "csv"

    def needed(self, available: list[str]) -> list[str]:
        """The columns of a file that must be read: the requested ones, and those that the filters use."""
        if self.columns is None:
            return available
        needed = {*self.columns, *columns_of(expression_of(self.filters), available)}
        return [name for name in available if name in needed] or available[:1]  # for the number of rows

    def only(self, features: Features) -> Features:
        """The requested ones among these columns."""
        names = features if self.columns is None else [name for name in self.columns if name in features]
        return Features({name: features[name] for name in names})

    def _implied(self, file: DataFile) -> Mapping[str, Any]:
        """The options implied by the extension, even if another follows, as in `data.tsv.gz`."""
        parts = os.path.basename(file.inner or file.path).split(".")[1:]
        return next((self.implied[f".{part}"] for part in reversed(parts) if f".{part}" in self.implied), {})

    def all_options(self, file: DataFile) -> dict[str, Any]:
        """The options for a file: those implied by its extension, and those given."""
        return {**self._implied(file), **self.options}

    @property
    def _parsed_as(self) -> Features | None:
        """The features that the parser is told: JSON objects in a column of strings, for example, stay text."""
        return self.features or (self.described if self.format.name == "json" else None)

    def _parser_options(self, file: DataFile) -> dict[str, Any]:
        """What the parser is told about a file: its options, and what is known about the types of its columns."""
        options = {"features": self._parsed_as, **self.all_options(file)}
        if self.format.infers_dates:
            options["expected"] = self.expected
        if self.format.name == "csv" and (self.types or self.described):
            from crucible_datasets.formats.csv_types import Types

            options["dtype"] = Types(options.get("dtype"), self.described or {}, self.types or {})
        return options

    def parsed(self, stream: BinaryIO, file: DataFile) -> Iterator[pa.Table]:
        """The requested rows and columns of a file's bytes."""
        return self.format.rows(stream, columns=self.columns, filters=self.filters, **self._parser_options(file))

    def filled(self, stream: BinaryIO, file: DataFile) -> Iterator[pa.Table]:
        """The same for a file that lacks requested columns of other files, which become null."""
        return map(self.narrowed, self.format.rows(stream, **self._parser_options(file)))

    def narrowed(self, table: pa.Table) -> pa.Table:
        """The requested rows and columns of a table."""
        return narrowed(self.filtered(table), self.columns, None)

    def filtered(self, table: pa.Table) -> pa.Table:
        """The rows that match the filters; requested columns that only other files have are null."""
        if self.filters is None and self.known is None:
            return table
        lacking = self.lacking(table.column_names)
        for name, kind in lacking.items():  # filters need a typed column
            table = table.append_column(name, pa.nulls(table.num_rows, storage_type(kind)))
        rows = narrowed(table, None, expression_of(self.filters))
        for name in lacking:  # but for the common type, null says nothing
            rows = rows.set_column(rows.column_names.index(name), name, pa.nulls(rows.num_rows))
        return rows

    def lacking(self, available: Collection[str]) -> Features:
        """The requested columns that only other files have."""
        known = self.known or Features()
        needed = {*(self.columns or ()), *columns_of(expression_of(self.filters), list(known))}
        return Features({name: known[name] for name in known if name in needed and name not in available})

    def tables(self, file: DataFile, text: bytes | None = None) -> Generator[tuple[pa.Table, int], None, None]:
        """The requested rows and columns of a file, or of some text of it, with the number of bytes read so far."""
        given = 0
        try:
            with _bytes_of(file, text) as stream:
                for table in self.parsed(stream, file):
                    given += table.num_rows
                    yield table, _position(stream, file)
            return
        except FileFormatError as error:
            raise error.in_row(given if text is None and self.filters is None else None) from error.__cause__
        except ColumnNotFoundError as error:
            if error.column not in (self.known or ()):
                raise
        with _bytes_of(file, text) as stream:  # skip rows that were yielded before the error
            for table in self.filled(stream, file):
                rest, given = table.slice(given), max(given - table.num_rows, 0)
                yield rest, _position(stream, file)


def _bytes_of(file: DataFile, text: bytes | None) -> AbstractContextManager[BinaryIO]:
    return opened(file) if text is None else nullcontext(cast(BinaryIO, NamedBytes(text, file.name)))


def _position(stream: Any, file: DataFile) -> int:
    try:
        return min(int(stream.tell()), file.size)
    except (OSError, ValueError, AttributeError):
        return 0
