"""The hash of any dataset's rows: it depends on what they hold, and not on how or where they are stored."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

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
        digest.update(_lines(whole.to_pylist()))
        count += whole.num_rows
    return digest.hexdigest(), count
