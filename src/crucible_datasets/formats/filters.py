"""Filters as users write them: a list of tuples `(column, operator, value)`, combined by AND, or a list of such
lists, combined by OR.
"""

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
    "in": lambda column, value: column.isin(value),
    "not in": lambda column, value: ~column.isin(value),
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
    """Whether filters are tuples rather than a pyarrow expression."""
    # Accessing `pc.Expression` would import pyarrow.compute.
    return isinstance(filters, (list, tuple))


def clauses_of(filters: Filters) -> Clauses:
    """Filters in disjunctive normal form: an OR of lists, each an AND of conditions."""
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
    if type(value) is int:
        value = _scalar(value)  # Arrow would compare integers of uint64 as int64
    elif type(value) is list and value and all(type(item) is int for item in value):
        value = array_of(value)
    return OPERATORS[operator](pc.field(column), value)


def unknown_column(error: pa.ArrowException) -> str | None:
    """The column that an expression uses and the table lacks, if the error says so."""
    found = re.search(r"No match for FieldRef\.(?:Nested\(FieldRef\.)?Name\((.*?)\)", str(error), re.DOTALL)
    return found[1] if found else None


def _required(filters: Filters) -> Any:
    """The filters, checked to be a pyarrow expression."""
    if filters is not None and type(filters).__name__ != "Expression":
        raise ArgumentError("filters", filters, _EXPECTED)
    return filters


def identity_of(filters: Filters) -> Any:
    """The identity of filters, the same in every process."""
    if filters is None or is_written_out(filters):
        return filters and clauses_of(filters)
    _required(filters)
    # The text of an expression abbreviates long lists.
    _, (serialized, *_) = filters.__reduce__()
    return str(filters), serialized.to_pybytes()


def mask_of(table: pa.Table, clauses: Clauses) -> pa.ChunkedArray:
    """Whether each row matches the clauses; null where that is unknown.

    Calls kernels directly: an expression would import pyarrow.dataset and pandas, which takes longer than reading
    most files.
    """
    met = [reduce(_both, (_met(table[name], *rest) for name, *rest in clause)) for clause in clauses]
    return reduce(_either, met)


def _both(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.call("and_kleene", left, right)


def _either(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.call("or_kleene", left, right)


def _met(column: pa.ChunkedArray, operator: str, value: Any) -> pa.ChunkedArray:
    if operator in _KERNELS:
        return pc.call(_KERNELS[operator], column, _scalar(value))
    found = pc.is_in(column, value_set=array_of(value).cast(column.type))
    return found if operator == "in" else pc.invert(found)


def array_of(values: Sequence[Any]) -> pa.Array:
    """Values as an array, without importing pandas for plain values; `pa.array` always imports it."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return _integers(values, pa.int64(), pa.uint64())
    if kinds == {float}:
        return _of_buffers(pa.float64(), len(values), np.array(values, dtype=np.float64))
    return texts(values) if kinds == {str} else pa.array(values)


def _scalar(value: Any) -> pa.Scalar:
    """A value to compare with a column. Integers have no sign if they can be: Arrow compares those with both kinds."""
    unsigned = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    is_natural = type(value) is int and value >= 0
    return (_integers([value], *unsigned) if is_natural else array_of([value]))[0]


def _integers(values: Sequence[int], *kinds: pa.DataType) -> pa.Array:
    """Integers as the first of the types that holds them."""
    low, high = min(values), max(values)
    for kind in kinds:
        limits = np.iinfo(str(kind))
        if limits.min <= low and high <= limits.max:
            return _of_buffers(kind, len(values), np.array(values, dtype=str(kind)))
    raise ArgumentError("filters", values, "no column holds integers of more than 64 bits.")


def _of_buffers(kind: pa.DataType, length: int, values: Any) -> pa.Array:
    return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(values)])
