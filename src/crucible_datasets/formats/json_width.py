"""Detects JSON whose rows have few keys each but very many together: a table of it would consist of nulls.

A megabyte of such rows can become fifty gigabytes. So keys are counted before Arrow reads the text: first in a few
samples, and in the whole text only if the last samples have keys that the first ones lack.
"""

from __future__ import annotations

import re

from crucible_datasets import config

_KEY = re.compile(rb'"(?:[^"\\]|\\.)*+"\s*+:')
_CELL = 8  # bytes of a null in a table
_SPOTS, _SPOT = 8, 1024  # samples of a block, and bytes of each
_FEW = 4  # new keys in the last samples that are normal in any file


def gaps_in(text: bytes, size: int) -> tuple[int, int] | None:
    """The numbers of rows and keys of the first `size` bytes, if they need too much memory as a table; else None."""
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
