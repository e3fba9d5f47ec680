"""Pruning by the statistics in Parquet footers: which row groups cannot hold a row that meets a condition.

Conditions are clauses: a list of lists of `(column, operator, value)`. Within a list all must hold; one of the lists
must. Only comparisons that all engines define alike are evaluated; anything else may match.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from crucible_datasets.formats.filters import Clauses

ALWAYS: Clauses = [[]]
_MOST_CLAUSES = 64
_COMPARABLE = (int, str, datetime.date)


def both(left: Clauses, right: Clauses) -> Clauses:
    """The clauses that hold where both do."""
    if len(left) * len(right) > _MOST_CLAUSES:
        return left
    return [[*first, *second] for first, second in product(left, right)]


def either(left: Clauses, right: Clauses) -> Clauses:
    """The clauses that hold where one of them does."""
    return [*left, *right]


def groups_left(metadata: Any, clauses: Clauses) -> set[int]:
    """The row groups of a file that may hold rows which meet the clauses."""
    leaves = _flat_leaves(metadata)
    judged = [[(leaves[name], *rest) for name, *rest in clause if name in leaves] for clause in clauses]
    return {group for group in range(metadata.num_row_groups) if _may_match(metadata.row_group(group), judged)}


def _flat_leaves(metadata: Any) -> dict[str, int]:
    """The index of each column that is not nested, by name."""
    paths = [metadata.schema.column(index).path for index in range(metadata.num_columns)]
    flat = [metadata.schema.column(index).max_repetition_level == 0 for index in range(len(paths))]
    return {path: index for index, path in enumerate(paths) if flat[index] and paths.count(path) == 1}


def _may_match(group: Any, clauses: Iterable[Sequence[Any]]) -> bool:
    return any(all(not _ruled_out(group, *condition) for condition in clause) for clause in clauses)


def _ruled_out(group: Any, leaf: int, operator: str, value: Any) -> bool:
    if leaf >= group.num_columns:
        return False
    column = group.column(leaf)
    found = column.statistics
    if found is None or not found.has_min_max:
        return False
    low, high = found.min, found.max
    # Engines cast float32 differently before comparing.
    if type(low) is float and column.physical_type != "DOUBLE":
        return False
    return _outside(operator, value, low, high)


def _outside(operator: str, value: Any, low: Any, high: Any) -> bool:
    """Whether the comparison is false for all numbers from `low` to `high`; False if types differ or for NaN."""
    if operator == "in":
        return all(_outside("=", one, low, high) for one in value)
    if not _alike(value, low):
        return False
    match operator:
        case "=" | "==":
            return bool(value < low or value > high)
        case "<":
            return bool(low >= value)
        case "<=":
            return bool(low > value)
        case ">":
            return bool(high <= value)
        case ">=":
            return bool(high < value)
    # Values outside the statistics, such as NaN, are unequal to all others.
    return False


def _alike(value: Any, bound: Any) -> bool:
    if type(bound) is float:
        # Larger integers are rounded before comparison with floats.
        return type(value) is float or (type(value) is int and abs(value) <= 1 << 53)
    return type(value) is type(bound) and type(bound) in _COMPARABLE
