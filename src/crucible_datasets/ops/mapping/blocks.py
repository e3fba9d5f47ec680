"""Blocks: rows that are read together, each column on first access."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.mapping.change_detection import Trace, decoded, trace
from crucible_datasets.ops.mapping.lazy_media import OnDemand
from crucible_datasets.outputs.base import Formatter, Output
from crucible_datasets.outputs.tensors import TensorFormatter
from crucible_datasets.tables.view import View


@dataclass(eq=False)
class Source:
    """The rows of a view in its format; it remembers which columns are accessed and reads those together."""

    view: View
    touched: list[str] = field(default_factory=list)
    first: int = 0  # the number of the first row that the view has
    kept: frozenset[str] = frozenset()  # columns that the result keeps, with what the function changes inside of them

    def read(self, rows: range, columns: list[str] | None = None) -> pa.Table:
        """Rows by their numbers."""
        return self.view.read(range(rows.start - self.first, rows.stop - self.first), columns)

    @cached_property
    def features(self) -> Features:
        return self.view.readable

    @cached_property
    def output(self) -> Output:
        return self.view.format.output

    @cached_property
    def formatter(self) -> Formatter:
        return self.view.format.formatter()

    @property
    def is_python(self) -> bool:
        """Whether the format is plain Python."""
        return self.output.name == "python"

    @property
    def is_lazy(self) -> bool:
        """Whether rows and batches are dicts whose columns can be filled lazily."""
        return self.output.mapping and self.output.name != "custom"

    @property
    def merges(self) -> bool:
        """Whether a returned dict updates the input's columns: unless the function got a data frame or table."""
        return self.output.mapping

    @property
    def shows(self) -> Callable[[Any], Any] | None:
        """A function that formats one decoded value; None if the format needs the whole column."""
        if isinstance(self.formatter, TensorFormatter):
            return self.formatter.nested
        return _itself if self.is_python else None

    def __getstate__(self) -> dict[str, Any]:
        return {"view": self.view, "touched": self.touched, "first": self.first, "kept": self.kept}


def _itself(value: Any) -> Any:
    return value


class Columns(ABC):
    """Rows that are read together. `written` holds those, by index, that the function has changed as dicts."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.written: dict[int, Any] = {}
        self.last_complete: Any = None
        self.batch: Any = None  # the batch that was passed to the function, if any
        self.decoded: dict[str, list[Any]] = {}
        self.columns: dict[str, Any] = {}

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def is_joined_lazily(self) -> bool:
        """Whether `row | dict` is still treated as the row, rather than as an ordinary dict."""
        return True

    def values(self, name: str) -> list[Any]:
        """The values of a column as rows show them."""
        found = self.decoded.get(name)
        if found is None:
            found = self.decoded[name] = self._values(name)
        return found

    def column(self, name: str) -> Any:
        """A column as a batch shows it."""
        if name not in self.columns:
            self.columns[name] = self._column(name)
        return self.columns[name]

    @abstractmethod
    def _values(self, name: str) -> list[Any]: ...

    @abstractmethod
    def _column(self, name: str) -> Any: ...


class Block(Columns):
    """Consecutive rows of a source."""

    def __init__(self, source: Source, rows: range) -> None:
        super().__init__(source.view.column_names)
        self.source, self.rows = source, rows
        self.arrow: dict[str, pa.ChunkedArray] = {}
        self.traces: dict[str, Trace] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_joined_lazily(self) -> bool:
        return self.source.is_python  # as in Hugging Face `datasets`, whose other formats give plain dicts

    def stored(self, name: str) -> pa.ChunkedArray:
        """A column as it is stored."""
        if name not in self.arrow:
            if name not in self.source.touched:
                self.source.touched.append(name)
            wanted = [column for column in self.source.touched if column not in self.arrow]
            table = self.source.read(self.rows, wanted)
            self.arrow |= zip(wanted, table.columns, strict=True)
        return self.arrow[name]

    def stored_type(self, name: str) -> pa.DataType:
        """The type that a column is stored as."""
        return self.source.view.table.schema.field(name).type

    def _values(self, name: str) -> list[Any]:
        column, feature = self.stored(name), self.source.features[name]
        if is_media(feature) and decoder(feature) and (show := self.source.shows) is not None:
            return OnDemand(column.to_pylist(), feature, name, self.rows.start, show)  # type: ignore[return-value]
        if not self.source.is_python:
            only = Features({name: feature})
            return [row[name] for row in self.source.formatter.rows(pa.table({name: column}), only)]
        if name in self.source.kept and not decoder(feature) and pa.types.is_nested(column.type):
            values, self.traces[name] = decoded(column)
            return values
        values = self.source.formatter.column(column, feature)
        if name in self.source.kept and decoder(feature):
            self.traces[name] = trace(values)
        return values

    def _column(self, name: str) -> Any:
        if self.source.is_python:
            return self.values(name).copy()  # the function may modify its list
        only = Features({name: self.source.features[name]})
        return self.source.formatter.batch(pa.table({name: self.stored(name)}), only)[name]

    def whole_rows(self) -> Iterator[Any]:
        """Every row in the format, with all columns."""
        return self.source.formatter.rows(self.source.read(self.rows), self.source.features)

    def rows_of_frame(self) -> Iterator[dict[str, Any]]:
        """Every row of a data frame or Arrow table as a dict of its values."""
        frame = self.whole()
        columns = [getattr(frame[name], "array", frame[name]) for name in self.names]
        return (dict(zip(self.names, values, strict=True)) for values in zip(*columns, strict=True))

    def whole(self) -> Any:
        """The block as a batch in the format."""
        return self.source.formatter.batch(self.source.read(self.rows), self.source.features)


class WholeRows(Sequence[Any]):
    """The rows of a block in its format, each made on access, so that one that cannot be made is lost alone."""

    def __init__(self, block: Block) -> None:
        self.table, self.source = block.source.read(block.rows), block.source

    def __len__(self) -> int:
        return self.table.num_rows

    def __getitem__(self, place: Any) -> Any:
        return self.source.formatter.row(self.table.slice(place, 1), self.source.features)
