"""The rows of a view in the cheapest reading order, without those that statistics exclude."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.tables.gather import Indices
from crucible_datasets.tables.pruning import Wanted, rows_left
from crucible_datasets.tables.rows import Rows, as_array, compose, tightest
from crucible_datasets.tables.table import SideBySide
from crucible_datasets.tables.view import View

_SPARSE = 16


class Scan:
    """Reads a view once, and remembers which of its rows were read."""

    def __init__(self, view: View, rearranged: bool, wanted: Wanted | None) -> None:
        self._view, self._rearranged, self._wanted = view, rearranged, wanted
        self._inverse: Indices | None = None
        self._runs: list[Rows] = []

    def __call__(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """The rows, block by block; only these columns."""
        view = narrowed(self._view, names)
        if self._rearranged and not isinstance(view.rows, range):
            rows, self._inverse = _distinct(view.rows, view.table.num_rows)
            view = replace(view, rows=rows)
        whole: list[Rows] = [range(len(view))]
        self._runs = whole if self._wanted is None else rows_left(view.table, view.rows, self._wanted)
        for run in self._runs or [range(0)]:
            yield from blocks(replace(view, rows=compose(view.rows, run)))

    def places(self, kept: Indices) -> Indices:
        """The positions in the view of rows given by their reading order."""
        if len(self._runs) > 1 or not all(isinstance(run, range) and not run.start for run in self._runs):
            kept = np.concatenate([as_array(run) for run in self._runs])[kept]
        if self._inverse is None:
            return kept
        mask = np.zeros(int(self._inverse.max(initial=-1)) + 1, dtype=bool)
        mask[kept] = True
        return np.flatnonzero(mask[self._inverse])


def narrowed(view: View, names: Sequence[str]) -> View:
    """The view with only these columns, or with one if there are none: rows without columns cannot be counted."""
    kept = list(names) or view.column_names[:1]
    table, rows = view.table.select(kept), view.rows
    if isinstance(table, SideBySide) and len(table.parts) == 1:
        ((table, own),) = table.parts
        rows = compose(own, rows)
    return replace(view, table=table, rows=rows, features=Features({name: view.features[name] for name in kept}))


def _distinct(rows: Indices, num_rows: int) -> tuple[Rows, Indices]:
    """The rows, each once and in the order of the table, and where each row of the view is among them."""
    if len(rows) * _SPARSE < num_rows:
        found, inverse = np.unique(rows, return_inverse=True)
        return tightest(found), inverse
    seen = np.zeros(num_rows, dtype=bool)
    seen[rows] = True
    return tightest(np.flatnonzero(seen)), (np.cumsum(seen) - 1)[rows]
