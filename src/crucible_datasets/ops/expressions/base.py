"""`Engine`: computes columns from the columns of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from crucible_datasets.tables.pruning import Wanted

Read = Callable[[Sequence[str]], Iterable[pa.Table]]


class Engine(Protocol):
    """Some expressions of one kind."""

    text: str  # their name in error messages
    row_by_row: bool  # whether each result depends only on its own row

    @property
    def identity(self) -> Any:
        """An identity for fingerprints, the same in every process."""

    def wanted(self, schema: pa.Schema) -> Wanted | None:
        """Conditions that rows must meet for the first expression to be true, for pruning by statistics."""

    def computed(self, schema: pa.Schema, read: Read) -> Iterator[pa.Table]:
        """The results: a column for each expression, a row for each row of `read`.

        `read(columns)` reads the rows with these columns; `schema` is that of all columns.
        """


def types_of(schema: pa.Schema, names: Iterable[str] | None = None) -> dict[str, object]:
    """The types of some columns, for a message."""
    return {name: schema.field(name).type for name in (schema.names if names is None else names)}


def first_line(error: BaseException) -> str:
    """The first line of an error, without the details that engines add."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def plainer(arrow: pa.DataType) -> pa.DataType:
    """The type that tables of this library use: engines may return large or view types instead."""
    if pa.types.is_large_string(arrow) or arrow == pa.string_view():
        return pa.string()
    if pa.types.is_large_binary(arrow) or arrow == pa.binary_view():
        return pa.binary()
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, plainer(field.type)) for field in arrow])
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(plainer(arrow.value_type), arrow.list_size)
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return pa.list_(plainer(arrow.value_type))
    return plainer(arrow.value_type) if pa.types.is_dictionary(arrow) else arrow


def plain_table(table: pa.Table) -> pa.Table:
    """A table of plain types."""
    return table.cast(pa.schema([(field.name, plainer(field.type)) for field in table.schema]))
