"""`Table`: Arrow data from which rows are read, in memory, memory-mapped, or as columns of several tables.

A table holds storage types and knows nothing of features or views. `read` returns any rows of any columns as a
`pa.Table`; `row` returns one row as Python values without building a table.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from crucible_datasets.features.storage import plain, to_storage
from crucible_datasets.fingerprint import version_of
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.tables.addresses import Addresses
from crucible_datasets.tables.gather import gather
from crucible_datasets.tables.rows import Rows, compose, is_whole

Identities = tuple[tuple[int, ...], ...]


def identities(files: Sequence[str]) -> Identities:
    """The identities of files, which differ if they are replaced; empty if one is missing."""
    try:
        facts = [os.stat(file) for file in files]
    except FileNotFoundError:
        return ()
    return tuple((fact.st_dev, fact.st_ino, *version_of(fact)) for fact in facts)


class Table(Protocol):
    """The interface of the data under a view."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        """The given rows of the given columns (all by default), in the given order."""

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """One row as stored Python values."""

    def select(self, columns: Sequence[str]) -> Table:
        """The same rows with only these columns, in this order."""

    def renamed(self, columns: Sequence[str]) -> Table:
        """The same columns under other names."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold the data, if any."""


class AsArrow:
    """Delegates to a `pa.Table`, so that `Dataset.data` can be used as one."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or not hasattr(pa.Table, name):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return getattr(self.table, name)

        def __getitem__(self, key: Any) -> Any:
            return self.table[key]

        def __len__(self) -> int:
            return self.num_rows


@dataclass(frozen=True, eq=False)
class ArrowTable(AsArrow):
    """A `pa.Table`, in memory or over memory-mapped files.

    `physical` is set if the table consists of all rows of its files: the names of its columns there. Such a table is
    pickled as a reference to the files, unless they were replaced since it was mapped, which `mapped_from` shows.
    """

    table: pa.Table
    files: tuple[str, ...] = ()
    physical: tuple[str, ...] | None = None
    mapped_from: Identities = ()

    @classmethod
    def of(cls, table: pa.Table, files: tuple[str, ...] = ()) -> ArrowTable:
        """A table of any Arrow types, held as storage without schema metadata."""
        if any(plain(field.type) != field.type for field in table.schema):
            columns = [to_storage(column) for column in table.columns]
            table = pa.Table.from_arrays(columns, names=table.column_names)
        return cls(table.replace_schema_metadata(None), files)

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def num_rows(self) -> int:
        return self.table.num_rows

    @property
    def nbytes(self) -> int:
        return self.table.nbytes

    @cached_property
    def batches(self) -> list[pa.RecordBatch]:
        """The table as record batches, split at the chunk boundaries of all columns."""
        return [batch for batch in self.table.to_batches() if batch.num_rows]

    @cached_property
    def starts(self) -> list[int]:
        """The first row of each batch, and the number of rows."""
        starts = [0]
        for batch in self.batches:
            starts.append(starts[-1] + batch.num_rows)
        return starts

    @cached_property
    def _arrays(self) -> dict[int, dict[str, pa.Array]]:
        return {}  # by batch, for batches that were read row by row

    def _arrays_of(self, which: int) -> dict[str, pa.Array]:
        arrays = self._arrays.get(which)
        if arrays is None:
            batch = self.batches[which]
            arrays = self._arrays[which] = dict(zip(batch.schema.names, batch.columns, strict=True))
        return arrays

    @cached_property
    def _addresses(self) -> Addresses:
        return Addresses(self.batches)

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        if isinstance(rows, range):
            return self._sliced(rows.start, rows.stop, columns)
        batches = gather(self.batches, self.starts, rows, columns, self._addresses)
        return pa.Table.from_batches(batches, self._schema(columns))

    def _sliced(self, start: int, stop: int, columns: Sequence[str] | None) -> pa.Table:
        if stop <= start:
            return self._schema(columns).empty_table()
        if stop - start == self.num_rows:
            return self.table if columns is None else self.table.select(columns)
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, stop - 1)
        batches = self.batches[first:last]
        if columns is not None:
            batches = [batch.select(columns) for batch in batches]
        if stop < self.starts[last]:
            batches[-1] = batches[-1].slice(0, stop - self.starts[last - 1])
        if start > self.starts[first]:
            batches[0] = batches[0].slice(start - self.starts[first])
        return pa.Table.from_batches(batches)

    def _schema(self, columns: Sequence[str] | None) -> pa.Schema:
        return self.schema if columns is None else pa.schema([self.schema.field(name) for name in columns])

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        which = bisect_right(self.starts, index) - 1
        place = index - self.starts[which]
        arrays = self._arrays_of(which) if self.batches else {}
        if columns is not None:
            return {name: arrays[name][place].as_py() for name in columns}
        return {name: array[place].as_py() for name, array in arrays.items()}

    def select(self, columns: Sequence[str]) -> ArrowTable:
        names = self.table.column_names
        physical = self.physical and tuple(self.physical[names.index(name)] for name in columns)
        return ArrowTable(self.table.select(columns), self.files, physical, self.mapped_from)

    def renamed(self, columns: Sequence[str]) -> ArrowTable:
        return ArrowTable(self.table.rename_columns(list(columns)), self.files, self.physical, self.mapped_from)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.physical is None or identities(self.files) != self.mapped_from:
            return ArrowTable, (self.table, self.files)
        from crucible_datasets.tables.files import reference

        return reference(self)


@dataclass(frozen=True, eq=False)
class SideBySide(AsArrow):
    """Columns of several tables, each seen through rows of its own: nothing is copied to add a column."""

    parts: tuple[tuple[Table, Rows], ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        fields = {field.name: field for table, _ in self.parts for field in table.schema}
        return pa.schema([fields[name] for name in self.names])

    @property
    def table(self) -> pa.Table:
        """All rows, as an Arrow table."""
        return self.read(range(self.num_rows))

    @property
    def num_rows(self) -> int:
        return len(self.parts[0][1])

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table, _ in self.parts)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(file for table, _ in self.parts for file in table.files)

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        names = self.names if columns is None else columns
        found: dict[str, pa.ChunkedArray] = {}
        for table, own, wanted in self._parts_with(names):
            found.update(zip(wanted, table.read(compose(own, rows), wanted).columns, strict=True))
        return pa.table({name: found[name] for name in names})

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        names = self.names if columns is None else columns
        found: dict[str, Any] = {}
        for table, own, wanted in self._parts_with(names):
            found |= table.row(int(own[index]), wanted)
        return {name: found[name] for name in names}

    def _parts_with(self, names: Sequence[str]) -> list[tuple[Table, Rows, list[str]]]:
        asked = set(names)
        found = [(table, rows, [name for name in table.schema.names if name in asked]) for table, rows in self.parts]
        return [part for part in found if part[2]]

    def select(self, columns: Sequence[str]) -> Table:
        parts = [(table.select(wanted), rows) for table, rows, wanted in self._parts_with(columns)]
        return SideBySide(tuple(parts), tuple(columns)) if parts else ArrowTable(pa.table({}))

    def renamed(self, columns: Sequence[str]) -> Table:
        new = dict(zip(self.names, columns, strict=True))
        parts = [(table.renamed([new[name] for name in table.schema.names]), rows) for table, rows in self.parts]
        return SideBySide(tuple(parts), tuple(columns))


def side_by_side(parts: tuple[tuple[Table, Rows], ...], names: tuple[str, ...]) -> Table:
    """The columns of several tables as one; whole Arrow tables are joined into one Arrow table."""
    whole = [table for table, rows in parts if isinstance(table, ArrowTable) and is_whole(rows, table.num_rows)]
    if len(whole) < len(parts):
        return SideBySide(parts, names)
    columns = {
        name: column for table in whole for name, column in zip(table.schema.names, table.table.columns, strict=True)
    }
    files = tuple(dict.fromkeys(file for table in whole for file in table.files))
    return ArrowTable(pa.table({name: columns[name] for name in names}), files)
