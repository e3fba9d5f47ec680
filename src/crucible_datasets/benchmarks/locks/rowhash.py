"""The hash of any dataset's rows: it depends on what they hold, and not on how or where they are stored."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import msgspec
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.embed import embedded

_lines = msgspec.json.Encoder(order="sorted").encode_lines
_ROWS_AT_ONCE = 1024


def rows_hash(rows: Any) -> tuple[str, int]:
    """The SHA-256 of all rows in their order, each as one line of canonical JSON, and how many they are.

    Files that media name are read, and count with their bytes and their last name.
    """
    digest, count = hashlib.sha256(), 0
    for table in rows.with_format("arrow").iter(_ROWS_AT_ONCE):
        whole = table if rows.features is None else embedded(table, rows.features)
        values = whole.to_pylist()
        # JSON has no NaN, and would have null for it.
        if any(_is_wild(chunk) for column in whole.columns for chunk in column.chunks):
            values = _spelled(values)
        digest.update(_lines(values))
        count += whole.num_rows
    return digest.hexdigest(), count


def _is_wild(array: pa.Array) -> bool:
    """Whether there is a number among the values that is not finite."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _is_wild(array.storage)
    if pa.types.is_floating(kind):
        return bool(pc.any(pc.invert(pc.is_finite(array))).as_py())
    if pa.types.is_struct(kind):
        return any(map(_is_wild, array.flatten()))
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return is_list and _is_wild(array.flatten())


def _spelled(value: Any) -> Any:
    """The value with words for numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    return {name: _spelled(each) for name, each in value.items()} if isinstance(value, dict) else value
