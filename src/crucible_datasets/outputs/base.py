"""`Output` and `Formatter`, the interfaces of output formats; `Format`, the choice of a view; `OUTPUTS`, the registry.

An output turns stored Arrow rows into the objects of one library. It is one file with
one `OUTPUT`; `OUTPUTS` finds it by name or alias.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from importlib.util import find_spec
from typing import Any, Protocol

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError, MissingPackageError
from crucible_datasets.features import Features
from crucible_datasets.keywords import keywords_of, refuse_unknown_keywords
from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry


class Formatter(Protocol):
    """Turns tables of storage types, whose columns are described by `features`, into objects.

    `features` has exactly the table's columns, in order.
    """

    def row(self, table: pa.Table, features: Features) -> Any:
        """A table of one row as one row."""

    def rows(self, table: pa.Table, features: Features) -> Iterator[Any]:
        """Each row of a table, as `row` would give it."""

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        """One column as a sequence of values."""

    def batch(self, table: pa.Table, features: Features) -> Any:
        """A table as a batch of columns."""


@dataclass(frozen=True)
class Output:
    """One output format; `make(**format_kwargs)` returns its formatter."""

    name: str
    make: Callable[..., Formatter]
    aliases: tuple[str, ...] = ()
    lazy_column: bool = True  # whether `ds["c"]` is a lazy Column, rather than `batch(...)["c"]` of all rows
    mapping: bool = True  # whether rows and batches are dicts, to which unformatted columns can be added
    package: str | None = None  # the package that it needs, also the name of the extra
    options: tuple[str, ...] | None = None  # what `make` takes, if its signature does not say so

    def require_package(self) -> None:
        """Raise an error unless its package is installed; nothing is imported."""
        if self.package and self.package not in sys.modules and find_spec(self.package) is None:
            raise MissingPackageError(self.package, self.package)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise for an option that the formatter does not take, or not with this value."""
        if options:
            available = keywords_of(self.make) if self.options is None else self.options
            refuse_unknown_keywords(f"the format {self.name!r}", options, available)
            self.make(**options)


OUTPUTS: Registry[Output] = Registry("output format", "crucible_datasets.outputs", "OUTPUT")


@dataclass(frozen=True)
class Format:
    """How a view is shown: the output, its options, and the visible columns."""

    type: str | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    output_all_columns: bool = False

    @classmethod
    def of(
        cls,
        type: str | None,
        columns: Sequence[str] | str | None,
        output_all_columns: bool,
        kwargs: Mapping[str, Any],
        available: list[str],
    ) -> Format:
        """The format from the user's arguments, checked: type by any alias, existing columns, valid options."""
        output = OUTPUTS["python" if type is None else type]
        output.require_package()
        output.check_options(kwargs)  # now, not when rows are read
        name = output.name
        shown = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
        chosen = cls(None if name == "python" else name, dict(kwargs), shown, output_all_columns)
        return chosen.checked(available)

    @property
    def output(self) -> Output:
        """The output."""
        return OUTPUTS[self.type or "python"]

    def formatter(self) -> Formatter:
        """The formatter, with the given options."""
        return self.output.make(**self.kwargs)

    def shown(self, available: list[str]) -> list[str]:
        """The columns that are formatted."""
        return available if self.columns is None else list(self.columns)

    def checked(self, available: list[str]) -> Format:
        """The format itself; raises if one of its columns does not exist."""
        for column in self.columns or ():
            if column not in available:
                raise ColumnNotFoundError(column, available)
        return self

    def renamed(self, names: Mapping[str, str]) -> Format:
        columns = self.columns and tuple(names.get(name, name) for name in self.columns)
        return replace(self, columns=columns)

    def as_dict(self, available: list[str]) -> dict[str, Any]:
        return {
            "type": self.type,
            "format_kwargs": dict(self.kwargs),
            "columns": self.shown(available),
            "output_all_columns": self.output_all_columns,
        }


PYTHON = Format()
