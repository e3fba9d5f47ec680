"""How many rows are read at once: so many that they fit into a little memory, however long their texts are."""

from __future__ import annotations

from typing import Any

_BYTES_AT_ONCE = 16 * 2**20
_LOOKED_AT = 64


def rows_at_once(rows: Any, most: int) -> int:
    """At most so many, fewer where rows are large, as the first of them say."""
    held = rows.select(range(min(len(rows), _LOOKED_AT))).with_format("arrow")[:]
    return max(1, min(most, _BYTES_AT_ONCE * len(held) // max(held.nbytes, 1)))
