"""Tables with the same columns, stacked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.tables.rows import Rows, inverse
from crucible_datasets.tables.table import ArrowTable, AsArrow, SideBySide, Table


def stacked(tables: Sequence[Table]) -> Table:
    """The rows of all tables. Arrow tables share their buffers; others are not read."""
    if any(is_read_late(table) for table in tables):
        return Stacked(tuple(part for table in tables for part in _parts(table)))
    files = tuple(dict.fromkeys(file for table in tables for file in table.files))
    return ArrowTable(_concatenated([_held(table) for table in tables]), files)


def with_null_row(table: Table) -> Table:
    """The table with a row of nulls appended."""
    nulls = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema})
    return stacked([table, ArrowTable(nulls)])


def is_read_late(table: Table) -> bool:
    """Whether reading a table takes more than looking up rows in memory."""
    if isinstance(table, SideBySide):
        return any(is_read_late(part) for part, _ in table.parts)
    return not isinstance(table, ArrowTable)


@dataclass(frozen=True, eq=False)
class Stacked(AsArrow):
    """The rows of several tables, each read on demand."""

    tables: tuple[Table, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(field.name, field.type) for field in self.tables[0].schema])

    @cached_property
    def starts(self) -> list[int]:
        """The first row of each table, and the number of rows."""
        return [0, *accumulate(table.num_rows for table in self.tables)]

    @property
    def num_rows(self) -> int:
        return self.starts[-1]

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file for table in self.tables for file in table.files))

    @property
    def table(self) -> pa.Table:
        """All rows, as an Arrow table."""
        return self.read(range(self.num_rows))

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        if not len(rows):
            return self.tables[0].read(range(0), columns)
        if not isinstance(rows, range):
            return scattered(rows, self.starts, lambda home, local: self.tables[home].read(local, columns))
        first, last = self._home(rows.start), self._home(rows.stop - 1)
        pieces = []
        for home in range(first, last + 1):
            start, stop = self.starts[home], self.starts[home + 1]
            local = range(max(rows.start, start) - start, min(rows.stop, stop) - start)
            pieces.append(self.tables[home].read(local, columns))
        return pieces[0] if len(pieces) == 1 else _concatenated(pieces)

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        home = self._home(index)
        return self.tables[home].row(index - self.starts[home], columns)

    def _home(self, row: int) -> int:
        return bisect_right(self.starts, row) - 1

    def select(self, columns: Sequence[str]) -> Stacked:
        return Stacked(tuple(table.select(columns) for table in self.tables))

    def renamed(self, columns: Sequence[str]) -> Stacked:
        return Stacked(tuple(table.renamed(columns) for table in self.tables))


def scattered(
    rows: npt.NDArray[np.int64], starts: Sequence[int], read: Callable[[int, npt.NDArray[np.int64]], pa.Table]
) -> pa.Table:
    """Scattered rows of several tables, in order: `read` is called once per table, for all of its rows."""
    homes = np.searchsorted(np.asarray(starts[:-1]), rows, side="right") - 1
    order = np.argsort(homes, kind="stable")
    used, begins = np.unique(homes[order], return_index=True)
    ends = [*begins[1:].tolist(), len(rows)]
    pieces = [
        read(home, rows[order[begin:end]] - starts[home])
        for home, begin, end in zip(used.tolist(), begins.tolist(), ends, strict=True)
    ]
    return pieces[0] if len(pieces) == 1 else ArrowTable(_concatenated(pieces)).read(inverse(order))


def _parts(table: Table) -> Sequence[Table]:
    return table.tables if isinstance(table, Stacked) else [table] if table.num_rows else []


def _held(table: Table) -> pa.Table:
    return table.table if isinstance(table, ArrowTable) else table.read(range(table.num_rows))


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    # Rebuilt with nullable columns, since files may differ in "not null".
    return pa.concat_tables([pa.table(dict(zip(table.column_names, table.columns, strict=True))) for table in tables])
