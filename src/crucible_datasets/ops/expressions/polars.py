"""Expressions of polars, such as `pl.col("level") > 3`, and what can be inferred from them before they run."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError, ExpressionError
from crucible_datasets.formats.filters import Clauses
from crucible_datasets.ops.expressions.base import Read, first_line, plain_table, types_of
from crucible_datasets.ops.expressions.pruning import SWAPPED, condition
from crucible_datasets.tables.pruning import Wanted
from crucible_datasets.tables.statistics import ALWAYS, both, either

_COMPARISONS = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
}
_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)


class PolarsEngine:
    """Expressions of polars, each of which names its results."""

    def __init__(self, expressions: Sequence[Any]) -> None:
        self._expressions = list(expressions)
        self.text = ", ".join(map(str, expressions))
        self.row_by_row = all(_is_row_by_row(expression) for expression in expressions)

    @property
    def identity(self) -> Any:
        import polars as pl

        return pl.__version__, [expression.meta.serialize() for expression in self._expressions]

    def wanted(self, schema: pa.Schema) -> Wanted | None:
        return _clauses(self._expressions[0], schema) if self.row_by_row else None

    def computed(self, schema: pa.Schema, read: Read) -> Iterator[pa.Table]:
        import polars as pl

        names = self._names(schema)
        try:
            empty = pl.from_arrow(schema.empty_table().select(names))
            results = empty.lazy().select(self._expressions).collect_schema().names()
            tables = read(names)
            for table in tables if self.row_by_row else [pa.concat_tables(tables)]:
                frame = pl.from_arrow(table)
                # As in polars, a single value is broadcast to all rows.
                found = frame.with_columns(self._expressions).select(results)
                yield plain_table(found.to_arrow())
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise ExpressionError(self.text, types_of(schema, names), first_line(error)) from error

    def _names(self, schema: pa.Schema) -> list[str]:
        """The columns that the expressions use; all if they select columns by a pattern."""
        if any(expression.meta.has_multiple_outputs() for expression in self._expressions):
            return list(schema.names)
        names = list(dict.fromkeys(name for one in self._expressions for name in one.meta.root_names()))
        for name in names:
            if name not in schema.names:
                raise ColumnNotFoundError(name, schema.names)
        return names or schema.names[:1]


def _parts(expression: Any) -> list[Any]:
    """The parts of an expression, from left to right."""
    return expression.meta.pop()[::-1]


def _is(expression: Any, function: Any, *parts: Any) -> bool:
    """Whether an expression is this function of its parts: polars exposes the parts, but not the function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return expression.meta.eq(function(*parts))
        except (TypeError, ValueError):
            return False


def _is_row_by_row(expression: Any) -> bool:
    """Whether an expression is known to be elementwise; others get all rows at once."""
    if expression.meta.is_column() or expression.meta.is_literal():
        return not expression.meta.has_multiple_outputs()
    parts = _parts(expression)
    if len(parts) == 1:
        known = any(_is(expression, one, *parts) for one in (operator.invert, _is_null, _is_not_null))
        known = known or _is(expression, lambda part: part.alias(expression.meta.output_name()), *parts)
    else:
        several = (operator.and_, operator.or_, *_COMPARISONS.values(), *_ARITHMETIC, _is_in)
        known = len(parts) == 2 and any(_is(expression, one, *parts) for one in several)
    return known and all(map(_is_row_by_row, parts))


def _is_in(value: Any, several: Any) -> Any:
    return value.is_in(several)


def _is_null(value: Any) -> Any:
    return value.is_null()


def _is_not_null(value: Any) -> Any:
    return value.is_not_null()


def _clauses(expression: Any, schema: pa.Schema) -> Clauses:
    """Conditions that hold wherever the expression is true."""
    parts = _parts(expression)
    if len(parts) == 1 and _is(expression, lambda part: part.alias(expression.meta.output_name()), *parts):
        return _clauses(parts[0], schema)
    if len(parts) != 2:
        return ALWAYS
    if _is(expression, operator.and_, *parts):
        return both(_clauses(parts[0], schema), _clauses(parts[1], schema))
    if _is(expression, operator.or_, *parts):
        return either(_clauses(parts[0], schema), _clauses(parts[1], schema))
    for symbol, function in _COMPARISONS.items():
        if _is(expression, function, *parts):
            return _compared(symbol, parts[0], parts[1], schema)
    return ALWAYS


def _compared(symbol: str, left: Any, right: Any, schema: pa.Schema) -> Clauses:
    if left.meta.is_literal() and right.meta.is_column():
        return _compared(SWAPPED[symbol], right, left, schema)
    if not (left.meta.is_column() and right.meta.is_literal()):
        return ALWAYS
    import polars as pl

    return condition(left.meta.output_name(), symbol, pl.select(right).item(), schema)
