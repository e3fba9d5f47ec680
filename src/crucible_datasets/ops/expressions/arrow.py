"""Expressions of pyarrow, such as `pc.field("level") > 3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError, ExpressionError
from crucible_datasets.formats.base import columns_of
from crucible_datasets.formats.filters import identity_of, unknown_column
from crucible_datasets.ops.expressions.base import Read, first_line, plain_table, types_of
from crucible_datasets.tables.pruning import Wanted

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class ArrowEngine:
    """Expressions of pyarrow by the names of their results."""

    row_by_row = True

    def __init__(self, expressions: Mapping[str, Any]) -> None:
        self._expressions = dict(expressions)
        self.text = ", ".join(map(str, expressions.values()))

    @property
    def identity(self) -> Any:
        return [(name, identity_of(expression)) for name, expression in self._expressions.items()]

    def wanted(self, schema: pa.Schema) -> Wanted | None:
        return next(iter(self._expressions.values()))

    def computed(self, schema: pa.Schema, read: Read) -> Iterator[pa.Table]:
        names = self._names(schema)
        for table in read(names):
            yield plain_table(self._projected(table, schema, names))

    def _names(self, schema: pa.Schema) -> list[str]:
        """The columns that the expressions use."""
        seen = {name for expression in self._expressions.values() for name in columns_of(expression, schema.names)}
        names = [name for name in schema.names if name in seen]
        # An expression's text contains column names, but not only those: which are needed shows when they are missing.
        doubtful = [name for name in names if not _stands_alone(name, _QUOTED.sub("", self.text))]
        for name in doubtful if len(names) > 1 else []:
            fewer = [other for other in names if other != name]
            try:
                _project(schema.empty_table().select(fewer), self._expressions)
            except pa.ArrowException:
                continue
            names = fewer
        return names

    def _projected(self, table: pa.Table, schema: pa.Schema, names: Sequence[str]) -> pa.Table:
        try:
            return _project(table, self._expressions)
        except pa.ArrowException as error:
            unknown = unknown_column(error)
            if unknown is not None and unknown not in schema.names:
                raise ColumnNotFoundError(unknown, schema.names) from error
            raise ExpressionError(self.text, types_of(schema, names), first_line(error)) from error


def _stands_alone(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?![\w(=])", text) is not None


def _project(table: pa.Table, expressions: Mapping[str, Any]) -> pa.Table:
    import pyarrow.acero as acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(table))
    options = acero.ProjectNodeOptions(list(expressions.values()), list(expressions))
    # With threads the order of batches is undefined.
    return acero.Declaration("project", options, inputs=[source]).to_table(use_threads=False)
