"""Tables of the same columns, one under the other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from crucible_datasets.tables.table import ArrowTable, Table


def stacked(tables: Sequence[Table]) -> ArrowTable:
    """The rows of all tables. Arrow tables share their buffers; any other table is read."""
    files = tuple(dict.fromkeys(file for table in tables for file in table.files))
    return ArrowTable(_concatenated([_held(table) for table in tables]), files)


def with_null_row(table: Table) -> ArrowTable:
    """The table with one more row, of nulls, at its end."""
    nulls = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema})
    return stacked([table, ArrowTable(nulls)])


def _held(table: Table) -> pa.Table:
    return table.table if isinstance(table, ArrowTable) else table.read(range(table.num_rows))


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    # Rebuilt from their columns, all of them nullable: one file may say "not null" and another not.
    return pa.concat_tables([pa.table(dict(zip(table.column_names, table.columns, strict=True))) for table in tables])
