"""`Source`: the start of a stream, shards of rows one after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import Roots, within
from crucible_datasets.records import dataclass
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.fitting import Misfit, fit, fit_stated
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.writing import naming_origin


class Shard(ABC):
    """A part of the rows that can be read independently: a file, a part of one, some rows of a table."""

    name: object = None  # its name in error messages
    reads_files: bool = False  # whether a thread may prefetch it
    is_text: bool = False  # whether its values are text, whose types are those that all texts of a column have
    evolves: bool = False  # whether structs may have fewer fields than in other shards, as its schema says
    hands_tables: bool = True  # whether Hugging Face `datasets` reads it as tables

    @abstractmethod
    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        """The batches from a position onwards, as for a stage."""

    def rows_left(self, at: Position) -> int | None:
        """How many rows follow a position, if known without reading them."""
        return None

    def moved(self, at: Position, num_rows: int) -> Position:
        """The position `num_rows` further on; called only if `rows_left` is larger."""
        raise NotImplementedError

    def inside(self, at: Position, num_rows: int) -> Position | None:
        """The position `num_rows` into the batch that begins at a position; None if only batches have positions."""
        return None

    def row_at(self, at: Position) -> int | None:
        """The number, in its file, of the row at a position; None if unknown. For errors: it may read the file."""
        return None

    @property
    def first_features(self) -> Features | None:
        """The types of its first rows, for shards that can be read twice; None if unknown."""
        return None

    def only(self, names: Sequence[str]) -> Shard | None:
        """The same rows with only these columns read; None if all columns are read anyway."""
        return None

    def identity(self) -> Any:
        """What tells its rows from others, found without reading them all, wherever they are; None if unknown."""
        return None

    def sample(self) -> Any:
        """Some of its rows, if `identity` does not tell what they contain; None otherwise."""
        return None

    def reading(self) -> Any:
        """What its rows depend on besides its identity, alike for all shards; None if there is nothing."""
        return None

    def function(self) -> str | None:
        """The identity of the function that makes its rows, alike for all shards; None if there is none."""
        return None

    def parts(self) -> Sequence[Shard]:
        """The smallest shards that it can be split into, such as row groups of a file."""
        return [self]

    def cut(self, parts: int) -> Sequence[Shard]:
        """At most `parts` shards of about equal size, with its rows in order."""
        return [self]


@dataclass(frozen=True)
class Source(Stage):
    """The rows of all shards. Positions are `[shard, position in it]`.

    `features` are the types of the rows. `is_stated` means that they were requested; else they are those of the first
    rows. If they are not known before reading, they are those of the first rows of `first`, the shard that all readers
    of the stream have in common.
    """

    shards: tuple[Shard, ...]
    features: Features | None = None
    is_stated: bool = False
    media_roots: Roots | None = None
    first: Shard | None = None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        first, inner = at or (0, None)
        features = self._features(first, inner)
        for index in range(first, len(self.shards)):
            shard, begin = self.shards[index], inner if index == first else None
            with naming_origin(shard.name):
                for position, batch in self._fitted(shard, begin, features):
                    features = batch.features or features
                    yield [index, position], self._bounded(batch)

    def _fitted(self, shard: Shard, begin: Position, features: Features | None) -> Iterator[tuple[Position, Batch]]:
        """The rows of a shard as the types of the stream; the error for a row of another type comes after them."""
        row = 0 if begin is None else None
        for position, batch in shard.batches(begin):
            if batch.features is None and shard.reads_files and batch.names:
                batch = batch.typed()  # rows of a file have types, also where Python has read them
            fitting, misfit = self._fit(batch, features, shard.evolves)
            features = fitting.features or features
            if len(fitting):
                yield position, fitting
            if misfit is not None:
                raise _located(misfit, shard, position, row)
            row = None if row is None else row + len(batch)

    def _features(self, index: int, at: Position) -> Features | None:
        """The types of the rows; None if the rows that come next tell them."""
        if self.features is not None or self.first is None:
            return self.features
        is_first = at is None and index < len(self.shards) and self.shards[index] is self.first
        return None if is_first else self.first.first_features

    def _fit(self, batch: Batch, features: Features | None, evolves: bool) -> tuple[Batch, Misfit | None]:
        if features is None or features is batch.features:
            return batch, None
        return fit_stated(batch, features) if self.is_stated else fit(batch, features, evolves)

    def _bounded(self, batch: Batch) -> Batch:
        if self.media_roots is None or batch.features is None:
            return batch
        bounded = within(batch.features, self.media_roots)
        return batch if bounded is batch.features else Batch(batch.table, bounded, batch.made)

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        index, inner = at or (0, None)
        while index < len(self.shards) and num_rows:
            left = self.shards[index].rows_left(inner)
            if left is None:
                return [index, inner], num_rows
            if num_rows < left:
                return [index, self.shards[index].moved(inner, num_rows)], 0
            index, inner, num_rows = index + 1, None, num_rows - left
        return [index, inner], num_rows

    def inside(self, at: Position, num_rows: int) -> Position:
        """The position `num_rows` into the batch that begins at a position."""
        index, inner = at
        found = self.shards[index].inside(inner, num_rows)
        if found is None:
            reason = "its rows come in other batches than a moment ago, so it has changed meanwhile."
            raise FileFormatError(str(self.shards[index].name), reason)
        return [index, found]

    @property
    def num_shards(self) -> int:
        return len(self.shards)

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Stage:
        chosen = shared_out(len(self.shards), num_shards, index, contiguous)
        return replace(self, shards=tuple(self.shards[place] for place in chosen))

    def reordered(self, generator: Any) -> Stage:
        order = rng_state.drawn_order(generator, len(self.shards))
        return replace(self, shards=tuple(self.shards[place] for place in order))

    def only(self, names: Sequence[str]) -> Stage:
        if self.features is None or not names or not self.features.keys() >= set(names):
            return self
        shards = [narrow for shard in self.shards if (narrow := shard.only(names)) is not None]
        if len(shards) < len(self.shards):
            return self
        return replace(self, shards=tuple(shards), features=Features({name: self.features[name] for name in names}))

    def resharded(self) -> Stage:
        return replace(self, shards=tuple(part for shard in self.shards for part in shard.parts()))

    @property
    def hands_tables(self) -> bool:
        return all(shard.hands_tables for shard in self.shards)


def _located(misfit: Misfit, shard: Shard, at: Position, row: int | None) -> Exception:
    """The error for a row of the batch at a position; `row` is the number of its first row, if that is known."""
    begin = shard.row_at(at)
    begin = row if begin is None else begin
    return misfit.error(shard.name, None if begin is None else begin + misfit.row, shard.is_text, shard.evolves)
