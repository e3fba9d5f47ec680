"""`ParquetTable`: Parquet files read in place. Nothing is converted, and row groups are decoded on demand."""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ColumnNotFoundError, DatasetsError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import storage_type
from crucible_datasets.features.types import Json, any_leaf
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.base import columns_of, fitting
from crucible_datasets.formats.filters import Clauses, Filters, clauses_of, expression_of, is_written_out, mask_of
from crucible_datasets.formats.parquet import file_errors, groups_matching
from crucible_datasets.records import dataclass
from crucible_datasets.tables import statistics
from crucible_datasets.tables.budget import BUDGET
from crucible_datasets.tables.footers import parts_of, stated, united
from crucible_datasets.tables.gather import Indices, gather
from crucible_datasets.tables.rowgroups import Identity, Names, ParquetPart, RemotePart, RowGroup
from crucible_datasets.tables.rows import Rows, as_arrow, tightest, true_rows
from crucible_datasets.tables.stack import scattered
from crucible_datasets.tables.table import ArrowTable, AsArrow

_ALL = slice(None)


class ParquetSource:
    """The row groups of some files, or a range of them, shared by all tables over them.

    `json_columns` are Json in some file of the dataset, so text in the others is a value, and is not parsed.
    """

    def __init__(
        self,
        parts: Sequence[ParquetPart],
        features: Features,
        run: slice = _ALL,
        json_columns: frozenset[str] = frozenset(),
    ) -> None:
        self.parts, self.features, self.run, self.json_columns = parts, features, run, json_columns
        self.schema = pa.schema([(name, storage_type(feature)) for name, feature in features.items()])
        row_bytes: dict[str, float] = {}
        self.groups = [
            RowGroup(part, index, num_rows, features, self.schema, row_bytes, json_columns)
            for part in parts
            for index in range(part.metadata.num_row_groups)
            if (num_rows := part.metadata.row_group(index).num_rows)
        ][run]
        self.starts = [0, *accumulate(group.num_rows for group in self.groups)]
        self._next_row = 0
        self._ahead: threading.Thread | None = None

    @cached_property
    def first_rows(self) -> Indices:
        """The first row of each group."""
        return np.asarray(self.starts[:-1], dtype=np.int64)

    def home(self, row: int) -> int:
        """The number of the group that a row is in."""
        return bisect_right(self.starts, row) - 1

    def head(self, rows: range, names: Names) -> ArrowTable | None:
        """The first rows of a group that was not read before, if all requested rows are among them."""
        if not self.groups:
            return None
        home = self.home(rows.start)
        return self.groups[home].head(names, rows.stop - self.starts[home])

    def sliced(self, rows: range, names: Names) -> list[pa.Table]:
        """The tables that hold a range of rows."""
        goes_on, self._next_row = rows.start == self._next_row, rows.stop
        first, last = self.home(rows.start), self.home(rows.stop - 1)
        found = []
        for home in range(first, last + 1):
            if home < last or goes_on:
                self._decode_ahead(home, names)
            start = self.starts[home]
            part = range(max(rows.start - start, 0), min(rows.stop - start, self.groups[home].num_rows))
            found.append(self.groups[home].table(names).read(part))
        return found

    def _decode_ahead(self, home: int, names: Names) -> None:
        """Decode the next group in the background, if both fit into the budget."""
        if home + 1 >= len(self.groups) or self.groups[home + 1].is_ready(names):
            return
        if self._ahead is not None and self._ahead.is_alive():
            return
        group = self.groups[home + 1]
        if 4 * group.size(names) > BUDGET.limit:
            return
        self._ahead = threading.Thread(target=_decoded_quietly, args=(group, names), name="crucible-decode-ahead")
        with suppress(RuntimeError):  # at exit, or where there are too many, no thread can be started
            self._ahead.start()

    def gathered(self, rows: Indices, names: Names) -> pa.Table:
        """Scattered rows, in the given order."""
        homes = np.searchsorted(self.first_rows, rows, side="right") - 1
        used: list[int] = np.unique(homes).tolist()
        missing = [self.groups[home] for home in used if not self.groups[home].is_ready(names)]
        if not missing and not any(self.groups[home].is_spilled for home in used):
            return self._from_all(rows, homes, used, names)
        crowded = sum(group.size(names) for group in missing) + BUDGET.held > BUDGET.limit
        if not crowded and len(missing) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(len(missing), os.cpu_count() or 1)) as pool:
                list(pool.map(lambda group: group.table(names, in_one_piece=True).num_rows, missing))
        # One group at a time, so that no two of them have to be in memory.
        return scattered(
            rows,
            self.starts,
            lambda home, local: self.groups[home].table(names, in_one_piece=True, spill=crowded).read(local),
        )

    def _from_all(self, rows: Indices, homes: Indices, used: list[int], names: Names) -> pa.Table:
        tables = [self.groups[home].table(names, in_one_piece=True) for home in used]
        batches = [batch for table in tables for batch in table.batches]
        starts = [0, *accumulate(batch.num_rows for batch in batches)]
        # Only the groups in use are stacked, so row numbers are shifted to where their group begins in the stack.
        moves = np.zeros(len(self.groups), dtype=np.int64)
        moves[used] = np.cumsum([0, *(table.num_rows for table in tables[:-1])]) - self.first_rows[used]
        return pa.Table.from_batches(gather(batches, starts, rows + moves[homes]), tables[0].schema)


def _decoded_quietly(group: RowGroup, names: Names) -> None:
    try:
        group.table(names)
    except (DatasetsError, OSError):
        return  # the error is raised again when the group is read


_sources: WeakValueDictionary[Any, ParquetSource] = WeakValueDictionary()


def _source(
    parts: Sequence[ParquetPart],
    features: Features,
    run: slice = _ALL,
    json_columns: frozenset[str] = frozenset(),
) -> ParquetSource:
    """The source over these files, shared by all tables with the same features."""
    identities = tuple((part.path, part.identity) for part in parts)
    key = identities, str(features), tuple(features), run.start, run.stop, json_columns
    source = _sources.get(key)
    if source is None:
        source = _sources[key] = ParquetSource(parts, features, run, json_columns)
    return source


@dataclass(frozen=True, eq=False)
class ParquetTable(AsArrow):
    """Some columns of Parquet files, possibly renamed. Pickled as a reference to the files."""

    source: ParquetSource
    names: Names  # as named in the files
    shown: Names

    @classmethod
    def open(
        cls,
        paths: Sequence[str | os.PathLike[str]],
        columns: Sequence[str] | None = None,
        features: Mapping[str, Any] | None = None,
        late: Mapping[str, Callable[[], ParquetPart]] | None = None,
    ) -> ParquetTable:
        """The rows of all files, with their common types or those of `features`.

        `late` reads the footers of files that are not at their paths yet.
        """
        parts = parts_of([os.path.abspath(path) for path in paths], late or {})
        found = united(parts)
        json_columns = frozenset(name for name, feature in found.items() if any_leaf(feature, (Json,)))
        if features is not None:
            wanted = Features(features)
            if columns is not None:
                wanted = Features({**found, **{name: wanted[name] for name in columns if name in wanted}})
            found = stated(wanted, found)
        names = tuple(found) if columns is None else tuple(columns)
        for name in names:
            if name not in found:
                raise ColumnNotFoundError(name, list(found))
        return cls(_source(parts, found, json_columns=json_columns), names, names)

    @cached_property
    def features(self) -> Features:
        """The features of the columns."""
        pairs = zip(self.shown, self.names, strict=True)
        return Features({shown: self.source.features[name] for shown, name in pairs})

    @cached_property
    def schema(self) -> pa.Schema:
        pairs = zip(self.shown, self.names, strict=True)
        return pa.schema([self.source.schema.field(name).with_name(shown) for shown, name in pairs])

    @property
    def num_rows(self) -> int:
        return self.source.starts[-1]

    @cached_property
    def nbytes(self) -> int:
        """The approximate decoded size of the columns in bytes, according to the footers."""
        return sum(group.size(self.names) for group in self.source.groups)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(part.path for part in self.source.parts if not isinstance(part, RemotePart))

    @property
    def identity(self) -> tuple[Any, ...]:
        """An identity of the content: the files with their sizes and times, the columns and their types."""
        files = tuple((part.path, part.identity) for part in self.source.parts)
        return "parquet", files, self.names, self.shown, str(self.features)

    @property
    def table(self) -> pa.Table:
        """All rows, as an Arrow table."""
        return self.read(range(self.num_rows))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.shown)}

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        shown = self.shown if columns is None else tuple(columns)
        names = self._in_files(columns)
        if not len(rows) or not names:
            return self._empty(len(rows), shown)
        if not isinstance(rows, range):
            found = self.source.gathered(rows, names)
        elif (head := self.source.head(rows, names)) is not None:
            start = self.source.starts[self.source.home(rows.start)]
            found = head.read(range(rows.start - start, rows.stop - start))
        else:
            found = pa.concat_tables(self.source.sliced(rows, names))
        return found if names == shown else found.rename_columns(list(shown))

    def _in_files(self, columns: Sequence[str] | None) -> Names:
        if columns is None:
            return self.names
        return tuple([self.names[self._places[name]] for name in columns])

    def _empty(self, num_rows: int, shown: Names) -> pa.Table:
        if shown:
            return pa.schema([self.schema.field(name) for name in shown]).empty_table()
        return pa.table({"": pa.nulls(num_rows)}).select([])

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        source, names = self.source, self._in_files(columns)
        home = source.home(index)
        group, place = source.groups[home], index - source.starts[home]
        table = group.head(names, place + 1) or group.table(names)
        row = table.row(place)
        shown = self.shown if columns is None else columns
        return row if names == shown else dict(zip(shown, row.values(), strict=True))

    def spanning(self, rows: range) -> tuple[ParquetTable, range]:
        """The files that hold these rows, as a table, and the rows in it."""
        ends = list(accumulate(part.metadata.num_rows for part in self.source.parts))
        first, last = bisect_right(ends, rows.start), bisect_left(ends, rows.stop)
        start = ends[first - 1] if first else 0
        parts = self.source.parts[first : last + 1]
        source = _source(parts, self.source.features, json_columns=self.source.json_columns)
        return ParquetTable(source, self.names, self.shown), range(rows.start - start, rows.stop - start)

    def select(self, columns: Sequence[str]) -> ParquetTable:
        return ParquetTable(self.source, self._in_files(columns), tuple(columns))

    def renamed(self, columns: Sequence[str]) -> ParquetTable:
        return ParquetTable(self.source, self.names, tuple(columns))

    def at_source(self, rows: Rows) -> tuple[ParquetTable, Rows] | None:
        """The row groups that hold these ascending rows, and the rows in them; None if some are local."""
        first, last = self.source.home(int(rows[0])), self.source.home(int(rows[-1]))
        groups = self.source.groups[first : last + 1]
        parts = [part.at_source for part in dict.fromkeys(group.part for group in groups)]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        before = sum(group.part is groups[0].part for group in self.source.groups[:first])
        if groups[0].part is self.source.parts[0]:
            before += self.source.run.start or 0
        run = slice(before, before + len(groups))
        source = _source(found, self.source.features, run, self.source.json_columns)
        moved = self.source.starts[first]
        shown = range(rows.start - moved, rows.stop - moved) if isinstance(rows, range) else rows - moved
        return ParquetTable(source, self.names, self.shown), shown

    def __reduce__(self) -> tuple[Any, ...]:
        source = self.source
        if any(isinstance(part, RemotePart) for part in source.parts):
            return _of_parts, (source.parts, source.features, source.run, source.json_columns, self.names, self.shown)
        identities = tuple((part.path, part.here.identity) for part in source.parts)
        return _reopened, (identities, source.features, source.json_columns, self.names, self.shown)

    def matching_rows(self, filters: Filters) -> Rows:
        """The rows that match.

        Row groups are excluded by their statistics; of the others only the filter's columns are read. Filters see the
        values as stored in the files, and may use columns that the table does not show.
        """
        wanted = clauses_of(filters) if is_written_out(filters) else filters
        source = _source(self.source.parts, united(self.source.parts), json_columns=self.source.json_columns)
        names = _looked_at(wanted, list(source.features))
        left = _groups_left(source, wanted, names)
        found = [
            source.starts[home] + _met(source.groups[home].table(names).table, wanted)
            for home in range(len(source.groups))
            if left[home]
        ]
        return tightest(np.concatenate(found)) if found else range(0)

    def groups_left(self, wanted: Clauses | pc.Expression) -> list[bool]:
        """Whether each row group may hold matching rows, judging by its statistics.

        Names are those of the table's columns; conditions on other columns are not evaluated.
        """
        in_files = dict(zip(self.shown, self.names, strict=True))
        if not isinstance(wanted, list):
            names = tuple(columns_of(wanted, list(self.shown)))
            # The columns of an expression cannot be renamed to those of the files.
            known = names and all(in_files[name] == name for name in names)
            return _groups_left(self.source, wanted, names) if known else [True] * len(self.source.groups)
        clauses = [[(in_files[name], *rest) for name, *rest in clause if name in in_files] for clause in wanted]
        return _groups_left(self.source, clauses, tuple({name for clause in clauses for name, *_ in clause}))


def _looked_at(wanted: Clauses | pc.Expression, available: list[str]) -> Names:
    """The columns that filters use."""
    if not isinstance(wanted, list):
        # A filter may use no column at all, and a table without columns has no rows.
        return tuple(columns_of(wanted, available)) or tuple(available[:1])
    names = tuple(dict.fromkeys(name for clause in wanted for name, *_ in clause))
    for name in names:
        if name not in available:
            raise ColumnNotFoundError(name, available)
    return names


def _groups_left(source: ParquetSource, wanted: Clauses | pc.Expression, names: Names) -> list[bool]:
    """Whether each group may hold matching rows, according to its statistics."""
    left = {id(part): groups_left_in(part, source.features, wanted, names) for part in source.parts}
    return [group.index in left[id(group.part)] for group in source.groups]


def groups_left_in(part: ParquetPart, features: Features, wanted: Clauses | pc.Expression, names: Names) -> set[int]:
    """The groups of one file that may hold matching rows, if it is read as `features`."""
    everything = set(range(part.metadata.num_row_groups))
    if not part.has_sound_footer:
        return everything
    # Statistics are about the values in the file, which may be cast to the common type of all files.
    alike = {name for name in names if part.features.get(name) == features[name]}
    if isinstance(wanted, list):
        clauses = [[condition for condition in clause if condition[0] in alike] for clause in wanted]
        with file_errors(part.path):
            return statistics.groups_left(part.metadata, clauses)
    fields = [pa.field(name, storage_type(features[name])) for name in names]
    if len(alike) < len(names) or not _is_judged_rightly(wanted, fields):
        return everything
    with part.opened() as source:
        return set(groups_matching(source, wanted, part.path))


def _is_judged_rightly(expression: pc.Expression, fields: Sequence[pa.Field]) -> bool:
    """Whether Arrow can safely exclude groups for this expression.

    Statistics ignore NaN, but Arrow does not consider that: for a group of 5.0 and NaN it takes `x != 5` or `is_nan(x)`
    to be impossible. If floats are only compared, NaN never matches anyway.
    """
    if not any(pa.types.is_floating(field.type) for field in fields):
        return True
    text = str(expression)
    return "!=" not in text and re.search(r"\w\(", text) is None


def _met(table: pa.Table, wanted: Clauses | pc.Expression) -> Indices:
    """The positions of the matching rows."""
    if isinstance(wanted, list):
        try:
            return true_rows(mask_of(table, wanted))
        except pa.ArrowException:
            # Expressions can compare more combinations of types, or raise a clear error.
            wanted = expression_of(wanted)
    with fitting(wanted):
        numbered = table.append_column("", as_arrow(np.arange(table.num_rows)))
        return numbered.filter(wanted).column("").to_numpy()


def _of_parts(
    parts: Sequence[ParquetPart],
    features: Features,
    run: slice,
    json_columns: frozenset[str],
    names: Names,
    shown: Names,
) -> ParquetTable:
    """A table of remote files, unpickled with their footers."""
    return ParquetTable(_source(parts, features, run, json_columns), names, shown)


def _reopened(
    identities: Sequence[tuple[str, Identity]],
    features: Features,
    json_columns: frozenset[str],
    names: Names,
    shown: Names,
) -> ParquetTable:
    """A table unpickled in another process."""
    key = tuple(identities), str(features), tuple(features), None, None, json_columns
    source = _sources.get(key)
    if source is None:
        parts = parts_of([path for path, _ in identities])
        for part, (_, identity) in zip(parts, identities, strict=True):
            replace(part, identity=identity).require_same()
        source = _source(parts, features, json_columns=json_columns)
    return ParquetTable(source, names, shown)
