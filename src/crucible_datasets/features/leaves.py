"""Plain Python values → Arrow arrays, built from their buffers.

`pa.array` of a list imports pandas first, wherever it is installed: a third of a second for programs that never
use it. Numbers and texts of one kind, with or without None, do not need it; all others are left to Arrow, and so are
very many, because Arrow is faster once pandas is there (a text takes it 0.05 µs instead of 0.2).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import repeat
from operator import is_not
from typing import Any

import numpy as np
import pyarrow as pa

_WORTH_AN_IMPORT = 2_000_000  # values that take as much longer as the import
_LONG_TEXT = 4 << 20  # characters at once; Arrow copies them less often
_spared = 0


def pays_off(values: list[Any]) -> bool:
    """Whether pandas is worth avoiding: not imported yet, and not more values than its import costs."""
    global _spared
    if "pandas" in sys.modules or _spared > _WORTH_AN_IMPORT:
        return False
    _spared += len(values)
    return True


def leaves_of(values: list[Any], arrow: pa.DataType | None = None) -> pa.Array | None:
    """Values of one plain kind as an array, of the given type if any; None when they are not, or are of another."""
    kinds = set(map(type, values))
    nullable = type(None) in kinds
    kinds.discard(type(None))
    build = _BUILDERS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if build is None:
        return None
    try:
        found = build(values, _validity(values) if nullable else None)
    except (OverflowError, UnicodeEncodeError):
        return None  # Arrow says what is wrong, or knows a wider type
    return found if found is None or arrow in (None, found.type) else None


def _validity(values: list[Any]) -> pa.Buffer:
    present = np.fromiter(map(is_not, values, repeat(None)), dtype=np.bool_, count=len(values))
    return pa.py_buffer(np.packbits(present, bitorder="little"))


def _numbers(kind: Any, arrow: pa.DataType, values: list[Any], validity: pa.Buffer | None) -> pa.Array:
    filled = values if validity is None else [0 if value is None else value for value in values]
    data = np.fromiter(filled, dtype=kind, count=len(filled))
    return pa.Array.from_buffers(arrow, len(values), [validity, pa.py_buffer(data)])


def _integers(values: list[Any], validity: pa.Buffer | None) -> pa.Array:
    return _numbers(np.int64, pa.int64(), values, validity)


def _floats(values: list[Any], validity: pa.Buffer | None) -> pa.Array:
    return _numbers(np.float64, pa.float64(), values, validity)


def _booleans(values: list[Any], validity: pa.Buffer | None) -> pa.Array:
    data = np.packbits(np.fromiter(map(bool, values), dtype=np.bool_, count=len(values)), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [validity, pa.py_buffer(data)])


def _texts(values: list[Any], validity: pa.Buffer | None) -> pa.Array | None:
    filled = values if validity is None else [value or "" for value in values]
    text = "".join(filled)
    if len(text) > _LONG_TEXT:
        return None
    data = text.encode()
    lengths = map(len, filled) if len(data) == len(text) else map(len, map(str.encode, filled))
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(lengths, dtype=np.int32, count=len(values)), out=offsets[1:])
    return pa.Array.from_buffers(pa.string(), len(values), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


_BUILDERS: dict[type, Callable[[list[Any], pa.Buffer | None], pa.Array | None]] = {
    int: _integers,
    float: _floats,
    bool: _booleans,
    str: _texts,
}
