"""Filters as users write them: tuples `(column, operator, value)`, all of which must hold, or lists of such lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.arrow_text import texts

Filters = Any  # a pyarrow expression, or tuples (column, operator, value) in disjunctive normal form
Condition = tuple[str, str, Any]
Clauses = list[list[Condition]]

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda column, value: column == value,
    "==": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
    "in": lambda column, value: column.isin(list(value)),
    "not in": lambda column, value: ~column.isin(list(value)),
}
_EXPECTED = "expected tuples (column, operator, value), lists of such lists, or an expression of pyarrow."
_KERNELS = {
    "=": "equal",
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


def is_written_out(filters: Filters) -> bool:
    """Whether filters are tuples, and not an expression of pyarrow."""
    # Looking at `pc.Expression` would import pyarrow.compute.
    return isinstance(filters, (list, tuple))


def clauses_of(filters: Filters) -> Clauses:
    """Tuples as a list of lists: one of them must hold, and in it every condition."""
    groups = filters if filters and isinstance(filters[0], list) else [filters]
    if not all(groups) or any(not isinstance(one, (tuple, list)) or len(one) != 3 for group in groups for one in group):
        raise ArgumentError("filters", filters, _EXPECTED)
    return [[_checked(*condition) for condition in group] for group in groups]


def _checked(column: str, operator: str, value: Any) -> Condition:
    if operator not in OPERATORS:
        raise ArgumentError("filters", operator, f"expected one of {', '.join(OPERATORS)}.")
    return column, operator, list(value) if operator in ("in", "not in") else value


def expression_of(filters: Filters) -> pc.Expression | None:
    """Filters as one expression."""
    if filters is None or not is_written_out(filters):
        return _required(filters)
    clauses = clauses_of(filters)
    return reduce(or_, (reduce(and_, (_expression(*condition) for condition in clause)) for clause in clauses))


def _expression(column: str, operator: str, value: Any) -> pc.Expression:
    return OPERATORS[operator](pc.field(column), value)


def unknown_column(error: pa.ArrowException) -> str | None:
    """The column that an expression asked for in vain, if that is what the error tells."""
    found = re.search(r"No match for FieldRef\.(?:Nested\(FieldRef\.)?Name\((.*?)\)", str(error), re.DOTALL)
    return found[1] if found else None


def _required(filters: Filters) -> Any:
    """Filters that are not written out, once they are known to be an expression."""
    if filters is not None and type(filters).__name__ != "Expression":
        raise ArgumentError("filters", filters, _EXPECTED)
    return filters


def identity_of(filters: Filters) -> Any:
    """The identity of filters, the same in every process."""
    if filters is None or is_written_out(filters):
        return filters and clauses_of(filters)
    _required(filters)
    # The text of an expression leaves out the middle of long lists.
    _, (serialized, *_) = filters.__reduce__()
    return str(filters), serialized.to_pybytes()


def mask_of(table: pa.Table, clauses: Clauses) -> pa.ChunkedArray:
    """Whether each row meets the clauses; null where that is unknown.

    The kernels are called by themselves: an expression would import all of pyarrow.dataset, and pandas with it, which
    takes longer than most files take to read.
    """
    met = [reduce(_both, (_met(table[name], *rest) for name, *rest in clause)) for clause in clauses]
    return reduce(_either, met)


def _both(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.call("and_kleene", left, right)


def _either(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.call("or_kleene", left, right)


def _met(column: pa.ChunkedArray, operator: str, value: Any) -> pa.ChunkedArray:
    if operator in _KERNELS:
        return pc.call(_KERNELS[operator], column, array_of([value])[0])
    found = pc.is_in(column, value_set=array_of(value).cast(column.type))
    return found if operator == "in" else pc.invert(found)


def array_of(values: Sequence[Any]) -> pa.Array:
    """Values as an array, without importing pandas if they are plain; `pa.array` always does."""
    kinds = {type(value) for value in values}
    if kinds == {int} and all(-(1 << 63) <= value < 1 << 63 for value in values):
        return _of_buffers(pa.int64(), len(values), np.array(values, dtype=np.int64))
    if kinds == {float}:
        return _of_buffers(pa.float64(), len(values), np.array(values, dtype=np.float64))
    return texts(values) if kinds == {str} else pa.array(values)


def _of_buffers(kind: pa.DataType, length: int, values: Any) -> pa.Array:
    return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(values)])
