"""CSV records one by one, for what Arrow's reader does not support: ragged rows, comments, unusual separators."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, cast

from crucible_datasets.exceptions import ArgumentError, FileFormatError
from crucible_datasets.formats.streams import name_of, undecodable

_SNIFFED = 1 << 16
_BLANKS = " \t\r\n"  # pandas treats other white space as text


@dataclass(frozen=True)
class Dialect:
    """How fields and records are separated."""

    sep: str | None = ","
    quotechar: str | None = '"'
    escapechar: str | None = None
    doublequote: bool = True
    skipinitialspace: bool = False
    comment: str | None = None
    lineterminator: str | None = None
    skip_blank_lines: bool = True
    skiprows: int | Collection[int] | Callable[[int], bool] | None = None

    def in_arrow(self) -> bool:
        """Whether Arrow's reader supports it."""
        plain = self.sep is not None and len(self.sep) == 1 and self.lineterminator in (None, "\n")
        return plain and not (self.comment or self.skipinitialspace) and isinstance(self.skiprows, (int, type(None)))

    def skips(self, line: int) -> bool:
        """Whether `skiprows` skips the line of this number."""
        if self.skiprows is None or isinstance(self.skiprows, int):
            return line < (self.skiprows or 0)
        return self.skiprows(line) if callable(self.skiprows) else line in self.skiprows


@dataclass
class Records:
    """The records of a stream, and the number of lines read so far.

    `on_undecodable` is called instead of yielding a record that is not UTF-8; by default such a record is an error.
    """

    stream: BinaryIO
    dialect: Dialect
    on_undecodable: Callable[[FileFormatError], None] | None = None
    lines: int = 0
    skipped: int = 0  # of these lines, how many `skiprows` skipped
    _offset: int = 0  # of the line that was read last
    _begin: tuple[int, int] = (0, 0)  # offset and number of the line where the last record begins
    _undecodable: FileFormatError | None = None  # the error of the last record

    def __iter__(self) -> Iterator[list[str]]:
        csv.field_size_limit(sys.maxsize)
        try:
            for record in self._fields():
                if self._undecodable is not None:
                    error, self._undecodable = self._undecodable, None
                    if self.on_undecodable is None:
                        raise error
                    self.on_undecodable(error)
                elif record is not None:
                    yield record
        except csv.Error as error:
            raise self.error(str(error)) from error

    def error(self, reason: str) -> FileFormatError:
        """An error of the record that was yielded last."""
        offset, line = self._begin
        return FileFormatError(name_of(self.stream), reason, None, offset, line)

    def _fields(self) -> Iterator[list[str] | None]:
        dialect, lines = self.dialect, self._kept_lines()
        if dialect.sep is not None and len(dialect.sep) > 1:
            split = str.split if dialect.sep == r"\s+" else re.compile(dialect.sep).split
            for line in lines:
                self._begin = self._offset, self.lines
                yield self._kept(split(line.rstrip("\r\n")), [line])
            return
        recent: list[str] = []
        for record in csv.reader(self._noting(lines, recent), **self._arguments()):
            self._check_closed(recent)
            yield self._kept(record, recent)
            recent.clear()

    def _noting(self, lines: Iterable[str], recent: list[str]) -> Iterator[str]:
        for line in lines:
            if not recent:
                self._begin = self._offset, self.lines
            recent.append(line)
            yield line

    def _arguments(self) -> dict[str, Any]:
        dialect = self.dialect
        return {
            "delimiter": dialect.sep if dialect.sep is not None else self._sniffed(),
            "quotechar": dialect.quotechar,
            "escapechar": dialect.escapechar,
            "doublequote": dialect.doublequote,
            "skipinitialspace": dialect.skipinitialspace,
            "quoting": csv.QUOTE_MINIMAL if dialect.quotechar else csv.QUOTE_NONE,
        }

    def _check_closed(self, lines: list[str]) -> None:
        """Raise if a quoted field is not closed at the end of the file."""
        if self._ended and self.dialect.quotechar and self.dialect.quotechar in "".join(lines):
            try:
                list(csv.reader(lines, strict=True, **self._arguments()))
            except csv.Error as error:
                if "unexpected end" in str(error):
                    raise self.error("a quoted field is not closed.") from error

    def _kept(self, record: list[str], lines: list[str]) -> list[str] | None:
        is_blank = not record or (len(record) == 1 and not "".join(lines).strip(_BLANKS))
        return None if is_blank and self.dialect.skip_blank_lines else record

    def _kept_lines(self) -> Iterator[str]:
        self._ended = False
        for number, line in self._numbered_lines():
            self.lines += 1
            if self.dialect.skips(number):
                self.skipped += 1
                continue
            kept = self._without_comment(line)
            if kept is not None:
                yield kept
        self._ended = True

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Each line with its number for `skiprows`: all lines within one quoted field have the same number."""
        quote, number, quoted = self.dialect.quotechar, 0, False
        for line in self._raw_lines():
            yield number, line
            quoted ^= quote is not None and line.count(quote) % 2 == 1
            number += not quoted

    def _raw_lines(self) -> Iterator[str]:
        # Bytes that are not UTF-8 become surrogates, so that only their own record is affected.
        text = io.TextIOWrapper(cast(Any, self.stream), encoding="utf-8", errors="surrogateescape", newline="")
        following = 0
        try:
            end = self.dialect.lineterminator
            for line in text if end is None or end == "\n" else _split(text, end):
                self._offset = following
                following += len(line) if line.isascii() else self._encoded_length(line)
                yield line
        finally:
            if not text.closed:
                text.detach()

    def _encoded_length(self, line: str) -> int:
        """The bytes of a line, which are checked."""
        data = line.encode("utf-8", "surrogateescape")
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if self._undecodable is not None:
                return len(data)
            problem = undecodable(name_of(self.stream), error, self._offset)
            self._undecodable = FileFormatError(problem.path, problem.reason, None, problem.offset, self.lines + 1)
        return len(data)

    def _without_comment(self, line: str) -> str | None:
        mark, quote = self.dialect.comment, self.dialect.quotechar
        if not mark or mark not in line:
            return line
        at = line.find(mark)
        while at >= 0 and quote and line.count(quote, 0, at) % 2:
            at = line.find(mark, at + 1)
        if at < 0:
            return line
        return line[:at] + "\n" if line[:at].strip() else None

    def _sniffed(self) -> str:
        if not self.stream.seekable():
            raise ArgumentError("sep", None, "the separator of a stream that cannot be rewound must be given.")
        here = self.stream.tell()
        self.stream.seek(0)
        sample = self.stream.read(_SNIFFED).decode("utf-8", "replace")
        self.stream.seek(here)
        for lines in (20, 1):  # if the sniffer fails on several lines, the first one alone
            with suppress(csv.Error):
                return csv.Sniffer().sniff("".join(islice(io.StringIO(sample), lines))).delimiter
        raise FileFormatError(name_of(self.stream), "the separator cannot be told from the first lines: pass sep.")


def _split(text: io.TextIOWrapper, end: str) -> Iterator[str]:
    rest = ""
    while chunk := text.read(1 << 20):
        *lines, rest = (rest + chunk).split(end)
        for line in lines:
            yield line + "\n"
    if rest:
        yield rest
