"""Several stages as one: rows after rows, or columns next to columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.records import dataclass
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import EachBatch, Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.fitting import Fitting, fit, fit_stated, up_to_misfit
from crucible_datasets.tables.rows import shared_out

_MOST_ROWS = 1024


@dataclass(frozen=True)
class Several(Stage):
    """A stage over others. If one of them passes rows only, all are read that way."""

    sources: tuple[Stage, ...]

    def below(self) -> Sequence[Stage]:
        return self.sources

    def over(self, below: Sequence[Stage]) -> Stage:
        return replace(self, sources=tuple(below))

    def read_alike(self) -> Sequence[Stage]:
        """The stages as they are read together: by rows, if one of them is."""
        return self.sources if self.hands_tables else [source.by_rows() for source in self.sources]


@dataclass(frozen=True)
class Concatenated(Several):
    """The rows of one stage after those of another. A position is `[stage, position in it]`.

    When shards are divided or reordered, the shards of all stages are treated as one list.
    """

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        first, inner = at or (0, None)
        for index, source in enumerate(self.read_alike()):
            if index >= first:
                for position, batch in source.batches(inner if index == first else None):
                    yield [index, position], batch

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        index, inner = at or (0, None)
        while index < len(self.sources):
            inner, num_rows = self.sources[index].forward(inner, num_rows)
            if not num_rows or next(self.sources[index].batches(inner), None) is not None:
                break
            index, inner = index + 1, None
        return [index, inner], num_rows

    @property
    def num_shards(self) -> int:
        return sum(source.num_shards for source in self.sources)

    @property
    def keeps_order(self) -> bool:
        return False

    def _shards(self) -> list[Stage]:
        return [source.shard(source.num_shards, index) for source in self.sources for index in range(source.num_shards)]

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        shards = self._shards()
        return self.over([shards[place] for place in shared_out(len(shards), num_shards, index, contiguous)])

    def reordered(self, generator: Any) -> Stage:
        shards = self._shards()
        return self.over([shards[place] for place in rng_state.drawn_order(generator, len(shards))])


@dataclass(frozen=True)
class Beside(Several):
    """The columns of several stages in one row. A position is a list of the places in all of them.

    Rows are matched by number, so there is a single shard. If a stage ends before the others, its columns are null
    from there on, if they are known.
    """

    names: tuple[tuple[str, ...] | None, ...] = ()

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        places = at or [None] * len(self.sources)
        cursors = [Cursor(source, place) for source, place in zip(self.read_alike(), places, strict=True)]
        rows = 1
        while True:
            places = [cursor.place for cursor in cursors]
            batches = [cursor.take(rows) for cursor in cursors]
            if not any(batches):
                return
            yield places, self._row_by_row(batches)
            rows = min(2 * rows, _MOST_ROWS)

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        places = at or [None] * len(self.sources)
        moved = []
        for source, place in zip(self.sources, places, strict=True):
            position, used = place or (None, 0)
            moved.append([*source.forward(position, used + num_rows)])
        return moved, 0

    def _row_by_row(self, batches: Sequence[Batch | None]) -> Batch:
        count = max(len(batch) for batch in batches if batch is not None)
        even = all(batch is not None and len(batch) == count and batch.made is None for batch in batches)
        if even:
            return _side_by_side([batch for batch in batches if batch is not None])
        rows: list[dict[str, Any]] = [{} for _ in range(count)]
        for batch, names in zip(batches, self.names or [None] * len(batches), strict=True):
            found = [] if batch is None else batch.rows()
            nothing = dict.fromkeys(names or ())
            for place, row in enumerate(rows):
                row.update(found[place] if place < len(found) else nothing)
        return Batch.of_rows(rows)

    @property
    def num_shards(self) -> int:
        return 1

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        return self if 0 in shared_out(1, num_shards, index, contiguous) else Concatenated(())

    def reordered(self, generator: Any) -> Stage:
        return self

    @property
    def keeps_order(self) -> bool:
        return False


def _side_by_side(batches: Sequence[Batch]) -> Batch:
    columns: dict[str, pa.ChunkedArray] = {}
    features: dict[str, Any] = {}
    for batch in batches:
        for name, feature in (batch.features or Features()).items():
            columns[name] = batch.table.column(name)  # type: ignore[union-attr]
            features[name] = feature
    return Batch.of_table(pa.table(columns), Features(features))


@dataclass(frozen=True)
class Aligned(EachBatch):
    """The rows with the columns of all streams; those that a row lacks are null."""

    features: Features
    is_typed: bool = True

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        return up_to_misfit(self.source.batches(at), self.features, self._fitted)

    def changed(self, batch: Batch) -> Batch:
        return self._fitted(batch, self.features)[0]

    def _fitted(self, batch: Batch, features: Features) -> Fitting:
        if batch.made is None:
            return fit(batch, features)
        if self.is_typed:
            return fit_stated(batch, features)
        nothing = dict.fromkeys(features)
        return Batch.of_rows([{**nothing, **row} for row in batch.rows()]), None
