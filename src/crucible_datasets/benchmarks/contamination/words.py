"""Texts → a 64-bit hash per word, without Python objects for words.

A word is a run of letters and digits, in lower case. In scripts without blanks, each character is a word. Equal words
have equal hashes; two different words collide with a probability of about 2⁻⁵⁴.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc

Numbers = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

# Temporary arrays are 8 times as large as the text; at this size they fit the CPU cache.
_BYTES_AT_ONCE = 1 << 18


class Words(NamedTuple):
    """The word hashes of several texts, concatenated, and the number of words of each text."""

    numbers: Numbers
    per_text: Places


def words_of(texts: pa.Array) -> Words:
    """The words of every text; a null has none."""
    plain = _plain(texts)
    offsets = np.frombuffer(plain.buffers()[1], np.int64, len(plain) + 1, plain.offset * 8)
    data = plain.buffers()[2]
    content = np.frombuffer(data, np.uint8)[: offsets[-1]] if data is not None else np.empty(0, np.uint8)
    parts, starts = [], []
    for first, last in _slices(content, offsets):
        numbers, places = _hashed(content[first:last], offsets, first)
        parts.append(numbers)
        starts.append(places)
    numbers = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    before = np.searchsorted(np.concatenate(starts), offsets) if starts else np.zeros(len(offsets), np.int64)
    return Words(numbers, np.diff(before))


def spelled(text: str) -> list[str]:
    """The words of one text as strings."""
    lowered = _LOWERED[np.frombuffer(_plain(pa.array([text]))[0].as_py().encode(), np.uint8)]
    return [word.decode() for word in lowered.tobytes().split(b"\0") if word]


def _plain(texts: pa.Array) -> pa.Array:
    """The texts, with non-ASCII ones normalized to words separated by blanks."""
    texts = pc.fill_null(texts.cast(pa.large_string()), "")
    ascii_only = pc.string_is_ascii(texts)
    if pc.all(ascii_only).as_py() is not False:
        return texts
    other = pc.invert(ascii_only)
    return pc.replace_with_mask(texts, other, spaced(texts.filter(other)))


def _slices(content: npt.NDArray[np.uint8], offsets: Places) -> Any:
    """Slices of the bytes that begin at the start of a text or between two words."""
    first, end = int(offsets[0]), int(offsets[-1])
    while first < end:
        last = min(first + _BYTES_AT_ONCE, end)
        while last < end and not _is_cut(content, offsets, last):
            last += _next_cut(content, offsets, last)
        yield first, last
        first = last


def _is_cut(content: npt.NDArray[np.uint8], offsets: Places, place: int) -> bool:
    at = int(np.searchsorted(offsets, place))
    return not _LOWERED[content[place]] or bool(offsets[at] == place)


def _next_cut(content: npt.NDArray[np.uint8], offsets: Places, place: int) -> int:
    """The distance to the next boundary between words, at least one byte, within the text."""
    ends = int(offsets[np.searchsorted(offsets, place, side="right")])
    ahead = content[place : min(ends, place + 4096)]
    blanks = np.flatnonzero(_LOWERED[ahead] == 0)
    return int(blanks[0]) if len(blanks) and blanks[0] else len(ahead)


def _hashed(piece: npt.NDArray[np.uint8], offsets: Places, first: int) -> tuple[Numbers, Places]:
    """The hashes of the words in a slice, and the offset of each."""
    lowered = _LOWERED[piece]
    inside = lowered != 0
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    # There is no separator between texts, so each text begins a new word.
    own = offsets[np.searchsorted(offsets, first) : np.searchsorted(offsets, first + len(piece))] - first
    begins[own] = inside[own]
    starts = np.flatnonzero(begins)
    if not len(starts):
        return np.empty(0, np.uint64), starts
    power, inverse = powers(len(piece))
    # Bytes between words count 0, so the sum of a word may extend to the start of the next.
    sums = np.add.reduceat(_VALUES[lowered] * power[: len(piece)], starts)
    return mixed(sums * inverse[starts]), starts + first


def mixed(numbers: Numbers) -> Numbers:
    """The numbers mixed so that every output bit depends on every input bit."""
    numbers = numbers ^ (numbers >> np.uint64(32))
    numbers *= np.uint64(0xD6E8FEB86659FD93)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(0xD6E8FEB86659FD93)
    numbers ^= numbers >> np.uint64(32)
    return numbers


def powers(count: int) -> tuple[Numbers, Numbers]:
    """The first powers of an odd number and of its inverse modulo 2⁶⁴."""
    return _powers(1 << max(count - 1, 1 << 18).bit_length())


@cache
def _powers(count: int) -> tuple[Numbers, Numbers]:
    def of(base: int) -> Numbers:
        factors = np.full(count, base, np.uint64)
        factors[0] = 1
        return np.multiply.accumulate(factors)

    return of(_BASE), of(pow(_BASE, -1, 1 << 64))


def _lowered() -> npt.NDArray[np.uint8]:
    """For every byte its lower case, or 0 if it is not part of a word; non-ASCII bytes are parts of letters."""
    table = np.zeros(256, np.uint8)
    for byte in range(256):
        if byte >= 128 or chr(byte).isalnum():
            table[byte] = ord(chr(byte).lower()) if byte < 128 else byte
    return table


_BASE = 0x9E3779B97F4A7C15
_LOWERED = _lowered()
# Fixed, so that results can be reproduced.
_DRAWN = np.random.Generator(np.random.PCG64(20_261_116)).integers(1, 1 << 64, 256, np.uint64)
_VALUES = np.where(_LOWERED > 0, _DRAWN, np.uint64(0))


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
