"""`Batch`: the unit that passes from stage to stage, some rows.

Rows stay Arrow until Python objects are needed. What a user's function returns stays Python, each row with its own
keys, until Arrow is needed; the columns that it did not touch stay Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import decoded, in_turn, is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.storage import chunked
from crucible_datasets.features.types import is_identical
from crucible_datasets.features.unite import adopt
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.build import table_of, values_of
from crucible_datasets.outputs import pylists
from crucible_datasets.outputs.python import PythonFormatter
from crucible_datasets.records import dataclass
from crucible_datasets.tables.gather import gather
from crucible_datasets.tables.writing import as_features

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows as a table of storage types with its features, as Python rows, or as both.

    If both are present, `made` holds what was added to or set in each row of the table.
    """

    table: pa.Table | None
    features: Features | None
    made: Sequence[Row] | None = None

    @classmethod
    def of_table(cls, table: pa.Table, features: Features) -> Batch:
        """A table of storage types, whose columns are those of `features`."""
        return cls(table, features) if features else cls(None, None, [{} for _ in range(table.num_rows)])

    @classmethod
    def of_arrow(cls, table: pa.Table) -> Batch:
        """An Arrow table from outside, of any types."""
        if not table.num_columns:
            return cls.of_rows([{} for _ in range(table.num_rows)])
        features = Features.from_arrow_schema(table.schema)
        return cls.of_table(pa.table({name: chunked(table.column(name)) for name in features}), features)

    @classmethod
    def of_rows(cls, rows: Sequence[Row]) -> Batch:
        """A batch of Python rows."""
        return cls(None, None, rows)

    def __len__(self) -> int:
        return self.table.num_rows if self.made is None else len(self.made)  # type: ignore[union-attr]

    @property
    def nbytes(self) -> int:
        """The bytes of the table; Python rows are not counted."""
        return 0 if self.table is None else int(self.table.nbytes)

    def rows_in(self, num_bytes: int, most: int) -> int:
        """How many of the rows fit into about so many bytes: at least one, at most `most`."""
        size = self.nbytes
        return most if size * most <= num_bytes * len(self) else max(num_bytes * len(self) // size, 1)

    @cached_property
    def names(self) -> list[str]:
        """The columns of the rows; if rows differ, the union."""
        return list(dict.fromkeys(chain(self.features or (), *(self.made or ()))))

    def slice(self, start: int, length: int | None = None) -> Batch:
        """`length` rows from `start`; by default all that follow."""
        stop = len(self) if length is None else min(start + length, len(self))
        if start == 0 and stop == len(self):
            return self
        table = self.table and self.table.slice(start, stop - start)
        return replace(self, table=table, made=self.made and self.made[start:stop])

    def take(self, indices: Sequence[int] | np.ndarray[Any, Any]) -> Batch:
        """The rows with these numbers, in this order."""
        made = None if self.made is None else [self.made[index] for index in indices]
        return replace(self, table=self.table and taken(self.table, indices), made=made)

    def rows(self) -> list[Any]:
        """Python rows, with media decoded."""
        if self.table is None:
            return list(self.made or ())
        rows = _python_rows(self.table, self.features or Features())
        for row, new in zip(rows, self.made or (), strict=False):
            row.update(new)
        return rows

    def in_turn(self) -> Iterable[Any]:
        """The Python rows one by one, with media decoded a few rows at a time."""
        if self.made is not None or self.table is None or not any(map(is_media, (self.features or {}).values())):
            return self.rows()
        return PythonFormatter().rows(self.table, self.features or Features())

    def column(self, name: str) -> list[Any]:
        """One column as Python values; None in rows that lack it."""
        if self.features is None or name not in self.features or self.table is None:
            return values_of(self.made or (), name)
        values = decoded(pylists.column_of(self.table.column(name)), self.features[name], name)
        if self.made is None:
            return values
        return [new.get(name, value) for new, value in zip(self.made, values, strict=True)]

    def even(self) -> Batch:
        """The same rows, all with the same keys; None where a row lacked one."""
        if self.table is not None or all(row.keys() == self.made[0].keys() for row in self.made or ()):  # type: ignore[index]
            return self
        nothing = dict.fromkeys(self.names)
        return Batch.of_rows([{**nothing, **row} for row in self.made or ()])

    def typed(self, features: Features | None = None) -> Batch:
        """The rows as Arrow only, with the given features or inferred ones.

        Columns that a row lacks are null; keys of Python rows that the features lack are an error.
        """
        if self.made is not None:
            table, found = self._of_values(features)
        elif features is None or same_features(features, self.features):
            return self
        else:
            table, found = as_features(self.table, self.features or Features(), features), features
        return Batch(table, found)

    def _of_values(self, features: Features | None) -> tuple[pa.Table, Features]:
        set_by_hand = dict.fromkeys(chain.from_iterable(self.made or ()))
        known = {name: kind for name, kind in (self.features or {}).items() if name not in set_by_hand}
        names = list(features) if features is not None else self.names
        rest = [name for name in names if name not in known]
        kinds = None if features is None else Features({name: features[name] for name in rest})
        rows = self.made if self.features is None or not self.features.keys() & set_by_hand else self.rows()
        columns = dict(_columns(list(rows or ()), rest, kinds))
        if self.table is not None and known:
            old = Features({name: known[name] for name in names if name in known})
            wanted = old if features is None else Features({name: features[name] for name in old})
            kept = as_features(self.table, old, wanted)
            columns.update({name: (kept.column(name), wanted[name]) for name in wanted})
        table = pa.table({name: columns[name][0] for name in names})
        return table, Features({name: columns[name][1] for name in names})

    def select(self, names: Iterable[str]) -> Batch:
        """Only these columns, in this order; a row keeps those of them that it has."""
        wanted = list(names)
        return self._narrowed(wanted, lambda row: {name: row[name] for name in wanted if name in row})

    def without(self, names: Iterable[str]) -> Batch:
        """All columns but these."""
        unwanted = set(names)
        kept = [name for name in self.features or () if name not in unwanted]
        return self._narrowed(kept, lambda row: {name: item for name, item in row.items() if name not in unwanted})

    def _narrowed(self, kept: list[str], narrow: Callable[[Row], Row]) -> Batch:
        made = None if self.made is None else [narrow(row) for row in self.made]
        if self.table is None or self.features is None:
            return Batch.of_rows(made or [])
        features = Features({name: self.features[name] for name in kept if name in self.features})
        if made is not None and list(features) != kept[: len(features)]:  # in rows the table's columns would come first
            return Batch.of_rows([narrow(row) for row in self.rows()])
        if not features:
            return Batch.of_rows(made if made is not None else [{} for _ in range(len(self))])
        return Batch(self.table.select(list(features)), features, made)

    def renamed(self, names: Mapping[str, str]) -> Batch:
        """The same rows with other names for some columns."""
        made = self.made
        if made is not None:
            made = [{names.get(name, name): item for name, item in row.items()} for row in made]
        if self.table is None or self.features is None:
            return Batch.of_rows(made or [])
        features = Features({names.get(name, name): kind for name, kind in self.features.items()})
        return Batch(self.table.rename_columns(list(features)), features, made)


def joined(batches: Sequence[Batch]) -> Batch:
    """The rows of one or more batches, concatenated."""
    first = batches[0]
    if len(batches) == 1:
        return first
    alike = all(same_features(batch.features, first.features) for batch in batches[1:])
    if not alike and (tables := _of_common_features(batches)):
        return joined(tables)
    if not alike or len({batch.made is None for batch in batches}) > 1:
        return Batch.of_rows([row for batch in batches for row in batch.rows()])
    made = None if first.made is None else [row for batch in batches for row in batch.made or ()]
    table = None if first.table is None else pa.concat_tables([batch.table for batch in batches])
    return Batch(table, first.features, made)


def _of_common_features(batches: Sequence[Batch]) -> list[Batch] | None:
    """The batches, of which some have nulls where others have values, with the same features; None if they cannot."""
    types = [batch.features for batch in batches if batch.features is not None and batch.made is None]
    if len(types) < len(batches) or any(other.keys() != types[0].keys() for other in types):
        return None
    common = types[0]
    for other in types[1:]:
        common = Features({name: adopt(common[name], other[name]) for name in common})
    if any(adopt(other[name], common[name]) != common[name] for other in types for name in common):
        return None
    return [batch.typed(common) for batch in batches]


def taken(table: pa.Table, indices: Sequence[int] | np.ndarray[Any, Any]) -> pa.Table:
    """Some rows of a table, in any order."""
    rows, batches = np.asarray(indices, dtype=np.int64), table.to_batches()
    starts = [0, *accumulate(batch.num_rows for batch in batches)]
    return pa.Table.from_batches(gather(batches, starts, rows), table.schema)


def same_features(left: Features | None, right: Features | None) -> bool:
    """Whether two features have the same columns and fields in the same order, with the same types."""
    return left is right or (left is not None and right is not None and is_identical(left, right))


def _python_rows(table: pa.Table, features: Features) -> list[dict[str, Any]]:
    rows = pylists.rows_of(table)
    for name, feature in features.items():
        if decoder(feature):
            for row, value in zip(rows, in_turn([row[name] for row in rows], feature, name), strict=True):
                row[name] = value
    return rows


def _columns(
    rows: list[Row], names: Sequence[str], kinds: Features | None
) -> Iterable[tuple[str, tuple[pa.ChunkedArray, Any]]]:
    if not names:
        return
    only: list[Row] = rows if kinds is not None else [{name: row.get(name) for name in names} for row in rows]
    table, found = table_of(only, kinds)
    for name in names:
        yield name, (table.column(name), found[name])
