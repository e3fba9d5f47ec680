"""Streams of the rows that a user's generator function yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentTypeError, ShardingError
from crucible_datasets.features import Features
from crucible_datasets.hashing.code import arguments_identity, code_identity
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.pacing import Pace
from crucible_datasets.streams.source import Shard, Source


@dataclass(frozen=True, eq=False)
class GeneratedShard(Shard):
    """The rows of one call. A position is `[rows yielded, state]`.

    To resume, the function is called again and that many rows are dropped, unless the iterable that it returns has
    `state_dict` and `load_state_dict`.
    """

    hands_tables = False
    generator: Callable[..., Iterable[Any]]
    arguments: Mapping[str, Any]

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        given, state = at or (0, None)
        made = self.generator(**self.arguments)
        if state is not None:
            made.load_state_dict(state)  # type: ignore[attr-defined]
        rows = iter(made)
        if state is None:
            next(islice(rows, given, given), None)
        tell = getattr(made, "state_dict", None) if hasattr(made, "load_state_dict") else None
        pace = Pace()
        while True:
            position = [given, tell() if tell is not None else None]
            with pace:
                batch, error = until_error(islice(rows, pace.size))
            if batch:
                yield position, Batch.of_rows(batch)
            if error is not None:
                raise error
            if not batch:
                return
            given += len(batch)

    def identity(self) -> Any:
        return arguments_identity(dict(self.arguments))

    def function(self) -> str | None:
        return code_identity(self.generator)


@dataclass(frozen=True, eq=False)
class TablesShard(Shard):
    """The rows of a function that yields tables with their features. A position is the number of the next row."""

    make: Callable[..., Iterable[tuple[pa.Table, Features]]]
    arguments: Mapping[str, Any]

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        row, start = 0, at or 0
        for table, features in self.make(**self.arguments):
            wanted = table.slice(max(start - row, 0))
            if wanted.num_rows:
                yield row + table.num_rows - wanted.num_rows, Batch.of_table(wanted, features)
            row += table.num_rows

    def identity(self) -> Any:
        return arguments_identity(dict(self.arguments))

    def function(self) -> str | None:
        return code_identity(self.make)


def source_of(generator: Callable[..., Iterable[Any]], gen_kwargs: Mapping[str, Any] | None) -> Source:
    """The rows of a function; lists among its arguments are split, one element per shard."""
    if not callable(generator):
        raise ArgumentTypeError("generator", generator, "expected a function that yields rows.")
    return Source(tuple(GeneratedShard(generator, part) for part in shared_arguments(gen_kwargs or {})))


def shared_arguments(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments of each shard: one element of each list, and the rest."""
    lists = {name: value for name, value in arguments.items() if isinstance(value, list)}
    lengths = {name: len(value) for name, value in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ShardingError(lengths)
    count = max([1, *lengths.values()])
    parts = ({name: value[index : index + 1] for name, value in lists.items()} for index in range(count))
    return [{**arguments, **part} for part in parts]
