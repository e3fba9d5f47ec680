"""`take` and `skip`: the first rows, or all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage, Step, forwarded
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.tables.rows import shared_out


@dataclass(frozen=True)
class Counted(Step):
    """A step that counts rows: it keeps the order of the shards below, and divides the count among shards.

    After the rows were divided among machines, each machine counts its own.
    """

    looks_at_columns = False
    numbers_rows = True
    num_rows: int
    is_shared: bool = True

    def reordered(self, generator: Any) -> Stage:
        return self

    @property
    def keeps_order(self) -> bool:
        return True

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        readers = min(num_shards, self.num_shards)
        share = len(shared_out(self.num_rows, readers, index)) if self.is_shared else self.num_rows
        return replace(self, source=self.source.shard(num_shards, index, contiguous), num_rows=share)


@dataclass(frozen=True)
class Taken(Counted):
    """The first rows. A position is `[position below, rows yielded]`."""

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        below, given = at or (None, 0)
        if given >= self.num_rows:
            return
        for position, batch in self.source.batches(below):
            kept = batch.slice(0, self.num_rows - given)
            yield [position, given], kept
            given += len(kept)
            if given >= self.num_rows:
                return

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        below, given = at or (None, 0)
        wanted = min(num_rows, self.num_rows - given)
        if wanted <= 0:
            return at, num_rows
        position, left = self.source.forward(below, wanted)
        return [position, given + wanted - left], num_rows - wanted + left


@dataclass(frozen=True)
class Skipped(Counted):
    """All rows but the first. A position is a place in the stage below."""

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        cursor = Cursor(self.source, self._place(at))
        while cursor.ready():
            place = cursor.place
            batch = cursor.next()
            if batch is not None:
                yield place, batch

    def _place(self, at: Position) -> Position:
        return [*self.source.forward(None, self.num_rows)] if at is None else at

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        return forwarded(self.source, self._place(at), num_rows)
