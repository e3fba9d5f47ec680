"""Shards of a stream that workers read and process in parallel, in advance of the reader; rows come in order.

A worker opens the files of a shard itself if it can reach them; else the rows are read here and sent. It returns
batches with their positions, so a reader can resume at any row, and an error is raised after the rows before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import Advance, Executor, Once, Task, executor_of
from crucible_datasets.executors.failures import opened_error, packed_error
from crucible_datasets.ops.transport import with_files
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import EachBatch, Position, Stage, Step
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.decoded import Decoded
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.from_generator import GeneratedShard
from crucible_datasets.streams.function_stage import Calling
from crucible_datasets.streams.prefetched import Prefetched
from crucible_datasets.streams.source import Shard, Source

# Shards per worker that are submitted in advance.
_SHARDS_EACH = 4
Items = list[tuple[Position, Batch]]


@dataclass(frozen=True)
class Spread(Step):
    """The stage below, processed shard by shard by workers. A position is `[shard, position in it]`."""

    executor: str | Executor

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        first, place = at or (0, None)
        shards, executor = range(first, self.source.num_shards), executor_of(self.executor)
        workers, goes_along = executor.workers(), not executor.sees_files()
        # One for all windows, so that a worker creates a single instance of a callable class.
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
                    raise self._with_shard(opened_error(error), index)

    def _source(self, index: int) -> Source:
        """The source of a single shard, below all steps."""
        return _source_of(self.source.shard(self.source.num_shards, index))

    def _with_shard(self, error: BaseException, index: int) -> BaseException:
        error.add_note(f"Rows are counted from the beginning of shard {index} of {self.source.num_shards}.")
        return error


@dataclass(frozen=True)
class _Read:
    """All batches of a shard from a position onwards, and the error that ended it early, if any."""

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
    """The batches of a shard that workers cannot read themselves, and the error that ended it early, if any."""

    items: Items
    error: bytes | None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        places = [position for position, _ in self.items]
        yield from self.items[places.index(at) if at in places else 0 :]
        if self.error is not None:
            raise opened_error(self.error)


def _carried(shard: Shard) -> Shard:
    """The shard in a form that any machine can read."""
    file = getattr(shard, "file", None)
    if isinstance(shard, GeneratedShard) or (file is not None and file.elsewhere is not None):
        return shard
    items, error = until_error(shard.batches())
    return _Carried([(place, _whole(batch)) for place, batch in items], None if error is None else packed_error(error))


def _whole(batch: Batch) -> Batch:
    """The batch with the content of the files that its media refer to."""
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
    """Ignore progress: a stream shows none."""


def chosen(asked: str | Executor | None, stage: Stage, call: Call, batched: bool) -> str | Executor | None:
    """The executor of a step: the given one, else that of the settings where the result is the same."""
    named = config.CRUCIBLE_EXECUTOR
    if asked or not named or batched or call.with_indices:
        return asked
    below = below_spread(stage, named)
    if _refusal(below, named) is not None or below.num_shards < 2:
        return None
    return named if all(shard.reads_files for shard in _source_of(below).shards) else None


def below_spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage below the workers, if they are the same, so that they run both steps."""
    return stage.source if isinstance(stage, Spread) and stage.executor == executor else stage


def spread(stage: Stage, executor: str | Executor | None) -> Stage:
    """The stage run by workers, if an executor is given."""
    if executor is None or executor_of(executor).name == "serial":
        return stage
    if (refusal := _refusal(stage, executor)) is not None:
        raise refusal
    return Spread(stage, executor)


def _refusal(stage: Stage, executor: str | Executor) -> ArgumentError | None:
    """The error if shards cannot be processed independently; else None."""
    if isinstance(stage, Calling) and stage.call.with_indices:
        reason = "workers have shards, and do not know how many rows come before."
        return ArgumentError("with_indices", True, reason)
    if not isinstance(stage, (Source, EachBatch, Calling, Decoded, Prefetched)):
        reason = f"{type(stage).__name__.lower()} comes before it and sees rows of several shards: put it behind."
        return ArgumentError("executor", executor, reason)
    return next((found for below in stage.below() if (found := _refusal(below, executor)) is not None), None)
