"""Whether objects of a column differ in their keys, found from Arrow's columns and the JSON text.

Arrow reads both a missing key and a null as null. But a key that is in every object occurs in the text that many
times, and counting occurrences is cheaper than parsing again.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.dtypes import is_list

_DEEPEST_TYPE = 50  # Arrow cannot write types that nest deeper than 64


def deep_columns(schema: pa.Schema) -> list[str]:
    """The columns that nest too deeply for an Arrow type."""
    return [field.name for field in schema if _depth(field.type) > _DEEPEST_TYPE]


def uneven_columns(table: pa.Table, text: bytes) -> list[str]:
    """The columns whose objects lack keys that others have, or are empty."""
    if not any(pa.types.is_nested(kind) for kind in table.schema.types):
        return []
    objects: Counter[str] = Counter()
    doubtful: dict[str, set[str]] = defaultdict(set)
    found = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            if not _count(chunk, objects, doubtful[name]):
                found.add(name)
    keys = {key for several in doubtful.values() for key in several}
    missing = {key for key in keys if not _in_all(key, objects[key], table, text)}
    return [name for name in table.column_names if name in found or doubtful[name] & missing]


def _count(array: pa.Array, objects: Counter[str], doubtful: set[str]) -> bool:
    """Count the objects that could have each key, and collect keys with nulls; False if there are empty objects."""
    if is_list(array.type):
        return not pa.types.is_nested(array.type.value_type) or _count(array.flatten(), objects, doubtful)
    if not pa.types.is_struct(array.type):
        return True
    even = array.type.num_fields > 0
    for index, field in enumerate(array.type):
        items = pc.struct_field(array, [index])
        objects[field.name] += len(array) - array.null_count
        if items.null_count > array.null_count:
            doubtful.add(field.name)
        even = _count(items, objects, doubtful) and even
    return even


def _in_all(key: str, objects: int, table: pa.Table, text: bytes) -> bool:
    if key in table.column_names:
        if table[key].null_count:
            return False
        objects += table.num_rows
    return text.count(json.dumps(key, ensure_ascii=False).encode() + b":") == objects


def _depth(arrow: pa.DataType) -> int:
    if pa.types.is_struct(arrow):
        return 1 + max((_depth(field.type) for field in arrow), default=0)
    return 1 + _depth(arrow.value_type) if is_list(arrow) else 0
