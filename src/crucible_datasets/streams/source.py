"""`Source`: the start of a stream, shards of rows one after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from crucible_datasets.exceptions import CastError, FeaturesMismatchError, FileCastError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import Roots, within
from crucible_datasets.records import dataclass
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch, same_features
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.writing import Segment, as_features, united


class Shard(ABC):
    """A part of the rows that can be read independently: a file, a part of one, some rows of a table."""

    name: object = None  # its name in error messages
    reads_files: bool = False  # whether a thread may prefetch it
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

    def only(self, names: Sequence[str]) -> Shard | None:
        """The same rows with only these columns read; None if all columns are read anyway."""
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

    `features` are the types of the rows. `is_stated` means that they were requested; if they were merely inferred from
    the first shard, rows that need wider types get them.
    """

    shards: tuple[Shard, ...]
    features: Features | None = None
    is_stated: bool = False
    media_roots: Roots | None = None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        first, inner = at or (0, None)
        for index in range(first, len(self.shards)):
            for position, batch in self.shards[index].batches(inner if index == first else None):
                yield [index, position], self._fitted(batch, self.shards[index])

    def _fitted(self, batch: Batch, shard: Shard) -> Batch:
        made = self._as_features(batch, shard)
        if self.media_roots is None or made.features is None:
            return made
        bounded = within(made.features, self.media_roots)
        return made if bounded is made.features else Batch(made.table, bounded, made.made)

    def _as_features(self, batch: Batch, shard: Shard) -> Batch:
        if self.features is None or same_features(batch.features, self.features):
            return batch
        if self.is_stated:
            try:
                return fitted(batch, self.features)
            except CastError as error:
                if shard.name is None:
                    raise
                raise FileCastError(str(shard.name), error) from error
        return _fitted_or_wider(batch, self.features, shard.name)

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


def fitted(batch: Batch, features: Features) -> Batch:
    """The rows cast to these features; columns that the features do not name are an error."""
    if batch.made is None and batch.features is not None and not batch.features.keys() <= features.keys():
        raise FeaturesMismatchError(features, batch.features)
    return batch.typed(features)


def _fitted_or_wider(batch: Batch, features: Features, origin: object) -> Batch:
    """The rows cast to these features, or to wider ones if necessary."""
    found = batch.typed()
    kinds = found.features or Features()
    if kinds.keys() <= features.keys():
        try:
            return found.typed(features)
        except CastError:
            pass  # values that do not fit the type of the first file
    wider = united(Segment("", features, "the files before"), Segment("", kinds, origin))
    return Batch(as_features(found.table, kinds, wider), wider)
