"""CSV files as shards of a stream: blocks of whole records, whose columns have the types of their first values.

A stream cannot go back, so the type of a column is that of the first block, in the order of the files, that has a value
in it, and a later value of another type is an error. Rows therefore depend neither on where blocks begin nor on which
worker reads them, and are those that a dataset in memory has.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import CastError, FileCastError, FileFormatError
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.csv import layout_of
from crucible_datasets.formats.csv_layout import Layout
from crucible_datasets.formats.streams import NamedBytes
from crucible_datasets.reading.blockshards import BlockShard
from crucible_datasets.reading.request import Request, pass_over
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch

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
        self._next: tuple[int, int] = (0, 0)  # the first block, as file and byte, whose values were not looked at

    def __getstate__(self) -> dict[str, Any]:
        return {"_shards": self._shards, "_types": {}, "_next": (0, 0)}

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
        if self._next == (index, begin):
            self._next = (index + 1, 0) if end is None else (index, end)

    def _look_on(self, stop: tuple[int, int]) -> None:
        """Look at more blocks, up to one that has a new column."""
        index, before = self._next[0], len(self._types)
        for begin, end, types in self._shards[index].block_types(self._next[1]):
            if (index, begin) >= stop:
                return
            for name, arrow in types.items():
                self._types.setdefault(name, arrow)
            self._next = (index, end)
            if len(self._types) > before:
                return
        self._next = (index + 1, 0)


@dataclass(frozen=True, eq=False)
class CsvShard(BlockShard):
    """CSV: a record is a line, or several where a field in quotes holds line ends."""

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
        while end and data.count(b'"', 0, end) % 2:
            end = data.rfind(b"\n", 0, end - 1) + 1
        return end

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        if self._is_in_records:
            yield from super().batches(at)
            return
        try:
            request = self.request if self.types is None else self._settled(self.request, 0, None)
        except FileFormatError as error:
            pass_over(error, self.request.on_bad_files)
            return
        row, start = 0, at or 0
        ...

    def _tables(self, text: bytes, begin: int) -> Iterator[pa.Table]:
        request = self.request
        if begin and self._layout is not None:
            later = replace(self._layout, records=0, lines=0)
            request = replace(request, options={**request.options, "header": later})
        if self.types is not None:
            request = self._settled(request, begin, text)
            self.types.read(self.index, begin, begin + len(text))
        return (table for table, _ in request.tables(self.file, text))
