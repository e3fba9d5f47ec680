"""Which field of a CSV record is which column, from the header of the file and the options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, FileFormatError
from crucible_datasets.formats.csv_records import Records

_NAMELESS = "Unnamed: "


@dataclass(frozen=True)
class Layout:
    """Where the columns of a file are."""

    names: list[str]  # of every field
    kept: list[int]  # positions of the columns, in order
    index: list[int]  # positions of index columns, which come after the others in the table
    records: int  # number of records before the data
    lines: int  # number of lines before the data
    exact: bool  # whether longer rows are an error

    def choosing(self, wanted: Collection[str] | None) -> Layout:
        """The layout with only the wanted columns."""
        if wanted is None:
            return self
        kept = [place for place in [*self.kept, *self.index] if self.names[place] in wanted]
        return replace(self, kept=kept, index=[])


def layout(
    records: Records, name: str, header: Any, names: Any, index_col: Any, usecols: Any, skips_bad_lines: bool
) -> Layout | None:
    """The layout of a file; None if the file is empty. A bad line of the header is an error in any case."""
    found = iter(records)
    rows = _header_rows(header, names)
    top = list(islice(found, max(rows) + 1 if rows else 0))
    lines = records.lines
    if skips_bad_lines:
        records.on_undecodable = lambda error: None
    first = next(found, None)
    if rows and len(top) <= max(rows):
        if not top and names is None:
            return None
        raise FileFormatError(name, f"there is no row {max(rows)} to take the column names from.")
    if first is None and not rows and names is None:
        return None
    width = max(len(first or ()), len(top[-1]) if top else 0)
    given = names is not None
    if names is None:
        names = _header_names([top[row] for row in rows]) if rows else [str(place) for place in range(width)]
    names = [str(each) for each in names]
    if len(set(names)) != len(names):
        raise ArgumentError("names", names, "column names must differ.")
    if given and len(names) > width and (usecols is not None or rows) and (first or top):
        raise ArgumentError("names", names, f"the file has {width} columns: give as many names.")
    places = _Places(names, width if first or top else len(names), given, index_col, usecols)
    fields, kept, index = places.resolved()
    return Layout(fields, kept, index, len(top), lines if rows else records.skipped, index_col is not False)


def _header_rows(header: Any, names: Any) -> list[int]:
    if header == "infer":
        return [] if names is not None else [0]
    if header is None:
        return []
    if names is not None and not isinstance(header, int):
        raise ArgumentError("header", header, "with names, it is one row or None.")
    rows = [header] if isinstance(header, int) else list(header)
    if any(not isinstance(row, int) or isinstance(row, bool) or row < 0 for row in rows):
        raise ArgumentError("header", header, "expected the number of a row, several, 'infer' or None.")
    return rows


def _header_names(rows: list[list[str]]) -> list[str]:
    if len(rows) > 1:
        return [str(parts) for parts in zip(*rows, strict=False)]
    names = [name or f"{_NAMELESS}{place}" for place, name in enumerate(rows[0])]
    taken, seen = set(names), Counter[str]()
    unique = []
    for name in names:
        number = seen[name]
        seen[name] += 1
        while number and f"{name}.{number}" in taken:
            number = seen[name]
            seen[name] += 1
        unique.append(f"{name}.{number}" if number else name)
        taken.add(unique[-1])
    return unique


@dataclass
class _Places:
    """Positions of columns and index columns among the fields of a record."""

    names: list[str]
    width: int
    given: bool  # whether the caller passed the names
    index_col: Any
    usecols: Any

    def resolved(self) -> tuple[list[str], list[int], list[int]]:
        """The name of every field, the positions of columns, and those of index columns."""
        more = max(0, self.width - len(self.names))
        if self.index_col is False or not more:
            return self._chosen(self.names)
        if self.usecols is not None and not callable(self.usecols) and len(set(self.usecols)) == len(self.names):
            return self._chosen(self._with_used_names())
        if self.usecols is not None and not callable(self.usecols) and (self.given or not _are_names(self.usecols)):
            raise ArgumentError("usecols", self.usecols, f"of {self.width} fields {len(self.names)} have names.")
        return self._with_index(more)

    def _with_used_names(self) -> list[str]:
        """The names of all fields, where the given names are those of the used fields."""
        places = range(len(self.names)) if _are_names(self.usecols) else sorted(set(self.usecols))
        fields = [f"{_NAMELESS}{place}" for place in range(max(self.width, *(place + 1 for place in places)))]
        for place, name in zip(places, self.names, strict=True):
            fields[place] = name
        return fields

    def _with_index(self, more: int) -> tuple[list[str], list[int], list[int]]:
        """Fields beyond the names are index columns; they come first unless `index_col` says otherwise."""
        index = list(range(more)) if self.index_col is None else list(_several(self.index_col))
        if len(index) != more or not all(isinstance(place, int) and 0 <= place < self.width for place in index):
            raise ArgumentError("index_col", self.index_col, f"rows have {more} fields more than there are names.")
        following = iter(self.names)
        fields = ["" if place in index else next(following) for place in range(self.width)]
        kept = [place for place in range(self.width) if place not in index and self._is_used(fields[place])]
        named = _levels_named(fields, index)
        return (named, kept, index) if more == 1 else (named, [*kept, *index], [])

    def _is_used(self, name: str) -> bool:
        if callable(self.usecols):
            return bool(self.usecols(name))
        return self.usecols is None or name in self.usecols

    def _chosen(self, fields: list[str]) -> tuple[list[str], list[int], list[int]]:
        kept = list(range(len(fields)))
        if callable(self.usecols):
            kept = [place for place in kept if self.usecols(fields[place])]
        elif self.usecols is not None:
            kept = sorted({place_of(fields, column) for column in self.usecols})
        if self.index_col is None or self.index_col is False:
            return fields, kept, []
        used = [fields[place] for place in kept]
        index = [kept[place_of(used, column)] for column in _several(self.index_col)]
        named = [
            "" if fields[place].startswith(_NAMELESS) and place in index else name for place, name in enumerate(fields)
        ]
        return _levels_named(named, index), [place for place in kept if place not in index], index


def _levels_named(fields: list[str], index: list[int]) -> list[str]:
    names = list(fields)
    for level, place in enumerate(index):
        names[place] = names[place] or f"__index_level_{level}__"
    return names


def _several(columns: Any) -> Iterator[Any]:
    yield from columns if isinstance(columns, (list, tuple)) else [columns]


def _are_names(columns: Collection[Any]) -> bool:
    return all(isinstance(column, str) for column in columns)


def place_of(names: list[str], column: Any) -> int:
    """The position of a column, given by name or position."""
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    if column not in names:
        raise ColumnNotFoundError(column, names)
    return names.index(column)
