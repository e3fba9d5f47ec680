"""JSON: one object per line, an array of objects or values, or objects in any layout.

Arrow's reader parses the text in blocks. Only rows it cannot read (values of mixed types, objects with different
keys) are parsed one by one, in `json_mixed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.json as arrow_json

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNotFoundError,
    FileFieldError,
    FileFormatError,
    LimitExceededError,
    MixedTypesError,
)
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column, mixed_feature
from crucible_datasets.features.storage import feature_of, to_extension
from crucible_datasets.features.types import Json, Value, any_leaf
from crucible_datasets.features.unite import unite
from crucible_datasets.formats.arrow import require_readable_names
from crucible_datasets.formats.base import Filters, Format, columns_of
from crucible_datasets.formats.json_broken import ON_BAD_LINES, good_lines
from crucible_datasets.formats.json_gaps import deep_columns, uneven_columns
from crucible_datasets.formats.json_mixed import Problem, Row, dumps, loads, parsed_rows, unmixed
from crucible_datasets.formats.json_numbers import too_big_line
from crucible_datasets.formats.json_structure import Lines, array_as_lines, check_depth, lines_of, too_deep
from crucible_datasets.formats.json_types import has_time, holds_json_texts, readable_type, require_whole, with_text
from crucible_datasets.formats.json_width import gaps_in
from crucible_datasets.formats.json_write import write
from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.formats.streams import (
    BLOCK,
    Peeked,
    Replay,
    as_utf8,
    line_blocks,
    name_of,
    require_size,
    undecodable,
    whole_escapes,
)

_INNER_BLOCK = 1 << 20  # bytes that one thread parses at a time
_LONGEST_DOCUMENT = 128 << 20  # bytes; an object over several lines is buffered until it is complete
_MANY = 1000  # rows after which an incomplete row means that the file is damaged
_ROWS_PER_TABLE = 10_000
_FIRST_VALUE = re.compile(rb"\s*+(?:null\b\s*+(?=\S))*+(\S)")  # after the nulls, unless there are only nulls
_ERRORS = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError)


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
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
    reader = _Reader(name_of(stream), columns, filters, features, on_mixed_types, use_threads, block_size, max_depth)
    source = as_utf8(stream, encoding, encoding_errors)
    if not isinstance(field, str | None):
        raise ArgumentError("field", field, "expected a name.")
    if field is not None:
        yield from reader.chosen(_field_tables(source, field, reader))
    else:
        # While Arrow parses a block, the next one is read, decompressed and cut at a line end.
        blocks = _blocks(source, chunksize, reader)
        if reader.has_lines and on_bad_lines != "error":
            blocks = good_lines(blocks, reader.name, on_bad_lines == "warn")
        made = ahead(blocks)
        with closing(made), closing(Replay(made)) as replay:
            yield from reader.chosen(reader.tables(replay))


def _blocks(stream: BinaryIO, size: int, reader: _Reader) -> Iterator[bytes]:
    head = stream.read(size)
    while head and _is_blank(head.removeprefix(b"\xef\xbb\xbf")) and (more := stream.read(size)):
        head += more
    whole = cast(BinaryIO, Peeked(head, stream))
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return line_blocks(whole, size)
    reader.has_lines = False
    return _as_objects(array_as_lines(whole_escapes(whole, size), reader.max_depth, reader.name))


def _is_blank(text: bytes) -> bool:
    return not text or text.isspace()  # `strip` would copy the text


def _as_objects(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines of plain values as lines of objects with one key, `text`; lines of objects unchanged."""
    plain = None
    for block in lines:
        if plain is None and (found := _FIRST_VALUE.match(block)):
            plain = found[1] != b"{"
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
        whole = loads(text.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise FileFormatError(reader.name, f"not JSON: {error}") from error
    if not isinstance(whole, dict) or field not in whole:
        found = ", ".join(map(str, whole)) if isinstance(whole, dict) else f"a {type(whole).__name__}"
        raise FileFieldError(reader.name, field, found or "nothing")
    rows = _rows_of(whole[field], field, reader.name)
    for start in range(0, len(rows), _ROWS_PER_TABLE):
        yield reader.of_values(rows[start : start + _ROWS_PER_TABLE])


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
        name: str,
        columns: list[str] | None,
        filters: Filters,
        features: Any,
        on_mixed_types: str | None,
        use_threads: bool,
        block_size: int | None,
        max_depth: int,
    ) -> None:
        self.name, self.columns, self.filters, self.max_depth = name, columns, filters, max_depth
        self.features = dict(features or {})
        self.on_mixed_types, self.use_threads, self.block_size = on_mixed_types, use_threads, block_size
        self.rows, self.offset, self.lines = 0, 0, 0
        self.has_lines = True  # whether lines of the text are lines of the file
        self.types: dict[str, pa.DataType] = {}  # of the columns read so far
        self.mixed = {name: kind for name, kind in self.features.items() if any_leaf(kind, (Json,))}
        self.explicit = {
            name: kind for name, feature in self.features.items() if (kind := readable_type(feature)) is not None
        }
        self.settled: set[str] = set(self.features)  # columns whose type will not change any more

    def chosen(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """The tables with the requested columns, null where a part of the file lacks one."""
        for table in tables:
            if self.columns is None:
                yield table
                continue
            wanted = self._needed()
            for name in wanted:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(table.num_rows, self.types.get(name, pa.null())))
            yield table.select(wanted)
        missing = [name for name in self.columns or () if name not in self.types]
        if missing and self.types:
            raise ColumnNotFoundError(missing[0], self.types)

    def _needed(self) -> list[str]:
        return list(dict.fromkeys([*(self.columns or ()), *columns_of(self.filters, list(self.types))]))

    def tables(self, blocks: Replay) -> Iterator[pa.Table]:
        rest, problem = b"", None
        for block in blocks:
            text, rest = rest + block, b""
            if text and not text.isspace():
                table, problem = self._table(text, blocks)
                if table is not None:
                    self.rows += table.num_rows
                    yield table
                if problem is not None:
                    text, rest = text[: problem.offset], text[problem.offset :]
            self.offset += len(text)
            self.lines += text.count(b"\n")
            if rest and problem and not (problem.at_end and self.rows < _MANY and len(rest) < _LONGEST_DOCUMENT):
                break
        if rest.strip() and problem is not None:
            raise self._located(problem)

    def _located(self, problem: Problem) -> FileFormatError:
        where = None if problem.offset is None else self.offset
        if problem.line is None or not self.has_lines:
            return FileFormatError(self.name, problem.reason, self.rows, where)
        reason = f"{problem.reason.rstrip('.')}. on_bad_lines='skip' leaves such lines out."
        return FileFormatError(self.name, reason, self.rows, where, self.lines + problem.line + 1, problem.column)

    def _table(self, text: bytes, blocks: Replay) -> tuple[pa.Table | None, Problem | None]:
        lines = self._require_flat(text)
        try:
            self._require_narrow(text)
            table = self._parsed(text, lines)
            require_readable_names(table.schema)
            table.validate(full=True)
        except (*_ERRORS, UnicodeDecodeError) as error:
            return (
                self._up_to_undecodable(text, blocks)
                or self._up_to_too_big(text, blocks)
                or self._row_by_row(text, error)
            )
        if self._settle(table, blocks):
            return self._table(text, blocks)
        names = self._uneven(table, text)
        if names:
            rows, problem = parsed_rows(text)
            if problem is None and all(isinstance(row, dict) for row in rows):
                table = self._unmixed(rows, names)
        self._remember(table)
        return table, None

    def check(self, text: bytes) -> None:
        """Raise for text that nests too deeply or is not UTF-8."""
        self._require_flat(text)
        self._require_utf8(text)

    def _require_flat(self, text: bytes) -> Lines:
        """The lines of the text; raises if it nests too deeply."""
        lines = lines_of(text)
        check_depth(text, self.max_depth, lines, self.name)
        return lines

    def _require_narrow(self, text: bytes) -> None:
        """Raise if the rows have too many different keys. Arrow itself raises for nested objects that do."""
        gaps = gaps_in(text, self.block_size or _INNER_BLOCK)
        if gaps is None:
            return
        keys = len(_keys([row for row in parsed_rows(text)[0] if isinstance(row, dict)]))
        if keys >= gaps[1] // 2 or self.on_mixed_types != "use_json":
            what = f"the table of {gaps[0]:,} rows with {gaps[1]:,} different keys"
            raise LimitExceededError(self.name, what, config.MAX_DECODED_BYTES, "config.MAX_DECODED_BYTES")
        raise pa.ArrowInvalid("objects with too many different keys")

    def _require_utf8(self, text: bytes) -> None:
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                raise undecodable(self.name, error, self.offset) from error

    def _parsed(self, text: bytes, lines: Lines) -> pa.Table:
        """The text as Arrow reads it; of the known columns, only the needed ones."""
        if self.columns is not None and self.types:
            known = {name: self.types.get(name) for name in self._needed()}
            if None not in known.values() and not set(known) & set(self.mixed):
                try:
                    return self._arrow(text, {**known, **self._explicit(known)}, "ignore", lines)
                except _ERRORS:
                    pass  # a type may have to be widened
        return self._arrow(text, self.explicit, "infer", lines)

    def _explicit(self, names: Iterable[str]) -> dict[str, pa.DataType]:
        return {name: self.explicit[name] for name in names if name in self.explicit}

    def _arrow(self, text: bytes, explicit: dict[str, Any], others: str, lines: Lines) -> pa.Table:
        if lines.has_nulls:  # Arrow 26 crashes if a null is the first row that a thread parses
            raise pa.ArrowInvalid("a row is null")
        return arrow_json.read_json(
            pa.BufferReader(text),
            read_options=arrow_json.ReadOptions(
                use_threads=self.use_threads, block_size=max(self.block_size or _INNER_BLOCK, lines.longest + 2)
            ),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(explicit) if explicit else None, unexpected_field_behavior=others
            ),
        )

    def _remember(self, table: pa.Table) -> None:
        for field in table.schema:
            if not pa.types.is_null(field.type) or field.name not in self.types:
                self.types[field.name] = field.type

    def _settle(self, table: pa.Table, blocks: Replay) -> bool:
        """Read ahead where a later value could change the type of a column; whether one does."""
        changed = False
        for field in table.schema:
            before = self.types.get(field.name, pa.null())
            differs = before != field.type and not pa.types.is_null(before)
            if differs and has_time(field.type) and field.name not in self.explicit:
                self.explicit[field.name], changed = with_text(field.type), True
        risky = [name for name in table.column_names if name not in self.settled and self._is_risky(table[name])]
        if risky and not changed:
            self.settled |= set(risky)
            changed = self._look_ahead({name: table.schema.field(name).type for name in risky}, blocks)
        return changed

    def _is_risky(self, column: pa.ChunkedArray) -> bool:
        return has_time(column.type) or (self.on_mixed_types == "use_json" and holds_json_texts(column))

    def _look_ahead(self, expected: dict[str, pa.DataType], blocks: Replay) -> bool:
        changed = False
        for block in blocks.ahead():
            for name in list(expected):
                while name in expected and not self._holds(block, name, expected[name]):
                    changed = True
                    if has_time(expected[name]):
                        expected[name] = self.explicit[name] = with_text(expected[name])
                    else:
                        self.mixed[name] = self._with_block(block, name, expected.pop(name))
        return changed

    def _holds(self, block: bytes, name: str, kind: pa.DataType) -> bool:
        """Whether the column has this type in a block; for types with timestamps, also the same keys in all objects."""
        try:
            table = self._arrow(block, {name: kind}, "ignore", lines_of(block))
        except _ERRORS:
            return False
        return not (has_time(kind) and uneven_columns(table, block))

    def _with_block(self, block: bytes, name: str, kind: pa.DataType) -> Any:
        """The feature that fits values of the type and the values of a block."""
        rows, _ = parsed_rows(block)
        values = (row.get(name) for row in rows if isinstance(row, dict))
        return unite(feature_of(kind), mixed_feature(values), "use_json")

    def _uneven(self, table: pa.Table, text: bytes) -> list[str]:
        """The columns that must be parsed again, row by row."""
        if self.on_mixed_types == "use_json":
            self._note_conflicts(table.schema)
        names = set(self.mixed) & set(table.column_names)
        if self.on_mixed_types == "use_json":
            for name in deep_columns(table.schema):
                self.mixed[name] = Json()
                names.add(name)
            names |= set(uneven_columns(table, text)) - set(self.features)
        return sorted(names)

    def _note_conflicts(self, schema: pa.Schema) -> None:
        """Mark columns whose type differs from the blocks before as mixed."""
        for field in schema:
            before = self.types.get(field.name, field.type)
            if before != field.type and field.name not in self.features:
                united = unite(feature_of(before), feature_of(field.type), "use_json")
                if any_leaf(united, (Json,)):
                    self.mixed[field.name] = united

    def _up_to_undecodable(self, text: bytes, blocks: Replay) -> tuple[pa.Table | None, Problem] | None:
        """The rows before the first line that is not UTF-8, if there is one."""
        try:
            self._require_utf8(text)
        except FileFormatError as error:
            at = (error.offset or 0) - self.offset
            start = text.rfind(b"\n", 0, at) + 1
            problem = Problem(error.reason, start, at_end=False, line=0, column=at - start + 1)
            return self._table_before(start, text, blocks), problem
        return None

    def _table_before(self, start: int, text: bytes, blocks: Replay) -> pa.Table | None:
        """The rows before a line that cannot be read."""
        return None if _is_blank(text[:start]) else self._table(text[:start], blocks)[0]

    def _up_to_too_big(self, text: bytes, blocks: Replay) -> tuple[pa.Table | None, Problem] | None:
        """The rows before the first line with a number that is too big for a double, if there is one."""
        found = too_big_line(text)
        if found is None:
            return None
        at, error = found
        column = text.find(error.number.encode(), at) - at + 1
        problem = Problem(str(error), at, at_end=False, line=0, column=column)
        return self._table_before(at, text, blocks), problem

    def _row_by_row(self, text: bytes, refusal: Exception) -> tuple[pa.Table | None, Problem | None]:
        rows, problem = parsed_rows(text)
        for index, row in enumerate(rows):
            if row is not None and not isinstance(row, dict):
                reason = f"expected an object in each row, found {dumps(row).decode():.40}."
                rows, problem = rows[:index], Problem(reason, None, at_end=False)
                break
        if not rows:
            return None, problem or Problem(str(refusal), 0, at_end=False)
        return self.of_rows([row or {} for row in rows]), problem

    def of_rows(self, rows: list[Row]) -> pa.Table:
        """Parsed rows as the table that Arrow would have read."""
        if self.on_mixed_types != "use_json" or self.features:
            return self.of_values(rows)
        table = self._unmixed(rows, _keys(rows))
        self._remember(table)
        return table

    def of_values(self, rows: list[Row]) -> pa.Table:
        """Parsed rows as a table with the types of the Python values: text that looks like a date stays text."""
        table = self._as_they_are(rows)
        self._remember(table)
        return table

    def _as_they_are(self, rows: list[Row]) -> pa.Table:
        return pa.table({name: self._column([row.get(name) for row in rows], name) for name in _keys(rows)})

    def _unmixed(self, rows: list[Row], names: list[str]) -> pa.Table:
        try:
            table, kinds = unmixed(rows, names, self.mixed, self._reread)
        except RecursionError as error:
            raise too_deep(self.name, self.max_depth) from error
        except (*_ERRORS, ValueError, TypeError) as error:
            raise FileFormatError(self.name, str(error), self.rows) from error
        self.mixed |= kinds
        return table

    def _reread(self, text: bytes) -> pa.Table:
        plain = {name: kind for name, kind in self.explicit.items() if name not in self.mixed}
        table = self._arrow(text, plain, "infer", lines_of(text))
        try:
            table.validate()
        except pa.ArrowInvalid:  # Arrow 26 loses null items of lists whose later items are objects
            return self._as_they_are(parsed_rows(text)[0])
        return table

    def _column(self, values: list[Any], name: str) -> pa.ChunkedArray:
        feature = self.features.get(name)
        if feature is not None:
            require_whole(values, feature, name)
            return to_extension(column_of([_as_text(value, feature) for value in values], feature, name), feature)
        try:
            column, feature = infer_column(values, name)
        except MixedTypesError:
            if self.on_mixed_types is None:
                raise
            column, feature = infer_column(values, name, self.on_mixed_types)
        return to_extension(column, feature)


def _keys(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _as_text(value: Any, feature: Any) -> Any:
    """Objects and numbers in a text column, as JSON text."""
    if isinstance(feature, Value) and pa.types.is_string(feature.pa_type) and value is not None:
        return value if isinstance(value, str) else dumps(value).decode()
    return value


FORMAT = Format("json", (".json", ".jsonl", ".ndjson"), read, write)
