"""CSV, and files of lines, as shards of a stream: blocks of whole records, each read on its own.

A block ends at the first record boundary after the next multiple of `BLOCK`, so block boundaries depend on the file
alone. A position is `[first byte of a block, rows of it already read]`: to resume, the reader seeks to the block, or
decompresses up to it, and parses it again.
"""

from __future__ import annotations

import io
import itertools
import os
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import CastError, FileCastError, FileFormatError
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.faults import faults_passed_over
from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.formats.streams import BLOCK, read_to_fault
from crucible_datasets.reading.files import opened
from crucible_datasets.reading.fileshards import FileShard
from crucible_datasets.reading.linerows import LineRows
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.source import Shard

# A byte at which a block begins, the rows of it that came before, and those that come now.
Given = tuple[int, int, Batch]
Problem = FileFormatError | CastError
Ended = tuple[int, Problem | None, int | None]

MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class BlockShard(FileShard):
    """The records of a file that begin between two bytes of it, the whole file by default."""

    start: int = 0
    stop: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "start": self.start, "stop": self.stop}

    @property
    def portion(self) -> Any:
        return None if self.stop is None and not self.start else (self.start, self.stop)

    @property
    @abstractmethod
    def _is_in_records(self) -> bool:
        """Whether blocks of the file can be parsed independently; if not, it is read from the start."""

    @property
    def tells_features(self) -> bool:
        return self._is_in_records

    @property
    def _may_go_on(self) -> bool:
        """Whether a record that cannot be read at the end of a block may go on in the next one."""
        return False

    def _end(self, data: bytes) -> int:
        """Where the last complete record of the data ends; 0 if there is none."""
        return data.rfind(b"\n") + 1

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        if not self._is_in_records:
            yield from super().batches(at)
            return
        offset, given = at or (None, 0)
        with faults_passed_over(self.request.on_bad_files), self._stream() as stream:
            for begin, before, batch in self._parsed(stream, self._begin(stream) if offset is None else offset):
                used = max(given - before, 0) if begin == offset else 0
                if used < len(batch):
                    yield [begin, before + used], batch.slice(used)

    def inside(self, at: Position, num_rows: int) -> Position | None:
        if not self._is_in_records:
            return super().inside(at, num_rows)
        offset, given = at
        return [offset, given + num_rows]

    def row_at(self, at: Position) -> int | None:
        if not self._is_in_records or self.request.filters is not None:
            return super().row_at(at) if not self._is_in_records else None
        offset, row = at
        with self._stream() as stream, closing(replace(self, start=0, stop=None)._blocks(stream, 0)) as blocks:
            before = takewhile(lambda block: block[0] < offset, blocks)
            return int(row) + sum(table.num_rows for begin, block in before for table in self.tables(block, begin))

    @contextmanager
    def _stream(self) -> Iterator[BinaryIO]:
        with opened(self.file) as stream:
            yield stream

    def _begin(self, stream: BinaryIO) -> int:
        """Where the first record of the shard begins."""
        return self._record_after(stream, self.start) if self.start else 0

    def _record_after(self, stream: BinaryIO, place: int) -> int:
        stream.seek(place - 1)
        return place - 1 + len(stream.readline())

    def _blocks(self, stream: BinaryIO, offset: int) -> Generator[tuple[int, bytes]]:
        """The blocks from a byte on, where a record begins."""
        last = None if self.stop is None else self._record_after(stream, self.stop)
        size = os.fstat(stream.fileno()).st_size if isinstance(getattr(stream, "raw", None), io.FileIO) else 0
        _move_to(stream, offset)
        rest, at = b"", offset
        while last is None or at < last:
            done = at + len(rest)
            size_up_to_mark = (done // BLOCK + 1) * BLOCK - done
            # One byte more than the block has shows whether the file ends: then the last line belongs to the block.
            wanted = size_up_to_mark + 1 if last is None else min(size_up_to_mark + 1, last - done)
            text, error = read_to_fault(stream, wanted, rest)
            nothing_more = len(text) == len(rest)
            is_end = len(text) - len(rest) < wanted or (last is not None and at + len(text) >= last)
            end = len(text) if is_end and error is None else self._end(text)
            if end:
                yield at, text[:end]
            if error is not None:
                raise error
            if nothing_more and at + len(text) < size:
                raise FileFormatError(self.file.name, "it became shorter while it was read.", None, at + len(text))
            if nothing_more:
                return
            rest, at = text[end:], at + end

    def _parsed(self, stream: BinaryIO, offset: int) -> Iterator[Given]:
        held, held_at = b"", offset
        rows = 0 if offset == 0 and self.request.filters is None else None  # in the file before a block, if known
        problem: Problem | None = None
        line_rows, blocks = self._line_rows(), self._blocks(stream, offset)
        with closing(ahead(blocks) if config.STREAMING_PREFETCH_BATCHES else blocks) as blocks:
            while (following := self._next_block(blocks, rows)) is not None:
                begin, block = following
                text, at = (held + block, held_at) if held else (block, begin)
                given, problem, end = yield from self._of_block(text, at, line_rows)
                rows = None if rows is None else rows + given
                if problem is not None and (end is None or (not given and len(text) > BLOCK)):
                    raise self._located(problem, at, rows)
                # What is left may be a record over several lines, whose end is in the next block.
                held, held_at = (b"", at) if end is None else (text[end:], at + end)
        if problem is not None:
            raise self._located(problem, at, rows)

    def _next_block(self, blocks: Iterator[tuple[int, bytes]], rows: int | None) -> tuple[int, bytes] | None:
        try:
            return next(blocks, None)
        except FileFormatError as error:
            raise error.in_row(rows) from error.__cause__

    def _located(self, problem: Problem, begin: int, row: int | None) -> Problem:
        """An error in a block that begins at a byte, with its position in the file."""
        if isinstance(problem, CastError):
            if row is None and (rows_before := self.row_at([begin, 0])) is not None:
                row = rows_before + (problem.row or 0)
            located = CastError(problem.column, problem.source, problem.target, problem.reason, row)
            return FileCastError(self.file.name, located)
        before = None if problem.line is None else self._lines_before(begin)
        line = None if before is None or problem.line is None else before + problem.line
        return FileFormatError(problem.path, problem.reason, None, problem.offset, line, problem.column).in_row(row)

    def _lines_before(self, place: int) -> int | None:
        """How many lines end before a byte of the file; None if counting them would download the file again."""
        if place and self.file.elsewhere is not None:
            return None
        with self._stream() as stream:
            steps = (min(BLOCK, place - at) for at in range(0, place, BLOCK))
            return sum(stream.read(step).count(b"\n") for step in steps)

    def _line_rows(self) -> LineRows | None:
        """A parser from blocks to Python rows without Arrow, where possible."""
        return None

    def _of_block(self, text: bytes, at: int, line_rows: LineRows | None) -> Generator[Given, None, Ended]:
        """The rows of a block; then their number, the error after them, and where they end, if known."""
        given, found = 0, None
        for batch in line_rows.batches(text) if line_rows is not None else ():
            if batch is not None:
                yield at, given, batch
                given += len(batch)
                continue
            found = found or self._rows(text, at)
            if found[1] is None and line_rows is not None and line_rows.fits(found[0]):
                break
        else:
            if line_rows is not None and line_rows.is_whole:
                return given, None, None
        rest, problem, end = found or self._rows(text, at)
        if rest is not None and given < len(rest):
            yield at, given, rest.slice(given)
            given = len(rest)
        return given, problem, end

    def _rows(self, text: bytes, at: int) -> tuple[Batch | None, Problem | None, int | None]:
        """The rows of a block, the error after them, and where they end, if known."""
        pieces: list[Batch] = []
        problem: Problem | None = None
        end = None
        try:
            pieces.extend(map(Batch.of_arrow, self.tables(text, at)))
        except CastError as error:
            problem = error
        except FileFormatError as error:
            end = error.offset
            reason = error.reason if end is not None else f"in the block that begins here, {error.reason}"
            problem = FileFormatError(self.file.name, reason, None, at + (end or 0), error.line, error.column)
        pieces = [piece for piece in pieces if len(piece)]
        return (joined(pieces) if pieces else None), problem, end if self._may_go_on else None

    @cached_property
    def _is_seekable(self) -> bool:
        with self._stream() as stream:
            return isinstance(stream, (io.BufferedReader, io.FileIO)) and stream.seekable()

    def cut(self, parts: int) -> Sequence[Shard]:
        stop = self.file.size if self.stop is None else self.stop
        step = -(-(stop - self.start) // max(parts, 1))
        if parts < 2 or not step or not self._can_be_cut:
            return [self]
        marks = [*range(self.start, stop, step), self.stop]
        return [replace(self, start=start, stop=end) for start, end in itertools.pairwise(marks)]

    @property
    def _can_be_cut(self) -> bool:
        # The rest of a damaged file is left out, wherever it is cut.
        return self.request.raises and self._is_in_records and self._is_seekable


def _move_to(stream: BinaryIO, offset: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset > 0 and (data := stream.read(min(offset, BLOCK))):
        offset -= len(data)
