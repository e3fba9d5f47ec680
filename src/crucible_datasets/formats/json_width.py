"""JSON whose rows have few keys each and many together: a table of it would be gaps, and cost time and memory for each.

A megabyte of such rows becomes fifty gigabytes. So keys are looked at before Arrow reads them: in a few spots first,
and only where each spot has keys that no other has, in all of the text.
"""

from __future__ import annotations

import re

from crucible_datasets import config

_KEY = re.compile(rb'"(?:[^"\\]|\\.)*+"\s*+:')
_CELL = 8  # bytes that a gap takes
_SPOTS, _SPOT = 8, 1024  # places of a piece that are looked at first, and bytes of each
_FEW = 4  # keys that only some rows of any file have


def gaps_in(text: bytes, size: int) -> tuple[int, int] | None:
    """Of the first `size` bytes that would need too much memory as a table: how many rows and keys. None if none do."""
    for start in range(0, len(text), size):
        stop = min(start + size, len(text))
        if _has_new_keys_everywhere(text, start, stop):
            rows, keys = text.count(b"\n", start, stop) + 1, text.count(b":", start, stop)
            if _too_many(rows, keys) and _too_many(rows, keys := len(set(_KEY.findall(text, start, stop)))):
                return rows, keys
    return None


def _too_many(rows: int, keys: int) -> bool:
    return rows * keys * _CELL > config.MAX_DECODED_BYTES


def _has_new_keys_everywhere(text: bytes, start: int, stop: int) -> bool:
    spots = range(start, stop, max(1, (stop - start) // _SPOTS))
    found = [set(_KEY.findall(text, spot, min(spot + _SPOT, stop))) for spot in spots]
    return len(set[bytes]().union(*found[-2:]).difference(*found[:-2])) > _FEW
