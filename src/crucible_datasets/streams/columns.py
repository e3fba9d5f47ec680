"""Stages that select, remove, rename and cast columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crucible_datasets.exceptions import ColumnNamesError, ColumnNotFoundError
from crucible_datasets.features import Features
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import EachBatch, Position, Unpacked
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.fitting import fit_stated, up_to_misfit


@dataclass(frozen=True)
class Selected(EachBatch):
    """Only these columns, in this order."""

    names: tuple[str, ...]

    def changed(self, batch: Batch) -> Batch:
        for name in self.names:
            if name not in batch.names:
                raise ColumnNotFoundError(name, batch.names)
        return batch.select(self.names)


@dataclass(frozen=True)
class Removed(Unpacked, EachBatch):
    """All columns but these."""

    names: tuple[str, ...]

    def changed(self, batch: Batch) -> Batch:
        return batch.without(self.names)


@dataclass(frozen=True)
class Renamed(Unpacked, EachBatch):
    """The columns under new names, in `order`; by default renamed ones come last, as in Hugging Face's rows."""

    names: Mapping[str, str]
    order: tuple[str, ...] | None = None

    def changed(self, batch: Batch) -> Batch:
        for name in self.names:
            if name not in batch.names:
                raise ColumnNotFoundError(name, batch.names)
        new = [self.names.get(name, name) for name in batch.names]
        if len(set(new)) < len(new):
            raise ColumnNamesError(self.names.values(), batch.names, "two columns would have one name")
        order = self.order or [*(name for name in batch.names if name not in self.names), *self.names.values()]
        made = batch.renamed(self.names)
        return made if new == list(order) else made.select(order)


@dataclass(frozen=True)
class Cast(EachBatch):
    """The rows as Arrow of these features."""

    features: Features

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        return up_to_misfit(self.source.batches(at), self.features)

    def changed(self, batch: Batch) -> Batch:
        return fit_stated(batch, self.features)[0]
