"""JSON files → tables: one object per line, an array of objects or values, or objects in any layout.

A block of the file is cut into pieces at line ends, which threads parse (`infer.Parser`). The pieces of a block are
united; blocks and files are united by whoever reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import (
    ArgumentError,
    CastError,
    ColumnNotFoundError,
    FileFieldError,
    FileFormatError,
    MixedTypesError,
    ValueTypeError,
)
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.formats.base import Filters, columns_of
from crucible_datasets.formats.json.infer import Parser
from crucible_datasets.formats.json.rows import (
    ON_BAD_LINES,
    Problem,
    Row,
    encoder_for,
    good_lines,
    is_row,
    loads,
)
from crucible_datasets.formats.json.structure import Lines, array_as_lines, check_depth, lines_of, too_deep
from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.formats.streams import (
    BLOCK,
    Peeked,
    as_utf8,
    line_blocks,
    name_of,
    require_size,
    undecodable,
    whole_escapes,
)

_PIECE = 1 << 20  # bytes that one thread parses at a time
_LONGEST_DOCUMENT = 128 << 20  # bytes; an object over several lines is buffered until it is complete
_MANY = 1000  # rows after which an incomplete row means that the file is damaged
_ROWS_PER_TABLE = 10_000
_FIRST_VALUE = re.compile(rb"\s*+(?:null\b\s*+(?=\S))*+(\S)")  # after the nulls, unless there are only nulls


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    expected: Any = None,
    encoding: str | None = "utf-8",
    encoding_errors: str | None = None,
    field: str | None = None,
    use_threads: bool = True,
    block_size: int | None = None,
    chunksize: int = BLOCK,
    newlines_in_values: None = None,
    on_mixed_types: str | None = "use_json",
    parse_agent_traces: bool = False,
    max_depth: int = 500,
    on_bad_lines: str = "error",
) -> Iterator[pa.Table]:
    """Yield a table per block of about `chunksize` bytes."""
    if on_bad_lines not in ON_BAD_LINES:
        raise ArgumentError("on_bad_lines", on_bad_lines, f"expected one of {', '.join(ON_BAD_LINES)}.")
    if on_mixed_types not in (None, "use_json"):
        raise ArgumentError("on_mixed_types", on_mixed_types, "expected 'use_json' or None.")
    if newlines_in_values is not None:
        raise ArgumentError("newlines_in_values", newlines_in_values, "objects over several lines are always read.")
    if parse_agent_traces:
        raise ArgumentError("parse_agent_traces", parse_agent_traces, "traces are read as the rows of their files.")
    require_size("chunksize", chunksize)
    parser = Parser(name_of(stream), dict(features or {}), expected, on_mixed_types)
    reader = _Reader(parser, columns, filters, use_threads, block_size, max_depth)
    source = as_utf8(stream, encoding, encoding_errors)
    if not isinstance(field, str | None):
        raise ArgumentError("field", field, "expected a name.")
    if field is not None:
        yield from reader.projected(_field_tables(source, field, reader))
    else:
        # While a block is parsed, the next one is read, decompressed and cut at a line end.
        blocks = _blocks(source, chunksize, reader)
        if reader.has_lines and on_bad_lines != "error":
            blocks = good_lines(blocks, reader.name, on_bad_lines == "warn")
        with closing(ahead(blocks)) as blocks:
            yield from reader.projected(reader.tables(blocks))


def _blocks(stream: BinaryIO, size: int, reader: _Reader) -> Iterator[bytes]:
    head = stream.read(size)
    while head and _is_blank(head.removeprefix(b"\xef\xbb\xbf")) and (more := stream.read(size)):
        head += more
    peeked = cast(BinaryIO, Peeked(head, stream))
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return line_blocks(peeked, size)
    reader.has_lines = False
    return _as_objects(array_as_lines(whole_escapes(peeked, size), reader.max_depth, reader.name))


def _is_blank(text: bytes) -> bool:
    return not text or text.isspace()  # `strip` would copy the text


def _as_objects(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines of plain values as lines of objects with one key, `text`; lines of objects unchanged."""
    plain = None
    for block in lines:
        if plain is None and (match := _FIRST_VALUE.match(block)):
            plain = match[1] != b"{"
        if plain and block.strip():
            text = block.removesuffix(b"\n")
            yield b'{"text":' + text.replace(b"\n", b'}\n{"text":') + b"}\n"
        else:
            yield block


def _field_tables(stream: BinaryIO, field: str, reader: _Reader) -> Iterator[pa.Table]:
    """The rows under one key of an object: a list of objects or values, or an object of columns."""
    text = stream.read()
    reader.check(text)
    try:
        document = loads(text.removeprefix(b"\xef\xbb\xbf"))
        exact = loads(text.removeprefix(b"\xef\xbb\xbf"), decimals=True) if reader.parser.decimals else None
    except ValueError as error:
        raise FileFormatError(reader.name, f"not JSON: {error}") from error
    if not isinstance(document, dict) or field not in document:
        available = ", ".join(map(str, document)) if isinstance(document, dict) else f"a {type(document).__name__}"
        raise FileFieldError(reader.name, field, available or "nothing")
    rows, encode = _rows_of(document[field], field, reader.name), encoder_for(text)
    if exact is not None:
        rows = reader.parser.with_decimals(rows, _rows_of(exact[field], field, reader.name))
    if not rows:
        return
    # The document is in memory anyway, so the types of its rows are common ones wherever the rows differ.
    table = reader.parser.table_of(rows, encode)
    for start in range(0, len(rows), _ROWS_PER_TABLE):
        yield table.slice(start, min(_ROWS_PER_TABLE, len(rows) - start))


def _rows_of(value: Any, field: str, name: str) -> list[Row]:
    if isinstance(value, list):
        return [row if isinstance(row, dict) else {"text": row} for row in value]
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        longest = max(map(len, value.values()))
        if all(len(column) == longest for column in value.values()):
            return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    raise FileFormatError(name, f"field {field!r} holds neither a list nor an object of equally long lists.")


class _Reader:
    """Reads the blocks of a file, and remembers the columns and types seen so far."""

    def __init__(
        self,
        parser: Parser,
        columns: list[str] | None,
        filters: Filters,
        use_threads: bool,
        block_size: int | None,
        max_depth: int,
    ) -> None:
        self.parser, self.name, self.columns, self.filters = parser, parser.name, columns, filters
        self.use_threads, self.piece_size, self.max_depth = use_threads, block_size or _PIECE, max_depth
        self.rows, self.offset, self.lines = 0, 0, 0
        self.has_lines = True  # whether lines of the text are lines of the file
        self.has_row_per_line = True  # whether the first line is a complete row
        self.types: dict[str, pa.DataType] = {}  # of the columns read so far

    def projected(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The tables with the requested columns, null where a part of the file lacks one."""
        for table in tables:
            for column in table.schema:
                if not pa.types.is_null(column.type) or column.name not in self.types:
                    self.types[column.name] = column.type
            if self.columns is None:
                yield table
                continue
            names = self._needed()
            for name in names:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(table.num_rows, self.types.get(name, pa.null())))
            yield table.select(names)
        missing = [name for name in self.columns or () if name not in self.types]
        if missing and self.types:
            raise ColumnNotFoundError(missing[0], self.types)

    def _needed(self) -> list[str]:
        return list(dict.fromkeys([*(self.columns or ()), *columns_of(self.filters, list(self.types))]))

    def _known_types(self) -> dict[str, pa.DataType] | None:
        """The types of the needed columns, if it is safe to parse no others."""
        if self.columns is None or not self.types:
            return None
        types = {name: self.types.get(name) for name in self._needed()}
        # Of objects, Arrow would ignore keys that are not in the type.
        return types if all(arrow is not None and _is_flat(arrow) for arrow in types.values()) else None

    def tables(self, blocks: Iterable[bytes]) -> Iterator[pa.Table]:
        rest, problem = b"", None
        with ThreadPoolExecutor(pa.cpu_count()) if self.use_threads else nullcontext() as threads:
            for block in blocks:
                text, rest = rest + block, b""
                if text and not text.isspace():
                    table, problem = self._table(text, threads)
                    if table is not None:
                        self.rows += table.num_rows
                        yield table
                    if problem is not None:
                        text, rest = text[: problem.offset], text[problem.offset :]
                self.offset += len(text)
                self.lines += text.count(b"\n")
                if rest and problem and not self._may_go_on(problem, rest):
                    break
        if rest.strip() and problem is not None:
            raise self._located(problem)

    def _may_go_on(self, problem: Problem, rest: bytes) -> bool:
        """Whether the next block may complete the row in which this one ends."""
        is_expected = not self.has_row_per_line or self.rows < _MANY
        return problem.at_end and is_expected and len(rest) < _LONGEST_DOCUMENT

    def _located(self, problem: Problem) -> FileFormatError:
        where = None if problem.offset is None else self.offset
        if problem.line is None or not self.has_lines:
            return FileFormatError(self.name, problem.reason, self.rows, where)
        reason = f"{problem.reason.rstrip('.')}. on_bad_lines='skip' leaves such lines out."
        return FileFormatError(self.name, reason, self.rows, where, self.lines + problem.line + 1, problem.column)

    def _table(self, text: bytes, threads: Executor | None) -> tuple[pa.Table | None, Problem | None]:
        """The rows of a block, and the problem behind them, if any."""
        lines = self._require_flat(text)
        if not self.offset:
            self.has_row_per_line = is_row(text[: max(lines.bounds[1], 0)])
        try:
            return self._united(text, lines, threads)
        except RecursionError as error:
            raise too_deep(self.name, self.max_depth) from error
        except CastError:
            if self.parser.on_mixed_types is not None:
                raise
        with self._located_rows(0):
            return self.parser.row_by_row(text)  # whose error names the row

    def check(self, text: bytes) -> None:
        """Raise for text that nests too deeply or is not UTF-8."""
        self._require_flat(text)
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise undecodable(self.name, error, self.offset) from error

    def _require_flat(self, text: bytes) -> Lines:
        """The lines of the text; raises if it nests too deeply."""
        lines = lines_of(text)
        check_depth(text, self.max_depth, lines, self.name)
        return lines

    def _pieces(self, text: bytes, lines: Lines) -> list[tuple[int, int]]:
        """Where pieces of complete lines begin and end."""
        if len(text) <= self.piece_size:
            return [(0, len(text))]
        if self.has_lines and not lines.one_object_each and not is_row(text[: lines.bounds[1]]):
            return [(0, len(text))]  # objects may go on over several lines
        cuts = np.searchsorted(lines.bounds, np.arange(self.piece_size, len(text), self.piece_size))
        ends = np.unique(np.minimum(lines.bounds[cuts] + 1, len(text))).tolist()
        ends = ends if ends[-1] == len(text) else [*ends, len(text)]
        return list(zip([0, *ends], ends, strict=False))

    def _united(self, text: bytes, lines: Lines, threads: Executor | None) -> tuple[pa.Table | None, Problem | None]:
        parse, pieces = partial(self._parse, text, self._known_types(), lines.has_nulls), self._pieces(text, lines)
        results = map(parse, pieces) if threads is None or len(pieces) == 1 else threads.map(parse, pieces)
        tables: list[pa.Table] = []
        spans: list[tuple[int, int]] = []
        problem, count, start, end = None, 0, 0, 0
        while end < len(text) and problem is None:
            start, end = pieces[count]
            with self._located_rows(sum(table.num_rows for table in tables)):
                table, problem = next(results)
                if problem is not None and problem.at_end and end < len(text):
                    end = len(text)  # the row may go on behind the piece
                    table, problem = parse((start, end))
            count += 1
            if table is not None:
                tables.append(table)
                spans.append((start, end))
        if problem is not None and problem.offset is not None:
            problem.offset += start
        return (self.parser.joined(tables, text, spans) if tables else None), problem

    def _parse(
        self, text: bytes, known: dict[str, pa.DataType] | None, has_nulls: bool, piece: tuple[int, int]
    ) -> tuple[pa.Table | None, Problem | None]:
        start, end = piece
        return self.parser.parse(text[start:end], self.offset + start, known, has_nulls)

    @contextmanager
    def _located_rows(self, rows_before: int) -> Iterator[None]:
        """A context in which errors of values name the row of the file."""
        before = self.rows + rows_before
        try:
            yield
        except MixedTypesError as error:
            row = None if error.row is None else before + error.row
            raise MixedTypesError(error.column, row, error.found, error.before) from error
        except ValueTypeError as error:
            row = None if error.row is None else before + error.row
            located = ValueTypeError(error.column, row, error.value, error.wanted, error.reason)
            if error.column in self.parser.features:
                raise located from error
            raise FileFormatError(self.name, str(located), row) from error


def _is_flat(arrow: pa.DataType) -> bool:
    """Whether a type is plain, or a list of a plain one."""
    if isinstance(arrow, pa.BaseExtensionType) or pa.types.is_struct(arrow):
        return False
    return _is_flat(arrow.value_type) if is_list(arrow) else True
