"""The rows of several splits → one Arrow or Parquet file, or a few of them, for each split, in one folder.

A column has the type that holds it in all rows of all splits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.exceptions import ArgumentError, DatasetGenerationError
from crucible_datasets.executors.base import Advance, Task, run_all
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint, version_of
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import view_of
from crucible_datasets.ops.generate import shards
from crucible_datasets.splits import SplitDict, SplitInfo
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.parquet import ParquetTable
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, TypedWriter, settle, united_all

FILE_FORMATS = ("arrow", "parquet")
Batches = Callable[..., Iterator[tuple[pa.Table, Features]]]


@dataclass(frozen=True)
class Source:
    """Where the rows of one split come from: a function of batches, and its arguments."""

    split: str
    batches: Batches
    arguments: Mapping[str, Any] = field(default_factory=dict)
    on_mixed_types: str | None = None


@dataclass(frozen=True)
class Layout:
    """How splits are written: into files of which format and size, by how many processes, under which name."""

    dataset_name: str
    file_format: str = "arrow"
    max_shard_bytes: int = 500_000_000
    num_proc: int | None = None

    def __post_init__(self) -> None:
        if self.file_format not in FILE_FORMATS:
            raise ArgumentError("file_format", self.file_format, f"expected one of {', '.join(FILE_FORMATS)}.")

    def names(self, split: str, count: int) -> list[str]:
        """What the files of a split are called."""
        stem = f"{self.dataset_name}-{split}"
        if count == 1:
            return [f"{stem}.{self.file_format}"]
        return [f"{stem}-{number:05d}-of-{count:05d}.{self.file_format}" for number in range(count)]


def write_splits(
    folder: str, sources: list[Source], layout: Layout, features: Features | None
) -> tuple[Features | None, SplitDict]:
    """Write the rows of all splits into a folder; their features and sizes."""
    written = {source.split: _segments(folder, source, layout) for source in sources}
    mixed = next((source.on_mixed_types for source in sources), None)
    final = features or united_all([one for several in written.values() for one in several], mixed)
    if not final and written:
        raise DatasetGenerationError(layout.dataset_name, None, "no split has a row, so the types are unknown.")
    sizes = [_settled(folder, split, segments, layout, final) for split, segments in written.items()]
    return final or None, SplitDict({size.name: size for size in sizes}, dataset_name=layout.dataset_name)


def _segments(folder: str, source: Source, layout: Layout) -> list[Segment]:
    parts = shards(source.arguments, layout.num_proc or 1)
    tasks = [
        Task(
            partial(_write, os.path.join(folder, f"{source.split}.{number}"), source, part, layout.max_shard_bytes),
            range(0),
            f"shard {number + 1} of {len(parts)} of split {source.split!r}",
        )
        for number, part in enumerate(parts)
    ]
    # A builder that works here shows a bar of its own.
    hidden = True if len(tasks) == 1 else None
    with progress.bar(desc=f"Generating {source.split} split", unit=" examples", disable=hidden) as bar:
        return [segment for several in run_all(tasks, bar.update) for segment in several]


def _write(
    prefix: str, source: Source, arguments: Mapping[str, Any], max_bytes: int, _rank: int | None, advance: Advance
) -> list[Segment]:
    segments: list[Segment] = []
    writer, written = TypedWriter(prefix, source.on_mixed_types), 0
    for table, features in source.batches(**arguments):
        if written and written + table.nbytes > max_bytes:
            segments += writer.close()
            writer, written = TypedWriter(f"{prefix}.{len(segments)}", source.on_mixed_types), 0
        writer.write(table, features, f"split {source.split!r}")
        written += table.nbytes
        advance(len(table))
    return segments + writer.close()


def _settled(folder: str, split: str, segments: list[Segment], layout: Layout, features: Features) -> SplitInfo:
    place = os.path.join(folder, f"{split}.settled")
    os.mkdir(place)
    files, _ = settle(place, segments, features)
    names = layout.names(split, len(files))
    tables = [open_table(file) for file in files]
    lengths = [table.num_rows for table in tables]
    size = SplitInfo(split, sum(table.nbytes for table in tables), sum(lengths), dataset_name=layout.dataset_name)
    if len(files) > 1:
        size.shard_lengths = lengths
    for file, name in zip(files, names, strict=True):
        _put(file, os.path.join(folder, name))
    os.rmdir(place)
    return size


def _put(file: str, target: str) -> None:
    if target.endswith(".arrow"):
        os.rename(file, target)
        return
    import pyarrow.parquet as pq

    table = open_table(file)
    with pq.ParquetWriter(target, table.schema) as writer:
        writer.write_table(table)
    del table
    os.unlink(file)


def split_view(folder: str, info: DatasetInfo, split: str, file_format: str, in_memory: bool) -> View:
    """All rows of one split that `write_splits` wrote."""
    size = (info.splits or SplitDict())[split]
    layout = Layout(size.dataset_name or "dataset", file_format)
    paths = tuple(os.path.join(folder, name) for name in layout.names(split, len(size.shard_lengths or [0])))
    fingerprint = Fingerprint(None, content=[(path, *version_of(os.stat(path))) for path in paths])
    if file_format == "parquet":
        table = ParquetTable.open(paths, None, info.features)
        view = View(table, range(table.num_rows), table.features, fingerprint)
        return view_of(view.read(), view.features, info, split, (), fingerprint) if in_memory else view
    tables = [open_table(path, in_memory) for path in paths]
    features = Features.from_arrow_schema(tables[0].schema)
    return view_of(pa.concat_tables(tables), features, info, split, () if in_memory else paths, fingerprint)
