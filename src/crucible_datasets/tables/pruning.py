"""Rows that need not be read, because the statistics of their Parquet row groups exclude them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.formats.filters import Clauses
from crucible_datasets.tables.parquet import ParquetTable
from crucible_datasets.tables.rows import Rows, compose
from crucible_datasets.tables.stack import Stacked
from crucible_datasets.tables.table import SideBySide, Table

Wanted = Clauses | Any  # clauses, or an expression of pyarrow


def rows_left(table: Table, rows: Rows, wanted: Wanted) -> list[Rows]:
    """The positions in `rows` of those that may match: ranges if the rows are contiguous, else one array."""
    mask = _mask(table, rows, wanted)
    if mask is None:
        return [range(len(rows))]
    if not isinstance(rows, range):
        return [np.flatnonzero(mask)]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))).tolist()
    return [range(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def _mask(table: Table, rows: Rows, wanted: Wanted) -> npt.NDArray[np.bool_] | None:
    """Whether each row may match; None when all may."""
    if isinstance(table, SideBySide):
        masks = [_mask(part, compose(own, rows), wanted) for part, own in table.parts]
        found = [mask for mask in masks if mask is not None]
        return np.logical_and.reduce(found) if found else None
    starts, left = _pieces(table, wanted)
    if all(left):
        return None
    if not isinstance(rows, range):
        return np.asarray(left)[np.searchsorted(np.asarray(starts), rows, side="right") - 1]
    mask = np.zeros(len(rows), dtype=bool)
    for start, stop, kept in zip(starts, [*starts[1:], table.num_rows], left, strict=True):
        mask[max(start - rows.start, 0) : max(stop - rows.start, 0)] = kept
    return mask


def _pieces(table: Table, wanted: Wanted) -> tuple[list[int], Sequence[bool]]:
    """Where each part of a table starts, and whether it may hold matching rows."""
    if isinstance(table, ParquetTable):
        return table.source.starts[:-1], table.groups_left(wanted)
    if not isinstance(table, Stacked):
        return [0], [True]
    starts: list[int] = []
    left: list[bool] = []
    for first, part in zip(table.starts[:-1], table.tables, strict=True):
        begins, kept = _pieces(part, wanted)
        starts += [first + begin for begin in begins]
        left += kept
    return starts, left
