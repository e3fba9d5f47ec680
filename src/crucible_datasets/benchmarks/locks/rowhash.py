"""The hash of the rows of any dataset, which depends on their values, not on their storage."""

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
    """The SHA-256 of all rows in order, each as one line of canonical JSON, and the number of rows.

    Files that media refer to are read, and count by their bytes and base names.
    """
    digest, count = hashlib.sha256(), 0
    for table in rows.with_format("arrow").iter(_ROWS_AT_ONCE):
        whole = table if rows.features is None else embedded(table, rows.features)
        values = whole.to_pylist()
        # JSON has no NaN, and it would become null.
        if any(_is_wild(chunk) for column in whole.columns for chunk in column.chunks):
            values = _spelled(values)
        digest.update(_lines(values))
        count += whole.num_rows
    return digest.hexdigest(), count


def _is_wild(array: pa.Array) -> bool:
    """Whether any number is not finite."""
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
    """The value with texts in place of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    return {name: _spelled(each) for name, each in value.items()} if isinstance(value, dict) else value
