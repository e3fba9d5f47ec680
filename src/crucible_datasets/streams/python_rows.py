"""Batches of Python rows that are equal to what Arrow would give; the Arrow table is made only on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.forking import cached_property
from crucible_datasets.streams.batch import Batch, Row

Rows = list[dict[str, Any]]


class ReadyRows(Batch):
    """Rows of known features that take about `nbytes`; `in_arrow` makes the table of the same rows.

    The first consumer gets these rows and may change them; later ones get rows from Arrow.
    """

    _ready: Rows | None
    _length: int
    _nbytes: int
    _in_arrow: Callable[[], pa.Table]

    def __init__(self, rows: Rows, features: Features, nbytes: int, in_arrow: Callable[[], pa.Table]) -> None:
        about = {"_length": len(rows), "_nbytes": nbytes, "_in_arrow": in_arrow}
        self.__dict__.update(about, features=features, _ready=rows)  # the batch is frozen

    def __reduce__(self) -> tuple[Any, ...]:
        return Batch, (self.table, self.features)

    @cached_property
    def table(self) -> pa.Table:
        """The rows in Arrow."""
        return self._in_arrow()

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def __len__(self) -> int:
        return self._length

    def rows(self) -> list[Any]:
        rows = self._ready
        self.__dict__["_ready"] = None
        return self._in_table.rows() if rows is None else rows

    def in_turn(self) -> Iterable[Any]:
        return self.rows()

    def column(self, name: str) -> list[Any]:
        if self._ready is None or name not in (self.features or ()):
            return self._in_table.column(name)
        return list(map(itemgetter(name), self._ready))

    def slice(self, start: int, length: int | None = None) -> Batch:
        stop = len(self) if length is None else min(start + length, len(self))
        if start == 0 and stop == len(self):
            return self
        if self._ready is None or self.features is None:
            return self._in_table.slice(start, length)
        rows, share = self._ready[start:stop], self.nbytes * (stop - start) // len(self)
        return ReadyRows(rows, self.features, share, lambda: self.table.slice(start, stop - start))

    def take(self, indices: Sequence[int] | np.ndarray[Any, Any]) -> Batch:
        return self._in_table.take(indices)

    def _narrowed(self, kept: list[str], narrow: Callable[[Row], Row]) -> Batch:
        features = Features({name: kind for name, kind in (self.features or {}).items() if name in kept})
        if self._ready is None or list(features) != kept:
            return self._in_table._narrowed(kept, narrow)
        rows = [dict(narrow(row)) for row in self._ready]
        return ReadyRows(rows, features, self.nbytes, lambda: self.table.select(kept))

    @property
    def _in_table(self) -> Batch:
        return Batch(self.table, self.features)
