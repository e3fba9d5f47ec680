"""Shards of a stream that workers read and work on, some ahead of the reader; their rows come in order.

A worker opens the files of a shard itself where it finds them; else its rows are read here and go along. What comes
back are batches with their positions, so a reader resumes from every row, and an error comes in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import Advance, Executor, Once, Task, executor_of
from crucible_datasets.executors.failures import opened_error, packed_error
from crucible_datasets.ops.carrying import with_files
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import EachBatch, Position, Stage, Step
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.calling import Calling
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.decoded import Decoded
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.generated import GeneratedShard
from crucible_datasets.streams.prefetched import Prefetched
from crucible_datasets.streams.source import Shard, Source

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
        workers, goes_along = executor.workers(), not executor.sees_files()
        # One for all windows, so that a worker makes one object of a class and not one for each.
        steps = Once(_over(self.source, Source(())))
        for start in range(0, len(shards), workers * _SHARDS_EACH):
            window = shards[start : start + workers * _SHARDS_EACH]
            reads = [
                _Read(steps, self._source(index), place if index == first else None, goes_along) for index in window
            ]
            tasks = [Task(read, range(0), f"shard {index}") for index, read in zip(window, reads, strict=True)]
            results = executor.run(tasks, workers, _nothing)
            for index, (items, error) in zip(window, results, strict=True):
                yield from (([index, position], batch) for position, batch in items)
                if error is not None:
                    raise self._told(opened_error(error), index)

    def _source(self, index: int) -> Source:
        """A shard on its own, below all steps."""
        return _source_of(self.source.shard(self.source.num_shards, index))

    def _told(self, error: BaseException, index: int) -> BaseException:
        error.add_note(f"Rows are counted from the beginning of shard {index} of {self.source.num_shards}.")
        return error


@dataclass(frozen=True)
class _Read:
    """All batches of a shard from a position on, and the error that came instead of the rest."""

    steps: Once[Stage]
    source: Source
    at: Position
    goes_along: bool

    def __getstate__(self) -> dict[str, Any]:
        source = self.source
        if self.goes_along:
            source = replace(source, shards=tuple(map(_carried, source.shards)))
        return {**vars(self), "source": source}

    def __call__(self, rank: int | None, advance: Advance) -> tuple[Items, bytes | None]:
        items, error = until_error(_over(self.steps.value, self.source).batches(self.at))
        return items, None if error is None else packed_error(error)


@dataclass(frozen=True)
class _Carried(Shard):
    """The batches of a shard that others cannot read, and the error that came instead of the rest."""

    items: Items
    error: bytes | None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        places = [position for position, _ in self.items]
        yield from self.items[places.index(at) if at in places else 0 :]
        if self.error is not None:
            raise opened_error(self.error)


def _carried(shard: Shard) -> Shard:
    """The shard as any machine reads it."""
    file = getattr(shard, "file", None)
    if isinstance(shard, GeneratedShard) or (file is not None and file.elsewhere is not None):
        return shard
    items, error = until_error(shard.batches())
    return _Carried([(place, _whole(batch)) for place, batch in items], None if error is None else packed_error(error))


def _whole(batch: Batch) -> Batch:
    """The batch with the files that its media name."""
    if batch.table is None or batch.features is None:
        return batch
    return Batch(with_files(batch.table, batch.features), batch.features, batch.made)


def _source_of(stage: Stage) -> Source:
    while not isinstance(stage, Source):
        (stage,) = stage.below()
    return stage


def _over(stage: Stage, source: Source) -> Stage:
    """The same steps over another source."""
    return source if isinstance(stage, Source) else stage.over([_over(below, source) for below in stage.below()])


def _nothing(rows: int) -> None:
    """A stream shows no progress."""


def chosen(asked: str | Executor | None, stage: Stage, call: Call, batched: bool) -> str | Executor | None:
    """The executor of a step: the one asked for, else that of the settings, for files where the result is the same."""
    named = config.CRUCIBLE_EXECUTOR
    if asked or not named or batched or call.with_indices:
        return asked
    below = below_spread(stage, named)
    if _refusal(below, named) is not None or below.num_shards < 2:
        return None
    return named if all(shard.reads_files for shard in _source_of(below).shards) else None


def below_spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage that a step of the same executor is put over: workers do both steps at once."""
    return stage.source if isinstance(stage, Spread) and stage.executor == executor else stage


def spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage as workers run it, if any are asked for."""
    if executor is None or executor_of(executor).name == "serial":
        return stage
    if (refusal := _refusal(stage, executor)) is not None:
        raise refusal
    return Spread(stage, executor)


def _refusal(stage: Stage, executor: str | Executor) -> ArgumentError | None:
    """The error if shards cannot be worked on separately; None if they can."""
    if isinstance(stage, Calling) and stage.call.with_indices:
        reason = "workers have shards, and do not know how many rows come before."
        return ArgumentError("with_indices", True, reason)
    if not isinstance(stage, (Source, EachBatch, Calling, Decoded, Prefetched)):
        reason = f"{type(stage).__name__.lower()} comes before it and sees rows of several shards: put it behind."
        return ArgumentError("executor", executor, reason)
    return next((found for below in stage.below() if (found := _refusal(below, executor)) is not None), None)
