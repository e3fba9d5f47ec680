"""Hugging Face's internal "examples iterables": objects that yield pairs of a key and a row.

Some programs define such classes and pass them to `IterableDataset`; others read that of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Protocol

from crucible_datasets.features import Features
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.fitting import up_to_misfit
from crucible_datasets.streams.from_generator import GeneratedShard
from crucible_datasets.streams.stream import Stream


class Examples(Protocol):
    """Pairs of a key and a row, in shards."""

    @property
    def num_shards(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[Any, dict[str, Any]]]: ...
    def shuffle_data_sources(self, generator: Any) -> Examples: ...
    def shard_data_sources(self, num_shards: int, index: int, contiguous: bool = True) -> Examples: ...


@dataclass(frozen=True, eq=False)
class OfExamples(Stage):
    """The rows of an examples iterable that a user defined. A position is a number of rows, which resuming drops."""

    examples: Examples
    features: Features | None = None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        items = GeneratedShard(_rows, {"examples": self.examples}).batches(at)
        return items if self.features is None else up_to_misfit(items, self.features)

    @property
    def num_shards(self) -> int:
        return self.examples.num_shards

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        # Classes written for older versions do not take `contiguous`.
        how: dict[str, Any] = {} if contiguous else {"contiguous": False}
        return replace(self, examples=self.examples.shard_data_sources(num_shards=num_shards, index=index, **how))

    def reordered(self, generator: Any) -> Stage:
        return replace(self, examples=self.examples.shuffle_data_sources(deepcopy(generator)))

    def resharded(self) -> Stage:
        return self

    @property
    def keeps_order(self) -> bool:
        return False

    @property
    def hands_tables(self) -> bool:
        return False

    def by_rows(self) -> Stage:
        return self


def _rows(examples: Iterable[tuple[Any, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    prepare = getattr(examples, "_init_state_dict", None)
    if prepare is not None:
        prepare()  # classes with a state of their own start here
    return (row for _, row in examples)


@dataclass(frozen=True, eq=False)
class ExamplesOf:
    """The rows of a stream's stage, each with its number."""

    stage: Stage
    features: Features | None = None

    @property
    def num_shards(self) -> int:
        return self.stage.num_shards

    @property
    def n_shards(self) -> int:
        return self.stage.num_shards

    @property
    def is_typed(self) -> bool:
        return self.features is not None

    @property
    def batch_size(self) -> int | None:
        """How many rows a function gets at once."""
        return getattr(self.stage, "batch_size", 1000)

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return enumerate(row for _, batch in self.stage.batches() for row in batch.in_turn())

    def shuffle_data_sources(self, generator: Any) -> ExamplesOf:
        return replace(self, stage=self.stage.reordered(generator))

    def shard_data_sources(self, num_shards: int, index: int, contiguous: bool = True) -> ExamplesOf:
        return replace(self, stage=self.stage.shard(num_shards, index, contiguous))


def examples_of(stream: Stream) -> Examples:
    """The examples iterable of a stream: the object that it was made of, if it was."""
    stage = stream.stage
    return stage.examples if isinstance(stage, OfExamples) else ExamplesOf(stage, stream.features)


def stage_of(examples: Stage | Examples, features: Features | None) -> Stage:
    """What `IterableDataset` is made of, as a stage."""
    if isinstance(examples, Stage):
        return examples
    return examples.stage if isinstance(examples, ExamplesOf) else OfExamples(examples, features)
