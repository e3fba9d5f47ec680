"""Reading rows, batches and columns of a view in its format.

A `Reader` prepares once per view what every access needs (formatter, visible columns, decoders), so that reading one
row costs little more than its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import (
    ArgumentError,
    BadMediaError,
    ColumnNotFoundError,
    RowIndexError,
)
from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import Located
from crucible_datasets.features.decode import Decoder, decoder
from crucible_datasets.forking import cached_property
from crucible_datasets.outputs.base import PYTHON, Formatter, Output
from crucible_datasets.outputs.python import PythonFormatter, collector_paused
from crucible_datasets.records import dataclass
from crucible_datasets.tables.rows import RowNumbersError, Rows, compose, tightest
from crucible_datasets.tables.view import View

# The first rows come from small blocks, so that looking at one row stays cheap. Later blocks
# are as large as pays off: decoding is fastest while a few hundred rows are alive, gathering
# gains up to two thousand.
_FIRST_BLOCK = 16
_DECODE_BLOCK = 256
_GATHER_BLOCK = 2048

Show = Callable[[pa.Table, Features], Any]


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads one view through its format."""

    view: View

    @cached_property
    def output(self) -> Output:
        return self.view.format.output

    @cached_property
    def formatter(self) -> Formatter:
        return self.view.format.formatter()

    @cached_property
    def shown(self) -> Features:
        """The features of the columns that are formatted."""
        names = self.view.format.shown(self.view.column_names)
        return Features({name: kind for name, kind in self.view.readable.items() if name in names})

    @cached_property
    def hidden(self) -> Features:
        """The features of the columns that are included unformatted (`output_all_columns`)."""
        if not self.view.format.output_all_columns:
            return Features()
        return Features({name: kind for name, kind in self.view.readable.items() if name not in self.shown})

    @cached_property
    def _shown_names(self) -> list[str] | None:
        names = list(self.shown)
        return None if names == self.view.column_names else names

    @cached_property
    def _row_decoders(self) -> dict[str, Decoder] | None:
        """The decoders of plain Python rows; None when rows are not plain Python."""
        if self.output.name != "python" or self.hidden:
            return None
        return {name: decode for name, kind in self.shown.items() if (decode := decoder(kind))}

    def item(self, key: Any) -> Any:
        """One row by its number, or a batch by a slice or several numbers."""
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self.row(int(key))
        if isinstance(key, (bool, bytes)) or not (isinstance(key, slice) or hasattr(key, "__iter__")):
            kind = type(key).__name__
            raise TypeError(f"Rows are named by ints or a slice, columns by a str, not by {kind}: {key!r}.")
        return self.batch(rows_of(key, len(self.view)))

    def row(self, index: int) -> Any:
        """One row."""
        view = self.view
        place = checked(index, len(view))
        decoders = self._row_decoders
        if decoders is None:
            with Located(None, range(place, place + 1)):
                return self._formatted_row(view.read(range(place, place + 1), self._read_names))
        row = view.table.row(int(view.rows[place]), self._shown_names)
        for name, decode in decoders.items():
            try:
                row[name] = decode(row[name])
            except BadMediaError as error:
                raise error.at(name, place) from error.__cause__
        return row

    def _formatted_row(self, table: pa.Table) -> Any:
        return self._formatted(table, self.formatter.row, PythonFormatter().row)

    def _formatted(self, table: pa.Table, show: Show, show_plain: Show) -> Any:
        """The columns of a table as `show` formats them, plus the unformatted ones by `show_plain`."""
        if not self.view.format.output_all_columns or self.view.format.columns is None:
            return show(table, self.shown)
        shown = show(table.select(list(self.shown)), self.shown)
        if not isinstance(shown, dict):
            kind = type(shown).__name__
            raise TypeError(f"output_all_columns=True needs rows and batches that are dicts, not {kind}.")
        hidden = show_plain(table.select(list(self.hidden)), self.hidden) if self.hidden else {}
        return {**shown, **hidden}

    def batch(self, rows: Rows) -> Any:
        """Some rows as a batch of columns."""
        with Located(None, rows):
            return self.formatted(self.view.read(rows, self._read_names))

    @cached_property
    def _read_names(self) -> list[str] | None:
        return None if self.hidden else self._shown_names

    def formatted(self, table: pa.Table) -> Any:
        """A table of the columns that are read, as a batch."""
        return self._formatted(table, self.formatter.batch, PythonFormatter().batch)

    def rows(self, chosen: Rows | None = None, first: int = _FIRST_BLOCK) -> Iterator[Any]:
        """Every row, or the chosen ones, in blocks that grow from `first` rows."""
        start = 0
        for table in self._blocks(self._read_names, chosen, first):
            with Located(None, range(start, len(self.view)) if chosen is None else chosen[start:]):
                yield from self._rows_of(table)
            start += table.num_rows

    def several(self, chosen: Rows) -> list[Any]:
        """Some rows as separate objects, made from one batch: types are the same, and a transform is called once."""
        if not (self.output.mapping or self.output.name == "pandas") or self._row_decoders is not None:
            return list(self.rows(chosen))
        batch = dict(self.batch(chosen).items())
        length = len(next(iter(batch.values()), ()))
        return [{name: column[row] for name, column in batch.items()} for row in range(length)]

    def all_rows(self) -> list[Any]:
        """All rows as a list."""
        with nullcontext() if self._row_decoders != {} else collector_paused():
            return list(self.rows(first=_GATHER_BLOCK))

    def _blocks(
        self, names: list[str] | None, chosen: Rows | None = None, first: int = _FIRST_BLOCK
    ) -> Iterator[pa.Table]:
        rows = self.view.rows if chosen is None else compose(self.view.rows, chosen)
        most = _DECODE_BLOCK if isinstance(rows, range) else _GATHER_BLOCK
        start, size = 0, min(first, most)
        while start < len(rows):
            yield self.view.table.read(rows[start : start + size], names)
            start, size = start + size, min(size * 4, most)

    def _rows_of(self, table: pa.Table) -> Iterator[Any]:
        if not self.hidden:
            return self.formatter.rows(table, self.shown)
        return (self._formatted_row(table.slice(index, 1)) for index in range(table.num_rows))

    def batches(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Every row, in batches of `batch_size`."""
        if batch_size < 1:
            raise ArgumentError("batch_size", batch_size, "expected at least 1.")
        for start in range(0, len(self.view), batch_size):
            stop = min(start + batch_size, len(self.view))
            if stop - start == batch_size or not drop_last_batch:
                yield self.batch(range(start, stop))

    def column(self, name: str, rows: Rows | None = None) -> Any:
        """One column of some rows (all by default)."""
        if self.output.name == "custom":
            return self._transformed(self.batch(range(len(self.view)) if rows is None else rows), name)
        if name not in self.shown:
            return self._plain(name).column(name, rows)
        with Located(name, range(len(self.view)) if rows is None else rows):
            return self.formatter.column(self.view.read(rows, [name]).column(0), self.shown[name])

    def cells(self, name: str, key: Any) -> Any:
        """One value of a column by its number, or several."""
        if isinstance(key, bool) or not isinstance(key, (int, np.integer)):
            return self.column(name, rows_of(key, len(self.view)))
        place = checked(int(key), len(self.view))
        if self.output.name == "custom":
            return self._transformed(self.row(place), name)
        if name not in self.shown:
            return self._plain(name).cells(name, place)
        if self.output.name == "python":
            decode = decoder(self.shown[name])
            value = self.view.table.row(int(self.view.rows[place]), [name])[name]
            with Located(name, range(place, place + 1)):
                return decode(value) if decode else value
        return self.formatter.row(self.view.read(range(place, place + 1), [name]), self._only(name))[name]

    def values(self, name: str) -> Iterator[Any]:
        """Every value of a column, as a row would show it."""
        if self.output.name == "custom":
            yield from (self._transformed(row, name) for row in self.rows())
        elif name not in self.shown:
            yield from self._plain(name).values(name)
        else:
            only, start = self._only(name), 0
            for table in self._blocks([name]):
                with Located(name, range(start, len(self.view))):
                    yield from self._values_of(table, name, only)
                start += table.num_rows

    def _values_of(self, table: pa.Table, name: str, only: Features) -> Iterator[Any]:
        if self.output.name == "python":
            return PythonFormatter().values(table.column(0), only[name])
        return (row[name] for row in self.formatter.rows(table, only))

    def _plain(self, name: str) -> Reader:
        """A reader for a column that the format does not change."""
        if self.output.lazy_column and name not in self.hidden:
            raise ColumnNotFoundError(name, list(self.shown))
        return Reader(replace(self.view, format=PYTHON))

    def _only(self, name: str) -> Features:
        return Features({name: self.shown[name]})

    def _transformed(self, made: Any, name: str) -> Any:
        if name not in made:
            raise ColumnNotFoundError(name, list(made))
        return made[name]


def checked(index: int, num_rows: int) -> int:
    """A row's number from the start; a negative one counts from the end."""
    place = index + num_rows if index < 0 else index
    if not 0 <= place < num_rows:
        raise RowIndexError(index, num_rows)
    return place


def rows_of(key: Any, num_rows: int) -> Rows:
    """The rows selected by a key in `[]`; negative indices count from the end."""
    if isinstance(key, slice):
        key = range(*key.indices(num_rows))
        if key.step == 1:
            return range(key.start, max(key.start, key.stop))
    indices = np.asarray(key if isinstance(key, (list, tuple, range)) or hasattr(key, "__array__") else list(key))
    if indices.size == 0:
        return range(0)
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise RowNumbersError(str(indices.dtype), indices.ndim)
    indices = indices.astype(np.int64)
    outside = indices[(indices < -num_rows) | (indices >= num_rows)]
    if len(outside):
        raise RowIndexError(int(outside[0]), num_rows)
    return tightest(np.where(indices < 0, indices + num_rows, indices))


def preview(values: Iterable[Any], limit: int = 5) -> str:
    """The first few values, as a list is shown."""
    first = list(islice(values, limit + 1))
    return "[" + ", ".join([repr(value) for value in first[:limit]] + ["..."] * (len(first) > limit)) + "]"
