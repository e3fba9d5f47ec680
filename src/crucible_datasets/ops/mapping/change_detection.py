"""Detecting whether a function has changed nested values in place.

Lists and dicts of a column are built from its leaves, which are immutable. So values that still have the same shape and
the identical objects (or equal strings) at their leaves have not changed. The check costs a tenth of encoding them
again.
"""

from __future__ import annotations

from itertools import chain, pairwise
from operator import is_, itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.storage import offsets_of
from crucible_datasets.outputs.python import collector_paused

Trace = tuple[Any, ...]
UNKNOWN: Trace = ("unknown",)
_NONE = type(None)


def decoded(column: pa.ChunkedArray) -> tuple[list[Any], Trace]:
    """The values of a column, and a trace of their leaves."""
    if not pa.types.is_nested(column.type):
        values = column.to_pylist()
        return values, ("texts" if is_text(column.type) else "leaves", values.copy())
    with collector_paused():
        parts = [_taken(chunk) for chunk in column.chunks if len(chunk)]
    if len(parts) == 1:
        return parts[0]
    values = list(chain.from_iterable(part for part, _ in parts))
    return values, trace(values)


def _taken(array: pa.Array) -> tuple[list[Any], Trace]:
    if pa.types.is_struct(array.type) and not array.null_count and array.type.num_fields:
        return _records(array)
    if (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) and not array.null_count:
        return _lists(array)
    values = array.to_pylist()
    if pa.types.is_nested(array.type):
        return values, trace(values)
    # The list of leaves is never handed out, so nobody changes it.
    return values, ("texts" if is_text(array.type) else "leaves", values)


def _lists(array: pa.Array) -> tuple[list[Any], Trace]:
    items, inside = _taken(array.flatten())
    offsets = offsets_of(array)
    bounds = (offsets - offsets[0]).tolist()
    return [items[start:stop] for start, stop in pairwise(bounds)], ("lists", np.diff(offsets).tolist(), inside)


def _records(array: pa.Array) -> tuple[list[Any], Trace]:
    names = tuple(field.name for field in array.type)
    fields = [_taken(child) for child in array.flatten()]
    columns = [values for values, _ in fields]
    if len(set(names)) < len(names):
        values = array.to_pylist()
        return values, trace(values)
    return _dicts(names, columns), ("records", names, [inside for _, inside in fields])


def _dicts(names: tuple[str, ...], columns: list[list[Any]]) -> list[dict[str, Any]]:
    if len(names) == 2:  # chat messages: three times as fast as the general case
        first, second = names
        return [{first: one, second: two} for one, two in zip(*columns, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def trace(values: list[Any]) -> Trace:
    """The trace of values, computed from the values themselves."""
    kinds = set(map(type, values))
    if kinds == {list, _NONE}:
        present = [value for value in values if value is not None]
        return "gaps", [value is None for value in values], trace(present)
    if kinds == {dict, _NONE}:
        present = [value for value in values if value is not None]
        return "gaps", [value is None for value in values], trace(present)
    if kinds == {list}:
        return "lists", list(map(len, values)), trace(list(chain.from_iterable(values)))
    if kinds == {dict}:
        return _of_records(values)
    if kinds & {list, dict, tuple}:
        return UNKNOWN
    return "texts" if kinds <= {str, _NONE} else "leaves", values.copy()


def _of_records(values: list[Any]) -> Trace:
    names = tuple(values[0])
    if set(map(len, values)) != {len(names)}:
        return UNKNOWN
    try:
        return "records", names, [trace(list(map(itemgetter(name), values))) for name in names]
    except KeyError:
        return UNKNOWN


def is_unchanged(before: Trace, values: list[Any]) -> bool:
    """Whether values still match their trace; False if that is not certain."""
    match before:
        case ("texts", texts):
            return bool(values == texts)
        case ("leaves", leaves):
            return len(values) == len(leaves) and all(map(is_, values, leaves))
        case ("lists", lengths, inside):
            alike = not values or set(map(type, values)) == {list}
            return (
                alike and list(map(len, values)) == lengths and is_unchanged(inside, list(chain.from_iterable(values)))
            )
        case ("records", names, fields):
            return _are_records(values, names, fields)
        case ("gaps", missing, inside):
            if [value is None for value in values] != missing:
                return False
            return is_unchanged(inside, [value for value in values if value is not None])
    return False


def _are_records(values: list[Any], names: tuple[str, ...], fields: list[Trace]) -> bool:
    if values and set(map(type, values)) != {dict}:
        return False  # an empty text has no other keys than an empty dict
    try:
        columns = (list(map(itemgetter(name), values)) for name in names)
        same = all(map(is_unchanged, fields, columns))
    except KeyError:
        return False
    return same and sum(map(len, values)) == len(names) * len(values)  # none has other keys
