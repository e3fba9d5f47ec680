"""Tar archives as shards of a stream, and as files whose samples are read one by one.

A position is the byte at which the headers of the next sample begin. A plain tar is read on from there; of a
compressed one, what comes before is decompressed and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, BinaryIO

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.base import expression_of, narrowed
from crucible_datasets.formats.webdataset.members import entries
from crucible_datasets.formats.webdataset.rows import blocks, looked_ahead, table_of, wanted_of
from crucible_datasets.formats.webdataset.samples import grouped
from crucible_datasets.reading.convert import pass_over
from crucible_datasets.reading.files import opened
from crucible_datasets.reading.fileshards import FileShard
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.starts import of_arrow


@dataclass(frozen=True, eq=False)
class TarShard(FileShard):
    """The samples of an archive."""

    hands_tables = False

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        if self.request.options.get("scattered", "error") != "error":
            yield from super().batches(at)
            return
        try:
            yield from self._batches(at or 0)
        except FileFormatError as error:
            pass_over(error, self.request.on_bad_files)

    def _batches(self, start: int) -> Iterator[tuple[Position, Batch]]:
        request, name = self.request, self.file.name
        mixed = request.options.get("on_mixed_types", "use_json")
        wanted, filters = wanted_of(request.columns, request.filters, request.features), expression_of(request.filters)
        with opened(self.file) as stream:
            is_single, samples = looked_ahead(grouped(entries(stream, name, start, wanted), name))
            for block in blocks(samples):
                table = table_of(block, name, wanted, is_single and not start, mixed)
                table = narrowed(table, request.columns, filters)
                if table.num_rows:
                    yield block[0].begin, of_arrow(table)


def shard_files(paths: Any) -> list[tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]]:
    """The archives that paths and patterns name, wherever they are: what to call each, and how to open it."""
    from crucible_datasets.reading.resolve import resolve

    files = resolve("webdataset", data_files={"train": paths}).flowing("train")
    return [(file.name, partial(opened, file)) for file in files]
