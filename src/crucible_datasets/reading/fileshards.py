"""Files as shards of a stream: any file through its format, Parquet by row groups, Arrow by record batches."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import accumulate, zip_longest
from typing import Any, Self

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.features import Features, Value
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.arrow import batches as arrow_batches
from crucible_datasets.formats.arrow import features_in, file_errors, mapped, opened, schema_in
from crucible_datasets.formats.base import columns_of, expression_of
from crucible_datasets.formats.faults import faults_passed_over
from crucible_datasets.formats.filters import clauses_of, is_written_out
from crucible_datasets.formats.parquet import file_errors as parquet_errors
from crucible_datasets.formats.parquet import parquet_reader
from crucible_datasets.formats.parquet_footer import stated_rows
from crucible_datasets.reading.files import DataFile, content_of
from crucible_datasets.reading.missing_columns import Seen, looked_at
from crucible_datasets.reading.request import Request
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.prefetched import in_parallel
from crucible_datasets.streams.source import Shard
from crucible_datasets.tables.footers import part_elsewhere, part_of
from crucible_datasets.tables.parquet import groups_left_in
from crucible_datasets.tables.rowgroups import ParquetPart
from crucible_datasets.tables.rows import shared_out

_WORTH_A_THREAD = 1 << 20  # bytes of a row group


@dataclass(frozen=True, eq=False)
class FileShard(Shard):
    """A file read from its start. A position is the number of the next row."""

    reads_files = True
    file: DataFile
    request: Request

    @property
    def tells_features(self) -> bool:
        """Whether the first rows determine the types of all, for a format that has types."""
        return True

    @property
    def evolves(self) -> bool:  # type: ignore[override]
        return self.request.format.name in ("parquet", "arrow")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.file.name

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.file, "request": self.request}

    @property
    def quiet(self) -> Self:
        """The same shard for a look at its rows, which does not warn of damage: reading them does."""
        return self if self.request.raises else replace(self, request=self.request.quiet)

    def expecting(self, features: Features | None) -> FileShard:
        """The same shard, told the features that rows of the stream are expected to have."""
        return self

    def looked_at(self, seen: Seen) -> Iterable[Features]:
        """The columns of the file, as far as needed to find missing ones."""
        return looked_at(self.file, self.request, seen)

    def knowing(self, known: Features) -> FileShard:
        """The same shard, with nulls for columns that only other files have."""
        return replace(self, request=replace(self.request, known=known))

    def tables(self, text: bytes | None = None, begin: int = 0) -> Iterator[pa.Table]:
        """The requested rows and columns of the file, or of a text that begins at a byte of it."""
        return (table for table, _ in self.request.tables(self.file, text))

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        row, start = 0, at or 0
        with faults_passed_over(self.request.on_bad_files):
            for table in self.tables():
                wanted = table.slice(max(start - row, 0))
                if wanted.num_rows:
                    yield row + table.num_rows - wanted.num_rows, Batch.of_arrow(wanted)
                row += table.num_rows

    def identity(self) -> Any:
        content = content_of(self.file)
        return None if content is None else (content, self.portion)

    def reading(self) -> Any:
        return self.request.identity

    @property
    def portion(self) -> Any:
        """Which part of the file it is; None for the whole file."""
        return None

    def inside(self, at: Position, num_rows: int) -> Position | None:
        return (at or 0) + num_rows

    def row_at(self, at: Position) -> int | None:
        return at if self.request.filters is None else None

    @property
    def _is_counted(self) -> bool:
        """Whether its rows are as many as the file states: none are filtered out, and damage raises."""
        return self.request.filters is None and self.request.raises

    @cached_property
    def first_features(self) -> Features | None:
        first = next(self.quiet.batches(), None)
        return None if first is None else first[1].features


@dataclass(frozen=True, eq=False)
class ParquetShard(FileShard):
    """Some row groups of a Parquet file, all by default. A position is the number of the next row in them."""

    groups: tuple[int, ...] | None = None
    expected: tuple[str, ...] = ()  # the columns of the stream
    unneeded: frozenset[str] = frozenset()  # those of them that are not needed; columns unknown to the stream are read

    def __getstate__(self) -> dict[str, Any]:
        added = {"groups": self.groups, "expected": self.expected, "unneeded": self.unneeded}
        return {**super().__getstate__(), **added}

    @property
    def portion(self) -> Any:
        return self.groups

    def expecting(self, features: Features | None) -> ParquetShard:
        return self._with_footer(replace(self, expected=tuple(features or ())))

    def looked_at(self, seen: Seen) -> Iterable[Features]:
        return [] if self.part is None else [self.part.features]

    def knowing(self, known: Features) -> ParquetShard:
        return self._with_footer(replace(self, request=replace(self.request, known=known)))

    def _with_footer(self, made: ParquetShard) -> ParquetShard:
        if "part" in vars(self):  # it may be large and remote
            vars(made)["part"] = self.part
        return made

    def only(self, names: Sequence[str]) -> ParquetShard | None:
        if not self.request.raises:
            return None  # which rows are good must not depend on the columns that are looked at
        return replace(self, unneeded=self.unneeded | (frozenset(self.expected) - set(names)))

    @cached_property
    def part(self) -> ParquetPart | None:
        """The file with its footer; None if it cannot be read and may be skipped."""
        with faults_passed_over(self.request.quiet.on_bad_files):
            return self._opened()
        return None

    def _opened(self) -> ParquetPart:
        if self.file.elsewhere is not None:
            return part_elsewhere(self.file.elsewhere.open, self.file.name)
        return part_of(os.path.abspath(self.file.path))

    @cached_property
    def features(self) -> Features:
        """The features of the requested columns."""
        found = Features() if self.part is None else self.part.features
        return self.request.only(found)

    @cached_property
    def _sizes(self) -> dict[int, int]:
        """The number of rows of each group."""
        if self.part is None:
            return {}
        about = self.part.metadata
        groups = range(about.num_row_groups) if self.groups is None else self.groups
        return {group: about.row_group(group).num_rows for group in groups}

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        with faults_passed_over(self.request.on_bad_files):
            yield from self._batches(self.part or self._opened(), at or 0)

    def _batches(self, part: ParquetPart, start: int) -> Iterator[tuple[Position, Batch]]:
        names = self._names(part)
        features = Features({name: part.features[name] for name in names})
        possible = self._possible(part)
        firsts = dict(zip(self._sizes, [0, *accumulate(self._sizes.values())], strict=False))
        groups = [group for group, first in firsts.items() if first + self._sizes[group] > start]
        groups = groups if possible is None else [group for group in groups if group in possible]
        rows = {group: firsts[group] for group in groups}
        for group, record_batch in self._decoded(part, groups, names):
            wanted = record_batch.slice(max(start - rows[group], 0))
            rows[group] += record_batch.num_rows
            batch = self._chosen(wanted, features)
            if len(batch):
                yield rows[group] - wanted.num_rows, batch

    def _decoded(
        self, part: ParquetPart, groups: Sequence[int], names: list[str]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The record batches of row groups; a thread that prefetches them has another one decode the next group."""

        def read(group: int) -> Generator[pa.RecordBatch]:
            return part.batches(group, names, self.request.options.get("batch_size"))

        following: Generator[pa.RecordBatch] | None = None
        try:
            for group, next_group in zip_longest(groups, groups[1:]):
                batches, following = following or read(group), None
                with closing(batches):
                    for batch in batches:
                        yield group, batch
                        if following is None and next_group is not None and self._is_large(part, next_group):
                            following = in_parallel(read(next_group))
        finally:
            if following is not None:
                following.close()

    def _is_large(self, part: ParquetPart, group: int) -> bool:
        """Whether to decode a row group takes much longer than to start a thread."""
        return bool(part.metadata.row_group(group).total_byte_size > _WORTH_A_THREAD)

    def _possible(self, part: ParquetPart) -> set[int] | None:
        """The groups that may hold matching rows; None if all may."""
        filters = self.request.filters
        if filters is None or not self.request.raises:
            return None
        wanted = clauses_of(filters) if is_written_out(filters) else filters
        if not is_written_out(filters) and self.request.lacking(part.features):
            return None  # Arrow cannot evaluate an expression on a file that lacks one of its columns
        names = tuple(columns_of(expression_of(filters), list(part.features)))
        return groups_left_in(part, part.features, wanted, names)

    def _names(self, part: ParquetPart) -> list[str]:
        """The columns that are read."""
        available = list(part.features)
        wanted = available if self.request.columns is None else self.request.columns
        lacking = self.request.lacking(available)
        for name in wanted:
            if name not in part.features and name not in lacking:
                raise ColumnNotFoundError(name, available)
        needed = [name for name in wanted if name not in self.unneeded and name not in lacking]
        names = dict.fromkeys([*needed, *columns_of(expression_of(self.request.filters), available)])
        return list(names) or available[:1]  # for the number of rows

    def _chosen(self, found: pa.RecordBatch, features: Features) -> Batch:
        table = self.request.filtered(pa.Table.from_batches([found]))
        if len(table.column_names) > len(features):
            features = Features({name: features.get(name, Value("null")) for name in table.column_names})
        batch = Batch.of_table(table, features)
        asked = features if self.request.columns is None else self.request.columns
        names = [name for name in asked if name not in self.unneeded]
        if not names:  # all requested columns are null
            return Batch.of_rows([{name: None for name in self.expected if name not in self.unneeded}] * len(batch))
        return batch if list(features) == names else batch.select(names)

    @cached_property
    def _num_rows(self) -> int:
        if self.groups is not None or "part" in self.__dict__ or self.file.elsewhere is not None:
            return sum(self._sizes.values())
        if (stated := stated_rows(self.file.path)) is not None:
            return stated
        with parquet_errors(self.file.path):
            return int(parquet_reader(self.file.path).metadata.num_rows)  # no column needs to be read

    def rows_left(self, at: Position) -> int | None:
        return self._num_rows - (at or 0) if self._is_counted else None

    def moved(self, at: Position, num_rows: int) -> Position:
        return (at or 0) + num_rows

    def inside(self, at: Position, num_rows: int) -> Position | None:
        return None if self.request.filters is not None else self.moved(at, num_rows)

    def row_at(self, at: Position) -> int | None:
        if self.part is None or self.request.filters is not None:
            return None
        row = at or 0
        for group, size in self._sizes.items():
            if row < size:
                return row + sum(self.part.metadata.row_group(before).num_rows for before in range(group))
            row -= size
        return None

    def parts(self) -> Sequence[Shard]:
        if not self.request.raises:
            return [self]
        return [replace(self, groups=(group,)) for group in self._sizes] or [self]

    def cut(self, parts: int) -> Sequence[Shard]:
        if not self.request.raises:
            return [self]
        groups = list(self._sizes)
        parts = max(1, min(parts, len(groups)))
        runs = (shared_out(len(groups), parts, index) for index in range(parts))
        return [replace(self, groups=tuple(groups[place] for place in run)) for run in runs]


@dataclass(frozen=True, eq=False)
class ArrowShard(FileShard):
    """An Arrow file, memory-mapped. A position is the number of the next row."""

    @cached_property
    def features(self) -> Features | None:
        """The features of the requested columns, also without rows; None if the file cannot be read."""
        path = self.file.path
        with faults_passed_over(self.request.quiet.on_bad_files), mapped(path) as source:
            return self.request.only(features_in(path, schema_in(source, path)))
        return None

    def looked_at(self, seen: Seen) -> Iterable[Features]:
        whole = replace(self, request=replace(self.request, columns=None))
        return [] if whole.features is None else [whole.features]

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        row, start = 0, at or 0
        with faults_passed_over(self.request.on_bad_files):
            for found in arrow_batches(mapped(self.file.path), self.file.path):
                wanted = found.slice(max(start - row, 0))
                row += found.num_rows
                batch = self._chosen(wanted)
                if len(batch):
                    yield row - wanted.num_rows, batch

    def inside(self, at: Position, num_rows: int) -> Position | None:
        return None if self.request.filters is not None else self.moved(at, num_rows)

    def _chosen(self, found: pa.RecordBatch) -> Batch:
        table = pa.Table.from_batches([found])
        return Batch.of_arrow(self.request.narrowed(table))

    @cached_property
    def _num_rows(self) -> int:
        with file_errors(self.file.path), mapped(self.file.path) as source:
            reader = opened(source)
            is_file = isinstance(reader, pa.RecordBatchFileReader)
            found = (reader.get_batch(index) for index in range(reader.num_record_batches)) if is_file else reader
            return sum(batch.num_rows for batch in found)

    def rows_left(self, at: Position) -> int | None:
        return self._num_rows - (at or 0) if self._is_counted else None

    def moved(self, at: Position, num_rows: int) -> Position:
        return (at or 0) + num_rows
