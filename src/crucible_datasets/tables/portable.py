"""Tables in a form that other machines can read: remote files by reference, everything else as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.records import dataclass
from crucible_datasets.tables.parquet import ParquetTable
from crucible_datasets.tables.rows import Rows, compose, tightest
from crucible_datasets.tables.stack import Stacked
from crucible_datasets.tables.table import ArrowTable, SideBySide, Table, identities
from crucible_datasets.tables.tar import TarTable
from crucible_datasets.tables.view import View

Portable = tuple[Table, Rows]


@dataclass(frozen=True)
class Journey:
    """The target: whether it shares our file system, and how rows are prepared for it."""

    sees_files: bool
    ship: Callable[[pa.Table], pa.Table]

    def of(self, table: Table, rows: Rows) -> Portable:
        """A table that can be read there, and the positions of these rows in it."""
        if not self._is_found(table):
            return _Shipped(self.ship(table.read(rows))), range(len(rows))
        if isinstance(table, SideBySide):
            parts = tuple(self.of(part, compose(own, rows)) for part, own in table.parts)
            return SideBySide(parts, table.names), range(len(rows))
        if isinstance(table, ArrowTable):
            return table, rows
        # For unordered rows each worker would read whole files for a few rows.
        found = self._in_order(table, rows) if _is_ascending(rows) else None
        return found or (_Shipped(self.ship(table.read(rows))), range(len(rows)))

    def _is_found(self, table: Table) -> bool:
        """Whether part of a table can be read there directly."""
        if isinstance(table, SideBySide):
            return any(self._is_found(part) for part, _ in table.parts)
        if isinstance(table, Stacked):
            return any(map(self._is_found, table.tables))
        if isinstance(table, ArrowTable):
            is_mapped = table.physical is not None and identities(table.files) == table.mapped_from
            return self.sees_files and is_mapped
        return self.sees_files or _is_elsewhere(table)

    def _in_order(self, table: Table, rows: Rows) -> Portable | None:
        if isinstance(table, Stacked):
            return self._stacked(table, rows)
        if isinstance(table, ParquetTable):
            return table.at_source(rows) or ((table, rows) if self.sees_files else None)
        return table, rows

    def _stacked(self, table: Stacked, rows: Rows) -> Portable:
        """The tables that hold some of the rows, stacked."""
        found, places, before = list[Table](), [], 0
        for part, start, stop in zip(table.tables, table.starts, table.starts[1:], strict=False):
            if len(inside := _between(rows, start, stop)):
                held, local = self.of(part, inside)
                found.append(held)
                places.append(np.asarray(local, dtype=np.int64) + before)
                before += held.num_rows
        return Stacked(tuple(found)), tightest(np.concatenate(places))


def seams(view: View) -> list[int]:
    """The best rows at which to split a view: where remote row groups begin, if it has any."""
    table, rows = view.table, view.rows
    if isinstance(table, SideBySide):
        table, own = max(table.parts, key=lambda part: part[0].nbytes)
        rows = compose(own, rows)
    if not isinstance(table, ParquetTable) or not _is_elsewhere(table) or not isinstance(rows, range):
        return []
    return [start - rows.start for start in table.source.starts if rows.start <= start < rows.stop]


def _is_elsewhere(table: Table) -> bool:
    if isinstance(table, ParquetTable):
        return any(part.at_source is not None for part in table.source.parts)
    return isinstance(table, TarTable) and table.archive.path is None


def _between(rows: Rows, start: int, stop: int) -> Rows:
    """The rows that fall into a table that begins at row `start`, relative to it."""
    if isinstance(rows, range):
        return range(max(rows.start, start) - start, max(min(rows.stop, stop), start) - start)
    first, last = np.searchsorted(rows, [start, stop])
    return rows[first:last] - start


def _is_ascending(rows: Rows) -> bool:
    return len(rows) > 0 and (isinstance(rows, range) or bool((np.diff(rows) >= 0).all()))


class _Shipped(ArrowTable):
    """Rows that are pickled as one Arrow stream: of a slice, only its own bytes."""

    def __reduce__(self) -> tuple[Any, ...]:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return _arrived, (sink.getvalue(),)


def _arrived(stream: pa.Buffer) -> ArrowTable:
    return ArrowTable(pa.ipc.open_stream(stream).read_all())
