"""Cheap tests on string columns, which look only at the data and offset buffers.

They are done before a kernel that hashes or searches every value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.formats.arrow_text import word_set

_LONG = 64  # bytes from which hashing a value takes longer than skipping it


def may_hold_bytes(column: pa.ChunkedArray, letters: bytes) -> bool:
    """Whether any of the characters may be in the column; bytes under nulls count as well."""
    return any(len(data.translate(None, letters)) < len(data) for data in map(_data, column.chunks))


def surely_lacks(column: pa.ChunkedArray, words: tuple[str, ...]) -> bool:
    """Whether no value is one of the words; only looked for where values are long, and False otherwise."""
    if column.nbytes < _LONG * len(column):
        return False
    known, longest = word_set(words), max(len(word.encode()) for word in words)
    short = (pc.call("filter", chunk, _at_most(chunk, longest)) for chunk in column.chunks if len(chunk))
    return not any(pc.call("any", pc.call("is_in", found, value_set=known)).as_py() for found in short)


def _at_most(array: pa.Array, longest: int) -> pa.Array:
    mask = np.packbits(np.diff(_ends(array)) <= longest, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(array), [None, pa.py_buffer(mask)])


def _data(array: pa.Array) -> bytes:
    if not len(array) or array.buffers()[2] is None:
        return b""
    ends = _ends(array)
    return bytes(memoryview(array.buffers()[2])[ends[0] : ends[-1]])


def _ends(array: pa.Array) -> npt.NDArray[Any]:
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array) + 1]
