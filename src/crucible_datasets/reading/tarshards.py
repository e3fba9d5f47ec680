"""Tar archives as shards of a stream, and as files whose samples are read one by one.

A position is the offset of the next sample's first header. To resume, a plain tar is read from there; a compressed one
is decompressed up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError, DownloadError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.formats.faults import faults_passed_over
from crucible_datasets.formats.streams import drain
from crucible_datasets.formats.webdataset.members import Wanted, entries
from crucible_datasets.formats.webdataset.python_rows import python_rows
from crucible_datasets.formats.webdataset.rows import blocks, size_of, table_of, up_to_fault, wanted_of, with_single
from crucible_datasets.formats.webdataset.samples import RawSample, grouped
from crucible_datasets.outputs.python import collector_paused
from crucible_datasets.reading.files import DataFile, opened
from crucible_datasets.reading.fileshards import FileShard
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.python_rows import ReadyRows

_COMPARED_EVERY = 64 << 20  # bytes, after which the store is asked again whether the archive has changed


@dataclass(frozen=True, eq=False)
class TarShard(FileShard):
    """The samples of an archive."""

    hands_tables = False
    expected: Features | None = None  # the features of the stream's first rows

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "expected": self.expected}

    def expecting(self, features: Features | None) -> TarShard:
        return replace(self, expected=features)

    def only(self, names: Sequence[str]) -> TarShard | None:
        if self.expected is None or self._is_gathered or not self.request.raises:
            return None  # which samples are good must not depend on the columns that are looked at
        expected = Features({name: self.expected[name] for name in names})
        known = Features({**(self.request.known or {}), **expected})  # samples may lack files that others have
        return replace(self, request=replace(self.request, columns=list(names), known=known), expected=expected)

    @property
    def _is_gathered(self) -> bool:
        return bool(self.request.options.get("scattered", "error") != "error")

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        if self._is_gathered:
            yield from super().batches(at)
            return
        with faults_passed_over(self.request.on_bad_files):
            yield from _uncollected(self._batches(at or 0))

    def inside(self, at: Position, num_rows: int) -> Position | None:
        return super().inside(at, num_rows) if self._is_gathered else None

    def row_at(self, at: Position) -> int | None:
        return super().row_at(at) if self._is_gathered else None

    def _batches(self, start: int) -> Iterator[tuple[Position, Batch]]:
        rows = 0 if start == 0 and self.request.filters is None else None  # of the archive, if known
        try:
            for position, batch in self._blocks(start):
                rows = None if rows is None else rows + len(batch)
                yield position, batch
        except FileFormatError as error:
            raise error.in_row(rows) from error.__cause__

    def _blocks(self, start: int) -> Iterator[tuple[Position, Batch]]:
        request, name = self.request, self.file.name
        wanted = wanted_of(request.columns, request.filters, request.features)
        compared_at = start
        with _unchanged(self.file) as stream:
            is_single, samples = with_single(grouped(entries(stream, name, start, wanted), name))
            for block in blocks(samples):
                if block[-1].begin - compared_at > _COMPARED_EVERY:
                    _require_same(self.file)
                    compared_at = block[-1].begin
                read = partial(self._batch, wanted=wanted, is_single=is_single and not start)
                batch, fault = up_to_fault(block, read)
                if batch is not None and len(batch):
                    yield block[0].begin, batch
                if fault is not None:
                    raise fault
            drain(stream)

    def _batch(self, block: Sequence[RawSample], wanted: Wanted | None, is_single: bool) -> Batch:
        request, name = self.request, self.file.name
        mixed = request.options.get("on_mixed_types", "use_json")

        def in_arrow() -> Batch:
            table = table_of(block, name, wanted, is_single, mixed)
            return Batch.of_arrow(request.narrowed(table))

        if self.expected is None or request.filters is not None:
            return in_arrow()
        rows = python_rows(block, name, self.expected, wanted, request.columns is not None)
        if rows is None:
            return in_arrow()
        # If all files are read, their offsets give the size ten times faster than adding up.
        nbytes = size_of(block) if wanted else block[-1].begin - block[0].begin + size_of(block[-1:])
        return ReadyRows(rows, self.expected, nbytes, lambda: in_arrow().typed(self.expected).table)


@contextmanager
def _unchanged(file: DataFile) -> Iterator[BinaryIO]:
    """The bytes of an archive; a remote one takes many requests, and must still be the same at the end."""
    try:
        with opened(file) as stream:
            yield stream
    except (DownloadError, FileFormatError):  # a changed archive has other boundaries
        _require_same(file)
        raise
    _require_same(file)


def _require_same(file: DataFile) -> None:
    if file.elsewhere is not None:
        with suppress(DataFilesNotFoundError):  # a deleted archive has not changed
            file.elsewhere.require_same()


def _uncollected(batches: Iterator[tuple[Position, Batch]]) -> Iterator[tuple[Position, Batch]]:
    """The batches, each made with garbage collection paused, which took a tenth of the time for small files."""
    while True:
        with collector_paused():
            made = next(batches, None)
        if made is None:
            return
        yield made


def shard_files(paths: Any) -> list[tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]]:
    """The archives that paths, patterns and URLs name: a display name for each, and a function to open it."""
    from crucible_datasets.reading.resolve import resolve

    files = resolve("webdataset", data_files={"train": paths}).streamed_files("train")
    return [(file.name, partial(_unchanged, file)) for file in files]
