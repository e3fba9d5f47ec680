"""What a stage of a stream is.

A stage is a frozen value that gives batches of rows, beginning at a position. With each batch it tells the
position *before* it, so `(position, rows already used of the batch that follows)` says exactly where a reader
stands: beginning there again gives the same batch, and the rows that were used are dropped. So every stage resumes
from every row, and none has to keep anything but the positions of the stages below it and what it adds itself.

Positions are JSON values; None is the beginning.
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
    """One step of a stream. Frozen: what changes while it flows is in positions.

    The defaults are those of a step that keeps the shards of the stages below it; `batches`, and `below` with `over`
    or `num_shards` with `shard`, are what every stage says itself.
    """

    @abstractmethod
    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        """The batches from a position on, each with the position before it.

        The same position gives the same rows, cut into batches in any way. No batch is empty.
        """

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        """A position that is up to `num_rows` rows further on, and how many of them remain to be read and dropped.

        Cheap: row counts of files are used, no rows are read. A stage that cannot tell gives back what it got.
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
        """Into how many parts, of whole files or parts of files, the rows can be shared out."""
        return min(stage.num_shards for stage in self.below())

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        """The stage over some of the shards: a run of them, or every `num_shards`-th."""
        return self.over([stage.shard(num_shards, index, contiguous) for stage in self.below()])

    def reordered(self, generator: Any) -> Stage:
        """The stage over the same shards in an order that a copy of a numpy generator draws."""
        return self.over([stage.reordered(generator) for stage in self.below()])

    def shifted(self, worker: int) -> Stage:
        """The stage as a worker runs it: what is drawn at random is drawn anew for each."""
        return self.over([stage.shifted(worker) for stage in self.below()])

    def resharded(self) -> Stage:
        """The stage over as many shards as its files can be cut into."""
        return self.over([stage.resharded() for stage in self.below()])

    @property
    def numbers_rows(self) -> bool:
        """Whether it counts the rows below from their start, so that what it gives depends on who reads which."""
        return False

    looks_at_columns: ClassVar[bool] = True  # or hands rows on whatever is in them

    def only(self, names: Sequence[str]) -> Stage:
        """The same rows, of which only these columns must be read; others may still be there."""
        return self if self.looks_at_columns else self.over([stage.only(names) for stage in self.below()])

    @property
    def rows_each(self) -> int | None:
        """How many rows below make one row, each on its own; None where it is not that simple."""
        return None

    def place_below(self, place: Position) -> Position:
        """The place in the stage below for a place here; asked only where `rows_each` is not None."""
        raise NotImplementedError

    @property
    def keeps_order(self) -> bool:
        """Whether its shards stay in their order when streams are shuffled, since rows are counted somewhere below."""
        return any(stage.keeps_order for stage in self.below())

    @property
    def hands_tables(self) -> bool:
        """Whether Hugging Face `datasets` hands on tables here, not rows; its shuffle reads them in larger turns."""
        return all(stage.hands_tables for stage in self.below())

    def by_rows(self) -> Stage:
        """The stage as it is read beside others that hand on rows only."""
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
    """A stage that takes tables as they come and hands on rows."""

    @property
    def hands_tables(self) -> bool:
        return False

    def by_rows(self) -> Stage:
        return self


@dataclass(frozen=True)
class EachBatch(Step):
    """A step that gives one row for each row, whose positions are those of the stage below."""

    @property
    def rows_each(self) -> int | None:
        return 1

    def place_below(self, place: Position) -> Position:
        return place

    @abstractmethod
    def changed(self, batch: Batch) -> Batch:
        """What becomes of a batch."""

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        return ((position, self.changed(batch)) for position, batch in self.source.batches(at))

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        return self.source.forward(at, num_rows)


def forwarded(stage: Stage, place: Position, num_rows: int) -> tuple[Position, int]:
    """As `Stage.forward`, for the place of a cursor: a position and the rows used behind it."""
    position, used = place or (None, 0)
    found, left = stage.forward(position, used + num_rows)
    return [found, max(left - num_rows, 0)], min(left, num_rows)
