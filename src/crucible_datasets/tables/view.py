"""`View`: a table seen through row indices. Every operation is a function from view to view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import Roots, within
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.info import DatasetInfo
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.records import dataclass
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.rows import Rows, compose
from crucible_datasets.tables.table import ArrowTable, SideBySide, Table, identities, side_by_side


@dataclass(frozen=True, eq=False)
class View:
    """Some rows of a table, the features of its columns, and the format in which they are shown.

    `features` has the table's columns, in order. A view is a value: operations return another one and share the table.
    """

    table: Table
    rows: Rows
    features: Features
    fingerprint: Fingerprint
    info: DatasetInfo = field(default_factory=DatasetInfo)
    split: NamedSplit | None = None
    format: Format = PYTHON
    media_roots: Roots | None = None  # the folders that media paths in the data may point into

    @property
    def readable(self) -> Features:
        """The features for reading values, with media restricted to `media_roots`."""
        return within(self.features, self.media_roots)

    @classmethod
    def of(cls, table: pa.Table, features: Features, files: tuple[str, ...] = (), **more: Any) -> View:
        """A view of all rows of an Arrow table whose columns are those of `features`."""
        held = ArrowTable.of(table, files)
        if files:
            held = replace(held, physical=tuple(table.column_names), mapped_from=identities(files))
        fingerprint = more.pop("fingerprint", None) or Fingerprint.of_table(held.table, features)
        return cls(held, range(held.num_rows), features, fingerprint, **more)

    def __getstate__(self) -> dict[str, Any]:
        # Row indices are most of a pickled shuffled view: half as many bytes if they fit into 32 bits.
        if isinstance(self.rows, range) or self.table.num_rows > np.iinfo(np.int32).max:
            return self.__dict__
        return {**self.__dict__, "rows": self.rows.astype(np.int32)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = state["rows"]
        self.__dict__.update(state, rows=rows if isinstance(rows, range) else rows.astype(np.int64, copy=False))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def column_names(self) -> list[str]:
        return list(self.features)

    def require(self, names: Iterable[str]) -> None:
        """Raise an error for the first name that is not a column."""
        for name in names:
            if not isinstance(name, str) or name not in self.features:
                raise ColumnNotFoundError(name, self.column_names)

    def read(self, rows: Rows | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """The given rows of this view (all by default), as stored."""
        wanted = self.rows if rows is None else compose(self.rows, rows)
        return self.table.read(wanted, columns)

    def column(self, name: str) -> pa.ChunkedArray:
        """One column, as stored."""
        return self.read(columns=[name]).column(0)

    def moved(self, rows: Rows, operation: str, fingerprint: str | None = None) -> View:
        """The view of these `rows` of this view."""
        after = Fingerprint.fixed(fingerprint) if fingerprint else self.fingerprint.derive(operation, rows=rows)
        return replace(self, rows=compose(self.rows, rows), fingerprint=after)

    def with_columns(self, columns: dict[str, tuple[pa.ChunkedArray, Any]], fingerprint: Fingerprint) -> View:
        """The view with whole columns set or added; the others are shared, not copied."""
        features = Features({**self.features, **{name: feature for name, (_, feature) in columns.items()}})
        new = ArrowTable.of(pa.table({name: values for name, (values, _) in columns.items()}))
        kept = [name for name in self.features if name not in columns]
        parts = (*self.parts(kept), (new, range(len(self))))
        table = side_by_side(parts, tuple(features))
        return replace(self, table=table, rows=range(len(self)), features=features, fingerprint=fingerprint)

    def parts(self, columns: Sequence[str]) -> tuple[tuple[Table, Rows], ...]:
        """These columns as tables, each with the rows that this view shows of it; never nested."""
        if not columns:
            return ()
        table = self.table.select(columns)
        if isinstance(table, SideBySide):
            return tuple((part, compose(own, self.rows)) for part, own in table.parts)
        return ((table, self.rows),)
