"""Plain Python values → Arrow arrays, built from their buffers.

`pa.array` of a list imports pandas, if installed: a third of a second and 40 MB for programs that never use it. Numbers
and strings of one type, with or without None, are converted here without it; all others are left to Arrow. So is
everything once pandas is imported, because then Arrow is faster: a string of 320 letters takes 0.22 µs instead of 0.35.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import repeat
from operator import is_not
from typing import Any

import numpy as np
import pyarrow as pa

_MISSING = ("NAType", "NaTType")
_MOST_BYTES = 2**31 - 1  # addressable by 32-bit offsets


def avoids_pandas() -> bool:
    """Whether pandas is not imported yet."""
    return "pandas" not in sys.modules


def is_pandas(value: Any) -> bool:
    """Whether pandas made a value; without importing it."""
    return type(value).__module__.partition(".")[0] == "pandas"


def is_missing(value: Any) -> bool:
    """Whether a value is one of pandas' markers for missing values."""
    return type(value).__name__ in _MISSING and is_pandas(value)


def leaves_of(values: list[Any], arrow: pa.DataType | None = None) -> pa.Array | None:
    """Values of one plain type as an array, of the given type if any; None if they are not."""
    found = only_texts(values) if values and type(values[0]) is str else None
    if found is None:
        found = _of_one_kind(values)
    return found if found is None or arrow in (None, found.type) else None


def only_texts(values: list[Any]) -> pa.Array | None:
    """The array of values that are all texts, else None."""
    # Checking every type takes half as long as the conversion, which fails for anything but text anyway.
    try:
        return _texts(values, None)
    except (TypeError, UnicodeEncodeError):
        return None


def _of_one_kind(values: list[Any]) -> pa.Array | None:
    kinds = set(map(type, values))
    nullable = type(None) in kinds
    kinds.discard(type(None))
    build = _BUILDERS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if build is None:
        return None
    try:
        return build(values, _validity(values) if nullable else None)
    except (OverflowError, UnicodeEncodeError):
        return None  # Arrow raises a clear error, or knows a wider type


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
    filled: list[Any] = values if validity is None else [value or "" for value in values]
    if all(map(str.isascii, filled)):
        data = "".join(filled).encode()
    else:  # in a joined string one emoji would make every letter take four bytes
        filled = list(map(str.encode, filled))
        data = b"".join(filled)
    if len(data) > _MOST_BYTES:
        return None
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, filled), dtype=np.int32, count=len(values)), out=offsets[1:])
    return pa.Array.from_buffers(pa.string(), len(values), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


_BUILDERS: dict[type, Callable[[list[Any], pa.Buffer | None], pa.Array | None]] = {
    int: _integers,
    float: _floats,
    bool: _booleans,
    str: _texts,
}
