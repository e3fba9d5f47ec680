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
    """The records of a stream, and the number of lines read so far."""

    stream: BinaryIO
    dialect: Dialect
    lines: int = 0
    skipped: int = 0  # of these lines, how many `skiprows` skipped

    def __iter__(self) -> Iterator[list[str]]:
        csv.field_size_limit(sys.maxsize)
        try:
            for record in self._fields():
                if record is not None:
                    yield record
        except UnicodeDecodeError as error:
            raise undecodable(name_of(self.stream), error, self._bytes_before(error)) from error
        except csv.Error as error:
            raise FileFormatError(name_of(self.stream), str(error)) from error

    def _bytes_before(self, error: UnicodeDecodeError) -> int:
        """The offset of the bytes that could not be decoded, if the stream can tell."""
        with suppress(OSError, ValueError):
            return max(self.stream.tell() - len(error.object), 0)
        return 0

    def _fields(self) -> Iterator[list[str] | None]:
        dialect, lines = self.dialect, self._kept_lines()
        if dialect.sep is not None and len(dialect.sep) > 1:
            split = str.split if dialect.sep == r"\s+" else re.compile(dialect.sep).split
            for line in lines:
                yield self._kept(split(line.rstrip("\r\n")), [line])
            return
        recent: list[str] = []
        for record in csv.reader(_noting(lines, recent), **self._arguments()):
            self._check_closed(recent)
            yield self._kept(record, recent)
            recent.clear()

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
                    raise FileFormatError(name_of(self.stream), "a quoted field is not closed.") from error

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
        text = io.TextIOWrapper(cast(Any, self.stream), encoding="utf-8", newline="")
        try:
            end = self.dialect.lineterminator
            yield from text if end is None or end == "\n" else _split(text, end)
        finally:
            if not text.closed:
                text.detach()

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


def _noting(lines: Iterable[str], recent: list[str]) -> Iterator[str]:
    for line in lines:
        recent.append(line)
        yield line


def _split(text: io.TextIOWrapper, end: str) -> Iterator[str]:
    rest = ""
    while chunk := text.read(1 << 20):
        *lines, rest = (rest + chunk).split(end)
        for line in lines:
            yield line + "\n"
    if rest:
        yield rest
