"""Normalization of non-ASCII texts: lower case, words separated by blanks.

It works on arrays of code points: regular expressions with Unicode classes take 50 times as long.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Codes = npt.NDArray[np.uint32]
_BETWEEN, _PART, _WORD, _MARK = range(4)  # not part of a word; part of one; a word by itself; combining mark
_END = "\ue000"
_LAST = 0x323B0  # the last code point of a letter
# Han, kana, Thai, Lao, Myanmar, Khmer: scripts without blanks between words.
_WITHOUT_BLANKS = (
    *((0x2E80, 0x2FE0), (0x3005, 0x3008), (0x3021, 0x302A), (0x3041, 0x3100), (0x31F0, 0x3200), (0x3400, 0x4DC0)),
    *((0x4E00, 0xA000), (0xF900, 0xFB00), (0xFF66, 0xFFA0), (0x20000, 0x323B0)),
    *((0x0E00, 0x0F00), (0x1000, 0x10A0), (0xA9E0, 0xAA00), (0xAA60, 0xAA80), (0x1780, 0x1800), (0x19E0, 0x1A00)),
)


def spaced(texts: pa.Array) -> pa.Array:
    """The texts in lower case, with blanks in place of other characters and around words of one character."""
    # A separator between the texts, so that they do not influence each other.
    joined = "".join(f"{text.replace(_END, ' ')}{_END}" for text in texts.to_pylist())
    codes = np.frombuffer(unicodedata.normalize("NFKC", joined).casefold().encode("utf-32-le"), np.uint32)
    kinds = _kinds()[np.minimum(codes, _LAST)]
    begins, ends = np.flatnonzero(_begins(kinds)), np.flatnonzero(codes == ord(_END)) + 1
    made = np.insert(np.where(kinds == _BETWEEN, np.uint32(32), codes), begins, np.uint32(32))
    return _texts(made, np.append(0, ends + np.searchsorted(begins, ends)))


def _begins(kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Where a word begins directly after another, so that a blank must be inserted."""
    begins = kinds == _WORD
    if not begins.any():
        return begins
    # A combining mark has the kind of its letter.
    places = np.arange(len(kinds), dtype=np.int32)
    letter = kinds[np.maximum.accumulate(np.where(kinds == _MARK, np.int32(0), places))]
    begins[1:] |= (kinds[1:] == _PART) & (letter[:-1] == _WORD)
    return begins


def _texts(codes: Codes, starts: npt.NDArray[np.int64]) -> pa.Array:
    """The texts that begin at these positions of the code points."""
    sizes = (codes > 0x7F).view(np.uint8) + (codes > 0x7FF) + (codes > 0xFFFF) + np.uint8(1)
    offsets = np.append(0, np.cumsum(np.add.reduceat(sizes, starts[:-1], dtype=np.int64)))
    data = codes.tobytes().decode("utf-32-le").encode()
    return pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """The kind of every code point."""
    kinds = np.zeros(_LAST + 1, np.uint8)
    for code in range(_LAST):
        group = unicodedata.category(chr(code))[0]
        kinds[code] = _PART if group in "LN" else _MARK if group == "M" else _BETWEEN
    for first, last in _WITHOUT_BLANKS:
        part = kinds[first:last]
        part[part == _PART] = _WORD
    return kinds
