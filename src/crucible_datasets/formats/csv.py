"""Comma-separated values, with the options of pandas.

Every field is first read as text, by Arrow or, where Arrow cannot, record by record (`csv_records`). `csv_types` then
converts the texts to the features of the columns, or infers the type of each column from all rows. A file of more than
one block is read twice for that, so that only one block is in memory at a time.
"""

from __future__ import annotations

import codecs
import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.csv as arrow_csv

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import CastError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import feature_of
from crucible_datasets.formats.base import Filters, Format, columns_of
from crucible_datasets.formats.csv_layout import Layout, layout, place_of
from crucible_datasets.formats.csv_options import dialect_of, require_known
from crucible_datasets.formats.csv_records import Dialect, Records
from crucible_datasets.formats.csv_types import (
    FLOATS,
    KINDS,
    TEXT,
    ColumnType,
    Types,
    Words,
    whole_numbers,
    words_of,
)
from crucible_datasets.formats.csv_write import write
from crucible_datasets.formats.row_names import Counting
from crucible_datasets.formats.streams import NamedBytes, PieceStream, as_utf8, batched, name_of
from crucible_datasets.logging import get_logger

_BLOCK = 32 << 20
_PIECE = 1 << 20  # of a block, for a thread
_CLOSING = "end of the file, not of a quoted field"
_MARK = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_IN_LINE = re.compile(rb"[^\r\n]")


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    sep: str | None = ",",
    delimiter: str | None = None,
    header: int | Sequence[int] | str | None = "infer",
    names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    index_col: Any = None,
    usecols: Any = None,
    prefix: str | None = None,
    mangle_dupe_cols: bool = True,
    engine: str | None = None,
    converters: dict[Any, Callable[[str], Any]] | None = None,
    true_values: list[str] | None = None,
    false_values: list[str] | None = None,
    skipinitialspace: bool = False,
    skiprows: Any = None,
    nrows: int | None = None,
    na_values: Any = None,
    keep_default_na: bool = True,
    na_filter: bool = True,
    verbose: bool = False,
    skip_blank_lines: bool = True,
    thousands: str | None = None,
    decimal: str = ".",
    lineterminator: str | None = None,
    quotechar: str = '"',
    quoting: int = 0,
    escapechar: str | None = None,
    comment: str | None = None,
    encoding: str | None = None,
    dialect: str | None = None,
    error_bad_lines: bool = True,
    warn_bad_lines: bool = True,
    skipfooter: int = 0,
    doublequote: bool = True,
    memory_map: bool = False,
    float_precision: str | None = None,
    chunksize: int = 10_000,
    encoding_errors: str | None = "strict",
    on_bad_lines: str | Callable[[list[str]], list[str] | None] = "error",
    date_format: str | None = None,
    dtype: Any = None,
) -> Iterator[pa.Table]:
    """Yield tables of typed columns.

    Internally, `dtype` may be `Types`, and `header` the `Layout` of the file that a block without header is from.
    """
    with _table_of(stream, locals()) as table:
        if table is not None:
            yield from table.typed()


def common_types(files: Iterable[tuple[BinaryIO, Mapping[str, Any]]]) -> dict[str, pa.DataType]:
    """The types that fit the rows of all files, which are streams with options of `read`."""
    types: dict[str, ColumnType] = {}
    for stream, options in files:
        with suppress(FileFormatError), _table_of(stream, {**_defaults(), **options}) as table:
            if table is not None:
                types = table.column_types() | types
                table.inferred({name: types[name] for name in table.column_types()}, {})
    return {name: kind.arrow() for name, kind in types.items() if kind.is_open}


def _defaults() -> dict[str, Any]:
    parameters = inspect.signature(read).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def layout_of(stream: BinaryIO, options: Mapping[str, Any]) -> Layout | None:
    """Where the columns of a file are; None if it is empty."""
    with _table_of(stream, {**_defaults(), **options}) as table:
        return None if table is None else table.layout


@contextmanager
def _table_of(stream: BinaryIO, options: dict[str, Any]) -> Iterator[_Table | None]:
    """The file that `read` was called with, by the options that it was called with."""
    require_known(options)
    names = ("sep", "quotechar", "quoting", "escapechar", "doublequote", "skipinitialspace", "dialect")
    others = ("comment", "lineterminator", "skip_blank_lines", "skiprows")
    separator = options["sep"] if options["delimiter"] is None else options["delimiter"]
    csv_dialect = dialect_of(**{name: options[name] for name in (*names, *others)} | {"sep": separator})
    source = _Source(stream, options["encoding"], options["encoding_errors"])
    with closing(source):
        fields = options["header"]
        if not isinstance(fields, Layout):
            column_names = options["names"] if options["column_names"] is None else options["column_names"]
            records = Records(source.opened(), csv_dialect)
            skips_bad_lines = options["on_bad_lines"] in ("warn", "skip")
            fields = layout(
                records, source.name, fields, column_names, options["index_col"], options["usecols"], skips_bad_lines
            )
        yield None if fields is None else _Table.of(source, csv_dialect, fields, options)


class _Source:
    """The bytes of a file as UTF-8, which can be read several times, up to the error that ends them, if any."""

    def __init__(self, stream: BinaryIO, encoding: str | None, errors: str | None) -> None:
        self.name = name_of(stream)
        self.failure: FileFormatError | None = None
        utf8 = as_utf8(stream, encoding, errors)
        self.head = b"".join(self._read(utf8, _BLOCK))
        self.whole = len(self.head) < _BLOCK
        self.head = self.head.removeprefix(_MARK)
        self._rest = None if self.whole else self._rewindable(utf8)
        self._own = self._rest is not None and self._rest is not utf8
        self._start = self._rest.tell() if self._rest else 0

    def _read(self, stream: BinaryIO, size: int | None = None) -> Iterator[bytes]:
        """Up to `size` bytes in pieces; an error ends them and is remembered."""
        try:
            while size != 0 and (data := stream.read(_PIECE if size is None else size)):
                yield data
                size = None if size is None else size - len(data)
        except FileFormatError as error:
            self.failure = error

    def _rewindable(self, stream: BinaryIO) -> BinaryIO:
        if stream.seekable():
            return stream
        copy = tempfile.TemporaryFile()  # noqa: SIM115  closed with the source
        copy.writelines(self._read(stream))
        copy.seek(0)
        return cast(BinaryIO, copy)

    def close(self) -> None:
        """Delete the copy that was made of a stream that is not seekable."""
        if self._own and self._rest is not None:
            self._rest.close()

    def opened(self, start: int = 0) -> BinaryIO:
        """A stream of the bytes from `start` on; `start` is in the first block."""
        if self._rest is None and self.failure is None:
            return NamedBytes(self.head[start:], self.name)
        return cast(BinaryIO, PieceStream(self.pieces(start), self.name))

    def pieces(self, start: int) -> Iterator[bytes]:
        """The bytes from `start` on."""
        yield self.head[start:]
        if self._rest is not None:
            self._rest.seek(self._start)
            while data := self._rest.read(_PIECE):
                yield data
        if self.failure is not None:
            raise self.failure


@dataclass
class _Closing:
    """A record after the last one, which shows whether a quoted field is still open at the end of the file.

    Arrow ends such a field where the file ends, and gives a part of a record for a record. The field is open if it
    swallows the additional record. Only an odd number of quotes makes the test necessary.
    """

    dialect: Dialect
    width: int
    is_added: bool = False

    def following(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces, and the record if it is needed."""
        quotes, last = 0, b""
        for piece in pieces:
            quotes += self.quotes_in(piece)
            last = piece[-1:] or last
            yield piece
        yield self.record(quotes, last)

    def quotes_in(self, text: bytes, start: int = 0) -> int:
        """The number of quotes from a byte on."""
        return text.count(self.dialect.quotechar.encode(), start) if self.dialect.quotechar else 0

    def record(self, quotes: int, last: bytes) -> bytes:
        """The record, after so many quotes and this last character; empty if it is not needed."""
        if quotes % 2 == 0:
            return b""
        self.is_added = True
        end = b"" if last in (b"\n", b"\r") else b"\n"
        return end + (self.dialect.sep or "").encode().join([_CLOSING.encode()] * self.width) + b"\n"

    def removed(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The tables without the record."""
        waiting: pa.Table | None = None
        for table in tables:
            if waiting is not None:
                yield waiting
            waiting = table
        if waiting is None:
            return
        if self.is_added:
            last = waiting.slice(len(waiting) - 1).to_pylist()
            if any(value != _CLOSING for row in last for value in row.values()):
                raise pa.ArrowInvalid("a quoted field is not closed")
            waiting = waiting.slice(0, len(waiting) - 1)
        yield waiting


def _wanted(names: list[str], columns: Any, filters: Filters, features: Any) -> set[str] | None:
    """The columns that are needed; None for all."""
    for name in set(columns or ()) - set(names):
        place_of(names, name)
    wanted = columns if columns is not None else list(features) if features else None
    return None if wanted is None else {*wanted, *columns_of(filters, names)}


def _named(names: list[str], column: Any) -> Any:
    return names[column] if isinstance(column, int) and column < len(names) else column


_Columns = dict[str, pa.ChunkedArray]


@dataclass
class _Table:
    """One file, read as text and converted to typed columns."""

    source: _Source
    dialect: Dialect
    layout: Layout
    words: Words
    types: Types
    converters: dict[str, Callable[[str], Any]]
    on_bad_lines: str | Callable[[list[str]], list[str] | None]
    chunksize: int
    nrows: int | None
    kinds: tuple[str, ...]
    _warned: set[int | None] = field(default_factory=set)

    @classmethod
    def of(cls, source: _Source, dialect: Dialect, fields: Layout, options: Mapping[str, Any]) -> _Table:
        """A file whose fields are these, read with the options of `read`."""
        words = ("na_values", "keep_default_na", "na_filter", "true_values", "false_values", "thousands", "decimal")
        dtype, features = options["dtype"], options["features"]
        types = dtype if isinstance(dtype, Types) else Types(dtype)
        if features and types.dtype is None:
            types = replace(types, features=features)
        return cls(
            source,
            dialect,
            fields.choosing(_wanted(fields.names, options["columns"], options["filters"], features)),
            words_of(**{name: options[name] for name in words}, names=fields.names),
            types,
            {_named(fields.names, column): make for column, make in (options["converters"] or {}).items()},
            options["on_bad_lines"],
            options["chunksize"] or sys.maxsize,
            None if options["nrows"] is None else int(options["nrows"]),
            FLOATS if options["quoting"] == 2 else KINDS,
        )

    def column_types(self) -> dict[str, ColumnType]:
        """The types of all columns, before any value is seen."""
        types = {}
        for name in self._shown():
            feature, dtype, inferred = self.types.features.get(name), self.types.of(name), self.types.inferred.get(name)
            inferred = inferred if dtype is None else None
            types[name] = ColumnType(name, self.words, self.kinds, feature, dtype, inferred)
        return types

    def typed(self) -> Iterator[pa.Table]:
        """The tables of typed columns."""
        types = self.column_types()
        counts = {self.layout.names[place]: Counting() for place in self.layout.index}
        read_columns, failure = self.inferred(types, counts)
        types = {name: kind for name, kind in types.items() if name not in counts or not counts[name].is_even()}
        rows, is_empty = 0, True
        for columns in self._columns() if read_columns is None else read_columns:
            for table in self._converted(columns, types, rows):
                rows, is_empty = rows + table.num_rows, False
                yield table
        if failure is not None:
            raise failure
        if is_empty:
            yield from self._converted({name: pa.chunked_array([], pa.string()) for name in types}, types, 0)

    def inferred(
        self, types: dict[str, ColumnType], counts: dict[str, Counting]
    ) -> tuple[list[_Columns] | None, FileFormatError | None]:
        """Infer types from all values. Returns the columns of a file of one block, and the error that ended reading it.

        For longer files it returns None: their columns must be read again.
        """
        if not self.source.whole and not counts and not any(kind.is_open for kind in types.values()):
            return None, None
        read_columns: list[_Columns] = []
        try:
            for columns in self._columns():
                for name, kind in types.items():
                    if kind.is_open:
                        kind.see(columns[name])
                for name in [name for name, count in counts.items() if count.even]:
                    counts[name].see(whole_numbers(columns[name]))
                if self.source.whole:
                    read_columns.append(columns)
        except FileFormatError as error:
            return (read_columns, error) if self.source.whole else (None, None)  # the second pass will raise it
        return read_columns if self.source.whole else None, None

    def _shown(self) -> list[str]:
        return [self.layout.names[place] for place in [*self.layout.kept, *self.layout.index]]

    def _converted(self, columns: _Columns, types: dict[str, ColumnType], rows_before: int) -> Iterator[pa.Table]:
        """The typed columns; where a text is no value of its type, the rows before it, then the error."""
        try:
            table = self._table_of_types(columns, types)
        except CastError as error:
            if error.row is None:
                raise
            if error.row:
                before = {name: column.slice(0, error.row) for name, column in columns.items()}
                yield from self._converted(before, types, rows_before)
            row = error.row + rows_before
            raise CastError(error.column, error.source, error.target, error.reason, row) from error
        yield table

    def _table_of_types(self, columns: _Columns, types: dict[str, ColumnType]) -> pa.Table:
        converted = {}
        for name, kind in types.items():
            if name in self.converters:
                converted[name] = pa.chunked_array([_made(columns[name].to_pylist(), self.converters[name])])
            else:
                converted[name] = kind.convert(columns[name])
        table = pa.table(converted)
        if not self.types.features:
            return table
        schema = table.schema
        features = {field.name: self.types.features.get(field.name, feature_of(field.type)) for field in schema}
        return table.replace_schema_metadata(Features(features).metadata())

    def _columns(self) -> Iterator[_Columns]:
        for table in self._texts():
            yield dict(zip(table.column_names, table.columns, strict=True))

    def _texts(self) -> Iterator[pa.Table]:
        """The rows as columns of text."""
        left = self.nrows
        for table in self._all_texts():
            if left is None:
                yield table
                continue
            yield table.slice(0, left)
            left -= min(left, table.num_rows)
            if not left:
                return

    def _all_texts(self) -> Iterator[pa.Table]:
        rows = 0
        # Arrow would take the line in which reading failed for a complete one.
        if self.dialect.in_arrow() and self.layout.exact and self.source.failure is None:
            try:
                for table in self._by_arrow():
                    self._require_no_blanks(table)
                    yield table
                    rows += table.num_rows
                return
            except pa.ArrowInvalid:
                pass  # a ragged row, invalid UTF-8 or a blank line: `_by_records` finds out which
        yield from self._by_records(rows)

    def _require_no_blanks(self, table: pa.Table) -> None:
        """Raise if there may be blank lines in a file of one column: Arrow reads them as rows, pandas skips them."""
        one = self.dialect.skip_blank_lines and len(self.layout.names) == 1 and table.num_columns == 1
        if one and pc.call("any", pc.call("utf8_is_space", table.column(0))).as_py():
            raise pa.ArrowInvalid("a line of blanks")

    def _by_arrow(self) -> Iterator[pa.Table]:
        layout, dialect = self.layout, self.dialect
        start = _after_lines(self.source.head, layout.lines)
        if self.source.whole and not _IN_LINE.search(self.source.head, start):
            return
        kept = self._shown()
        size = _block_size(self.source.head, start) if self.source.whole else _BLOCK // 2
        options: dict[str, Any] = {
            "read_options": arrow_csv.ReadOptions(column_names=layout.names, block_size=size),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=dialect.sep,
                quote_char=dialect.quotechar or False,
                double_quote=dialect.doublequote,
                escape_char=dialect.escapechar or False,
                newlines_in_values=True,
                ignore_empty_lines=dialect.skip_blank_lines,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(layout.names, pa.string()),  # without any column, Arrow includes all
                include_columns=kept,
                strings_can_be_null=False,
            ),
        }
        closing = _Closing(dialect, len(layout.names))
        # Arrow leaves a mark out at the start of what it reads, where a text may begin with the same bytes.
        mark = codecs.BOM_UTF8 if self.source.head.startswith(codecs.BOM_UTF8, start) else b""
        if self.source.whole:
            text = self.source.head
            record = closing.record(closing.quotes_in(text, start), text[-1:])
            # Arrow reads a buffer in place; a Python stream would be copied twice.
            body = pa.py_buffer(mark + text[start:] + record) if mark else pa.py_buffer(text + record).slice(start)
            yield from closing.removed([arrow_csv.read_csv(pa.BufferReader(body), **options)])
            return
        pieces = closing.following(self.source.pieces(start))
        stream = cast(BinaryIO, PieceStream(chain([mark] if mark else [], pieces), self.source.name))
        batches = arrow_csv.open_csv(pa.PythonFile(_WholeLineEnds(stream), "r"), **options)
        yield from closing.removed(pa.Table.from_batches([batch]) for batch in batches)

    def _by_records(self, skip: int) -> Iterator[pa.Table]:
        records = Records(self.source.opened(), self.dialect, self._on_undecodable)
        remaining = islice(self._of_width(records), skip, None)
        for rows in batched(remaining, self.chunksize):
            yield self._table(rows)

    def _of_width(self, records: Records) -> Iterator[list[str]]:
        """The records of the data; an error in them says after how many rows it occurs."""
        count, width = 0, len(self.layout.names)
        try:
            for record in islice(records, self.layout.records, None):
                if len(record) > width and self.layout.exact:
                    reason = f"expected {width} fields, found {len(record)}."
                    if not callable(self.on_bad_lines):
                        self._without_line(records.error(reason))
                        continue
                    replacement = self.on_bad_lines(record)
                    if replacement is None:
                        continue
                    record = replacement
                yield record
                count += 1
        except FileFormatError as error:
            raise FileFormatError(error.path, error.reason, count, error.offset, error.line) from error

    @property
    def _on_undecodable(self) -> Callable[[FileFormatError], None] | None:
        return self._without_line if self.on_bad_lines in ("warn", "skip") else None

    def _without_line(self, error: FileFormatError) -> None:
        """Leave a record out, unless it is to be an error."""
        if self.on_bad_lines == "error":
            reason = f"{error.reason} on_bad_lines='skip' leaves such lines out."
            raise FileFormatError(error.path, reason, None, error.offset, error.line)
        if self.on_bad_lines == "warn" and error.offset not in self._warned:
            self._warned.add(error.offset)  # files of several blocks are read twice
            get_logger(__name__).warning("A line that cannot be read is left out. %s", error)

    def _table(self, rows: list[list[str]]) -> pa.Table:
        places = {self.layout.names[place]: place for place in [*self.layout.kept, *self.layout.index]}
        return pa.table(
            {
                name: pa.array([row[place] if place < len(row) else None for row in rows], pa.string())
                for name, place in places.items()
            }
        )


class _WholeLineEnds:
    """A stream whose reads never end within a line end of two bytes: Arrow would lose the second, even in quotes."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._held = stream, b""

    def read(self, size: int) -> bytes:
        """The next bytes, one less where a line end would be cut."""
        data = self._held + self._stream.read(size - len(self._held))
        self._held = data[-1:] if len(data) > 1 and data.endswith(b"\r") else b""
        return data[: len(data) - len(self._held)]


def _block_size(text: bytes, start: int) -> int:
    """The size of blocks for Arrow's threads, none of which ends within a line end of two bytes."""
    for size in range(_PIECE, 2 * _PIECE, _PIECE // 8 + 1):
        if not any(text.startswith(b"\r\n", end - 1) for end in range(start + size, len(text), size)):
            return size
    return max(len(text) - start, 1)


def _after_lines(text: bytes, lines: int) -> int:
    """The offset behind the first `lines` lines."""
    if not lines:
        return 0
    ends = islice(_LINE_END.finditer(text), lines - 1, None)
    found = next(ends, None)
    return found.end() if found else len(text)


def _made(texts: list[Any], make: Callable[[str], Any]) -> pa.Array:
    values = pa.array([make(text or "") for text in texts])
    return values.cast(TEXT) if pa.types.is_string(values.type) else values


FORMAT = Format("csv", (".csv", ".tsv"), read, write, by_extension={".tsv": {"sep": "\t"}}, common_types=common_types)
