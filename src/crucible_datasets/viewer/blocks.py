"""The number of rows to read at a time, so that a block is small however large rows are."""

from __future__ import annotations

from typing import Any

_BYTES_AT_ONCE = 16 * 2**20
_LOOKED_AT = 64


def rows_at_once(rows: Any, most: int) -> int:
    """At most `most` rows, fewer if the first rows are large."""
    first = rows.select(range(min(len(rows), _LOOKED_AT))).with_format("arrow")[:]
    return max(1, min(most, _BYTES_AT_ONCE * len(first) // max(first.nbytes, 1)))
