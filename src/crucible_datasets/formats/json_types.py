"""Types that a later part of a JSON file may contradict, and the types that are used then.

Arrow reads text that looks like a date as a timestamp. A later row may show that the column is text, or that texts
such as "12" are mixed with numbers. Neither can be undone once values are read, so such columns are read ahead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ValueTypeError
from crucible_datasets.features import jsontext
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.storage import storage_type
from crucible_datasets.features.types import LargeList, List, Value

_SAMPLE = 1000


def has_time(arrow: pa.DataType) -> bool:
    """Whether a type contains timestamps."""
    if pa.types.is_struct(arrow):
        return any(has_time(field.type) for field in arrow)
    return has_time(arrow.value_type) if is_list(arrow) else pa.types.is_timestamp(arrow)


def with_text(arrow: pa.DataType) -> pa.DataType:
    """The type with strings in place of timestamps."""
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, with_text(field.type)) for field in arrow])
    if is_list(arrow):
        return pa.list_(with_text(arrow.value_type))
    return pa.string() if pa.types.is_timestamp(arrow) else arrow


def holds_json_texts(column: pa.ChunkedArray) -> bool:
    """Whether texts anywhere in a column look like JSON, judged by a sample."""
    return any(_all_json(texts) for chunk in column.chunks for texts in _texts(chunk))


def _texts(array: pa.Array) -> Iterator[pa.Array]:
    if is_list(array.type):
        yield from _texts(array.flatten())
    elif pa.types.is_struct(array.type):
        for index in range(array.type.num_fields):
            yield from _texts(pc.struct_field(array, [index]))
    elif pa.types.is_string(array.type):
        yield array


def _all_json(texts: pa.Array) -> bool:
    present = (text.as_py() for text in texts if text.is_valid)
    first = next(present, None)
    return first is not None and jsontext.is_json(first) and all(map(jsontext.is_json, islice(present, _SAMPLE)))


def readable_type(feature: Any) -> pa.DataType | None:
    """The Arrow type that a feature can be parsed as directly; None if values must be parsed first and cast then."""
    return storage_type(feature) if _is_readable(feature) else None


def _is_readable(feature: Any) -> bool:
    if isinstance(feature, dict):
        return bool(feature) and all(map(_is_readable, feature.values()))
    if isinstance(feature, List):
        return feature.length < 0 and _is_readable(feature.feature)
    if isinstance(feature, LargeList) or not isinstance(feature, Value):
        return False
    kind = feature.pa_type
    return pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind) or kind == pa.float64()


def require_whole(values: Sequence[Any], feature: Any, column: str) -> None:
    """Raise for numbers with a fraction in an integer column, as Arrow does; Python would truncate them."""
    for row, value in enumerate(values):
        if (found := _fraction(value, feature)) is not None:
            raise ValueTypeError(column, row, str(found), str(feature), "it is no whole number.")


def _fraction(value: Any, feature: Any) -> float | None:
    if isinstance(feature, dict):
        inner = [(value.get(name), kind) for name, kind in feature.items()] if isinstance(value, dict) else []
    elif isinstance(feature, (List, LargeList)):
        inner = [(item, feature.feature) for item in value] if isinstance(value, list) else []
    elif isinstance(value, float) and isinstance(feature, Value) and pa.types.is_integer(feature.pa_type):
        return None if value.is_integer() else value
    else:
        return None
    return next((found for one in inner if (found := _fraction(*one)) is not None), None)
