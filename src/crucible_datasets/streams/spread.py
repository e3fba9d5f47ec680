"""Shards of a stream that workers read and work on, some ahead of the reader; their rows come in order.

A worker opens the files of a shard itself. What comes back are its batches with their positions, so a reader resumes
from every row, and an error comes in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import Advance, Executor, Task, executor_of
from crucible_datasets.executors.failures import opened_error, packed_error
from crucible_datasets.streams.base import EachBatch, Position, Stage, Step
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.decoded import Decoded
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.filtered import Filtered
from crucible_datasets.streams.mapped import Mapped, MappedBatches
from crucible_datasets.streams.prefetched import Prefetched
from crucible_datasets.streams.source import Source

# Shards for each worker that are handed out before the first of them is used up.
_SHARDS_EACH = 4
Items = list[tuple[Position, Batch]]


@dataclass(frozen=True)
class Spread(Step):
    """The stage below, shard by shard elsewhere. A position is `[shard, position in it]`."""

    executor: str | Executor

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        first, place = at or (0, None)
        shards, executor = range(first, self.source.num_shards), executor_of(self.executor)
        workers = executor.workers()
        for start in range(0, len(shards), workers * _SHARDS_EACH):
            window = shards[start : start + workers * _SHARDS_EACH]
            results = executor.run(self._tasks(window, first, place), workers, _nothing)
            for index, (items, error) in zip(window, results, strict=True):
                yield from (([index, position], batch) for position, batch in items)
                if error is not None:
                    raise self._told(opened_error(error), index)

    def _tasks(self, window: range, first: int, place: Position) -> list[Task[tuple[Items, bytes | None]]]:
        count = self.source.num_shards
        reads = [_Read(self.source.shard(count, index), place if index == first else None) for index in window]
        return [Task(read, range(0), f"shard {index}") for index, read in zip(window, reads, strict=True)]

    def _told(self, error: BaseException, index: int) -> BaseException:
        error.add_note(f"Rows are counted from the beginning of shard {index} of {self.source.num_shards}.")
        return error


@dataclass(frozen=True)
class _Read:
    """All batches of a shard from a position on, and the error that came instead of the rest."""

    stage: Stage
    at: Position

    def __call__(self, rank: int | None, advance: Advance) -> tuple[Items, bytes | None]:
        items, error = until_error(self.stage.batches(self.at))
        return items, None if error is None else packed_error(error)


def _nothing(rows: int) -> None:
    """A stream shows no progress."""


def below_spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage that a step of the same executor is put over: workers do both steps at once."""
    return stage.source if isinstance(stage, Spread) and stage.executor == executor else stage


def spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage as workers run it, if any are asked for."""
    if executor is None or executor_of(executor).name == "serial":
        return stage
    _refuse_across_shards([stage], executor)
    return Spread(stage, executor)


def _refuse_across_shards(stages: Sequence[Stage], executor: str | Executor) -> None:
    """An error where shards, each worked on for itself, would not make up the whole."""
    for stage in stages:
        if getattr(getattr(stage, "call", None), "with_indices", False):
            raise ArgumentError("with_indices", True, "workers have shards, and do not know how many rows come before.")
        if not isinstance(stage, (Source, EachBatch, Mapped, MappedBatches, Filtered, Decoded, Prefetched)):
            reason = f"{type(stage).__name__.lower()} comes before it and sees rows of several shards: put it behind."
            raise ArgumentError("executor", executor, reason)
        _refuse_across_shards(stage.below(), executor)
