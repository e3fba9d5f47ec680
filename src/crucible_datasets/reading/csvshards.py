"""CSV files as shards of a stream: blocks of whole records, whose columns have the types of their first values.

A stream cannot go back, so the type of a column is that of the first block, in the order of the files, that has a value
in it, and a later value of another type is an error. Rows therefore depend neither on where blocks begin nor on which
worker reads them, and are those that a dataset in memory has.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import CastError, FileFormatError, StreamTypeError
from crucible_datasets.features.dtypes import canonical
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.csv import layout_of
from crucible_datasets.formats.csv_layout import Layout
from crucible_datasets.formats.streams import NamedBytes
from crucible_datasets.reading.blockshards import BlockShard, Given, Problem
from crucible_datasets.reading.fileshards import FileShard
from crucible_datasets.reading.request import Request
from crucible_datasets.records import dataclass

_HEAD = 1 << 16
# Options that mean the same in every block.
_OF_ANY_BLOCK = {
    *("sep", "delimiter", "header", "names", "column_names", "usecols", "na_values", "keep_default_na", "na_filter"),
    *("true_values", "false_values", "thousands", "decimal", "converters", "chunksize", "dtype"),
}


class StreamTypes:
    """The types of the columns of several CSV files, looked up as far as needed."""

    def __init__(self, shards: Sequence[CsvShard]) -> None:
        self._shards = shards
        self._types: dict[str, pa.DataType] = {}
        self._next: tuple[int, int] = (0, 0)  # the first block that was not looked at: its file and byte
        self._last = self._next  # the end of the last block that was read

    def __getstate__(self) -> dict[str, Any]:
        return {"_shards": self._shards, "_types": {}, "_next": (0, 0), "_last": (0, 0)}

    def known(self) -> dict[str, pa.DataType]:
        """The types of all columns that had a value so far."""
        return dict(self._types)

    def settle(self, index: int, begin: int, types: Mapping[str, pa.DataType]) -> bool:
        """Settle columns that have a value in a block, given their types in it; whether these are the final ones."""
        while self._next < (index, begin) and not types.keys() <= self._types.keys():
            self._look_on((index, begin))
        for name, arrow in types.items():
            self._types.setdefault(name, arrow)
        return all(self._types[name] == arrow for name, arrow in types.items())

    def read(self, index: int, begin: int, end: int | None) -> None:
        """Note that a block was read: up to a byte, or up to the end of the file."""
        self._last = (index + 1, 0) if end is None else (index, end)
        if self._next == (index, begin):
            self._next = self._last

    def end(self, index: int) -> None:
        """Note that a file was read up to its end."""
        if self._next == self._last and self._last[0] == index:
            self._next = (index + 1, 0)

    def _look_on(self, stop: tuple[int, int]) -> None:
        """Look at more blocks, up to one that has a new column."""
        index, known = self._next[0], len(self._types)
        for begin, end, types in self._shards[index].block_types(self._next[1]):
            if (index, begin) >= stop:
                return
            for name, arrow in types.items():
                self._types.setdefault(name, arrow)
            self._next = (index, end)
            if len(self._types) > known:
                return
        self._next = (index + 1, 0)


@dataclass(frozen=True, eq=False)
class CsvShard(BlockShard):
    """CSV: a record is a line, or several where a field in quotes holds line ends."""

    is_text = True
    index: int = 0  # of the file among those of the stream
    types: StreamTypes | None = None  # of columns without features

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "index": self.index, "types": self.types}

    @cached_property
    def _options(self) -> dict[str, Any]:
        return {**self.request.format.options(), **self.request.all_options(self.file)}

    @property
    def _separator(self) -> Any:
        return self._options["delimiter"] or self._options["sep"]

    @cached_property
    def _is_in_records(self) -> bool:
        defaults = self.request.format.options()
        plain = all(value == defaults[name] for name, value in self._options.items() if name not in _OF_ANY_BLOCK)
        is_one_sign = isinstance(self._separator, str) and len(self._separator) == 1
        if not plain or not is_one_sign or self._options["header"] not in ("infer", None, 0):
            return False
        try:
            return self._layout is None or not self._layout.index
        except FileFormatError:
            return True  # reading raises it again

    @cached_property
    def _layout(self) -> Layout | None:
        """Where the columns are, which the header and the first record say."""
        size, is_whole, head = _HEAD, False, b""
        while not is_whole and not _has_records(head, self._separator):
            with self._stream() as stream:
                data = stream.read(size)
            is_whole, size = len(data) < size, 8 * size
            head = data if is_whole else data[: self._end(data)]
        return layout_of(NamedBytes(head, self.file.name), self._options)

    def _end(self, data: bytes) -> int:
        end = data.rfind(b"\n") + 1
        if b'"' not in data[:end]:
            return end
        separator = re.escape(self._separator.encode())
        if re.search(rb'[^\r\n"' + separator + rb']"[^\r\n"' + separator + b"]", data[:end]):
            return _end_of_fields(data, separator)
        last, is_open = end, data.count(b'"', 0, end) % 2
        while end and is_open:
            before = data.rfind(b"\n", 0, end - 1) + 1
            is_open ^= data.count(b'"', before, end) % 2
            end = before
        # A quote at the end of a bare field opens nothing.
        return end + _end_of_fields(data[end:last], separator)

    def tables(self, text: bytes | None = None, begin: int = 0) -> Iterator[pa.Table]:
        """The rows of the file, or of a block that begins at a byte, with the types of the stream."""
        if text is None:
            try:
                yield from self._typed(self.request, None, 0)
            except CastError as error:
                raise self._located(error, 0, error.row) from error
        elif begin and self._layout is not None:
            later = replace(self._layout, records=0, lines=0)
            yield from self._typed(
                replace(self.request, options={**self.request.options, "header": later}), text, begin
            )
        else:
            yield from self._typed(self.request, text, begin)

    def _typed(self, request: Request, text: bytes | None, begin: int) -> Iterator[pa.Table]:
        is_final = self.types is None
        while True:
            known = None if self.types is None else self.types.known()
            with closing(replace(request, types=known).tables(self.file, text)) as tables:
                for table, _ in tables:
                    if not is_final and self.types is not None:
                        if not self.types.settle(self.index, begin, self._types_in(table)):
                            break  # an earlier block has other types
                        is_final = True
                    yield table
                else:
                    break
        if self.types is not None:
            self.types.read(self.index, begin, None if text is None else begin + len(text))

    def _types_in(self, table: pa.Table) -> dict[str, pa.DataType]:
        """The types of columns that have values, without those that converters make."""
        places = self._options["converters"] or {}
        names = [] if not places or self._layout is None else self._layout.names
        made = {names[place] if isinstance(place, int) and place < len(names) else place for place in places}
        types = {field.name: field.type for field in table.schema if field.name not in made}
        return {name: arrow for name, arrow in types.items() if not pa.types.is_null(arrow)}

    def block_types(self, begin: int) -> Iterator[tuple[int, int, dict[str, pa.DataType]]]:
        """The types of columns that have values in each block: its first byte, its end, and the types."""
        alone = replace(self, types=None)
        with suppress(FileFormatError):
            if not self._is_in_records:
                types = map(self._types_in, alone.tables()) if begin == 0 else ()
                yield from ((0, sys.maxsize, found) for found in islice(types, 1))
                return
            with self._stream() as stream, closing(self._blocks(stream, begin)) as blocks:
                for start, block in blocks:
                    for table in islice(alone.tables(block, start), 1):
                        yield start, start + len(block), self._types_in(table)

    def _parsed(self, stream: BinaryIO, offset: int) -> Iterator[Given]:
        yield from super()._parsed(stream, offset)
        if self.types is not None:
            self.types.end(self.index)

    def _located(self, problem: Problem, begin: int, row: int | None) -> Problem:
        if self.types is None or not isinstance(problem, CastError):
            return super()._located(problem, begin, row)
        if row is None and (before := replace(self, types=None).row_at([begin, 0])) is not None:
            row = before + (problem.row or 0)
        source, target = (f"Value({canonical(dtype)!r})" for dtype in (problem.source, problem.target))
        advice = f"Read all rows as one type: features={{…, {problem.column!r}: {source}}}."
        return StreamTypeError(self.file.name, row, problem.column, source, target, problem.reason, advice)

    _can_be_cut = False  # whether a line end is quoted depends on all text before it


def with_types(shards: Sequence[FileShard]) -> tuple[FileShard, ...]:
    """CSV files of one stream, which agree in the types of their columns."""
    numbered = [replace(shard, index=index) for index, shard in enumerate(shards) if isinstance(shard, CsvShard)]
    types = StreamTypes(numbered)
    return tuple(replace(shard, types=types) for shard in numbered)


def _has_records(text: bytes, separator: str) -> bool:
    """Whether a text has two records, a header and a row."""
    lines = io.StringIO(text.decode(errors="replace"), newline="")
    return len(list(islice(filter(None, csv.reader(lines, delimiter=separator)), 2))) == 2


def _end_of_fields(data: bytes, separator: bytes) -> int:
    """Where the last record ends in a text with quotes inside of fields: field by field."""
    bare = rb"[^\n" + separator + rb"]*"
    field = re.compile(rb'(?:"(?:[^"]|"")*"(?!")' + bare + rb'|(?!")' + bare + rb")([\n" + separator + b"])")
    end = at = 0
    while found := field.match(data, at):
        at = found.end()
        if found.group(1) == b"\n":
            end = at
    return end
