"""`Stage`: the interface of every step of a stream.

A stage is a frozen value that yields batches of rows, starting at a position. Each batch comes with the position
*before* it, so `(position, rows already used of the batch that follows)` is the exact state of a reader: to resume,
read from that position, which gives the same batch again, and drop the rows already used. So a stage can resume at any
row, and has to record nothing but the positions of the stages below it and its own state.

Positions are JSON values; None is the start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from crucible_datasets.records import dataclass
from crucible_datasets.streams.batch import Batch

Position = Any


class Stage(ABC):
    """One step of a stream. It is immutable: all state of reading is in positions.

    The defaults suit a step that keeps the shards of the stages below it. Every stage defines `batches`, and either
    `below` with `over` (a step) or `num_shards` with `shard` (a source).
    """

    @abstractmethod
    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        """The batches from a position onwards, each with the position before it.

        The same position gives the same rows, though batch boundaries may differ. No batch is empty.
        """

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        """A position up to `num_rows` rows further on, and how many rows remain to be read and dropped.

        Uses row counts of files and reads no rows. A stage that cannot skip returns its arguments.
        """
        return at, num_rows

    def below(self) -> Sequence[Stage]:
        """The stages it reads from; none for a source."""
        return ()

    def over(self, below: Sequence[Stage]) -> Stage:
        """The same step over other stages."""
        return self

    @property
    def num_shards(self) -> int:
        """Into how many parts (files, or parts of files) the rows can be divided."""
        return min(stage.num_shards for stage in self.below())

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        """The stage over some of the shards: contiguous ones, or every `num_shards`-th."""
        return self.over([stage.shard(num_shards, index, contiguous) for stage in self.below()])

    def reordered(self, generator: Any) -> Stage:
        """The stage over the same shards, shuffled by a copy of a numpy generator."""
        return self.over([stage.reordered(generator) for stage in self.below()])

    def shifted(self, worker: int) -> Stage:
        """The stage as a worker runs it: each worker draws random numbers of its own."""
        return self.over([stage.shifted(worker) for stage in self.below()])

    def resharded(self) -> Stage:
        """The stage over as many shards as its files can be split into."""
        return self.over([stage.resharded() for stage in self.below()])

    @property
    def numbers_rows(self) -> bool:
        """Whether it numbers rows, so that its output depends on which reader gets which rows."""
        return False

    looks_at_columns: ClassVar[bool] = True  # or a function that passes rows on unseen

    def only(self, names: Sequence[str]) -> Stage:
        """The same rows, of which only these columns need be read; others may still be present."""
        return self if self.looks_at_columns else self.over([stage.only(names) for stage in self.below()])

    @property
    def rows_each(self) -> int | None:
        """How many rows of the stage below make one row; None if there is no fixed number."""
        return None

    def place_below(self, place: Position) -> Position:
        """The place in the stage below that corresponds to a place here; called only if `rows_each` is not None."""
        raise NotImplementedError

    @property
    def keeps_order(self) -> bool:
        """Whether shuffling must keep the order of its shards, since rows are counted somewhere below."""
        return any(stage.keeps_order for stage in self.below())

    @property
    def hands_tables(self) -> bool:
        """Whether Hugging Face `datasets` passes tables here, not rows; its shuffle reads these in larger chunks."""
        return all(stage.hands_tables for stage in self.below())

    def by_rows(self) -> Stage:
        """The stage as it is read together with others that pass rows only."""
        return self.over([stage.by_rows() for stage in self.below()])


@dataclass(frozen=True)
class Step(Stage):
    """A stage over one other."""

    source: Stage

    def below(self) -> Sequence[Stage]:
        return (self.source,)

    def over(self, below: Sequence[Stage]) -> Stage:
        return replace(self, source=below[0])


class Unpacked(Stage):
    """A stage that takes tables and passes on rows."""

    @property
    def hands_tables(self) -> bool:
        return False

    def by_rows(self) -> Stage:
        return self


@dataclass(frozen=True)
class EachBatch(Step):
    """A step that maps rows one to one, with the positions of the stage below."""

    @property
    def rows_each(self) -> int | None:
        return 1

    def place_below(self, place: Position) -> Position:
        return place

    @abstractmethod
    def changed(self, batch: Batch) -> Batch:
        """The transformed batch."""

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        return ((position, self.changed(batch)) for position, batch in self.source.batches(at))

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        return self.source.forward(at, num_rows)


def forwarded(stage: Stage, place: Position, num_rows: int) -> tuple[Position, int]:
    """Like `Stage.forward`, for the place of a cursor: a position and the rows used after it."""
    position, used = place or (None, 0)
    found, left = stage.forward(position, used + num_rows)
    return [found, max(left - num_rows, 0)], min(left, num_rows)
