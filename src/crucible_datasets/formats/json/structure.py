"""The structure of JSON text, found by scanning its bytes, without parsing: lines, nesting, elements of arrays, keys.

Parsers recurse, and text that nests deeply enough crashes the process, so depth is measured first. The same scan
finds the elements of an array, so that an array of any size becomes JSON Lines, block by block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError

_QUOTE, _COMMA, _LINE = 2, 3, 4
_KINDS = bytearray(256)
for _characters, _kind in ((b"[{", 1), (b"]}", 255), (b'"', _QUOTE), (b",", _COMMA), (b"\n", _LINE)):
    for _character in _characters:
        _KINDS[_character] = _kind
_TABLE = bytes(_KINDS)
_MANY_LINES = 1 << 16  # bytes
_STEP = 1 << 18  # bytes scanned at a time, so that intermediate arrays stay in the CPU cache
_NONE = np.empty(0, dtype=np.int64)
_NULL_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*null")
# One expression for both takes forty times as long, and blank lines within it the square of their number.
_NULL_LINES = re.compile(rb"\n[^\S\n]*+null"), re.compile(rb"\r[^\S\r]*+null")

_KEY = re.compile(rb'"(?:[^"\\]|\\.)*+"\s*+:')
_CELL = 8  # bytes of a null in a table
_SPOTS, _SPOT = 8, 1024  # samples of a block, and bytes of each
_FEW = 4  # new keys in the last samples that are normal in any file


@dataclass
class Place:
    """The state of the scan after some bytes: the depth, and whether it is inside a string."""

    depth: int = 0
    quoted: bool = False


def structure(text: bytes, place: Place) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, kinds and depths of the brackets, commas and line ends outside strings; moves `place` to the end."""
    if b"\\" in text:
        # Escaped characters are overwritten, so that positions stay the same.
        text = text.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    kinds = np.frombuffer(text.translate(_TABLE), np.int8)
    at = np.flatnonzero(kinds)
    kinds = kinds[at]
    quotes = kinds == _QUOTE
    inside = (np.cumsum(quotes) + place.quoted) & 1 == 1
    outside = ~(inside | quotes)
    if len(inside):
        place.quoted = bool(inside[-1])
    at, kinds = at[outside], kinds[outside]
    depths = place.depth + np.cumsum(np.where(np.abs(kinds) == 1, kinds, 0), dtype=np.int64)
    if len(depths):
        place.depth = int(depths[-1])
    return at, kinds, depths


@dataclass(frozen=True)
class Lines:
    """Where lines end, the length of the longest, whether every line is an object, and whether any begins with null."""

    bounds: np.ndarray
    longest: int
    one_object_each: bool
    has_nulls: bool


def lines_of(text: bytes) -> Lines:
    """The lines of a text."""
    characters = np.frombuffer(text, np.uint8)
    ends = np.concatenate(
        [np.flatnonzero(characters[at : at + _STEP] == 10) + at for at in range(0, len(text), _STEP)] or [_NONE]
    )
    bounds = np.concatenate(([-1], ends, [len(text)]))
    inner = ends[(ends > 1) & (ends < len(text) - 1)]
    before = np.where(characters[inner - 1] == 13, characters[inner - 2], characters[inner - 1])
    one_object_each = bool(np.all(before == 125) and np.all(characters[inner + 1] == 123))
    all_objects = one_object_each and text.startswith(b"{") and not _has_lone_returns(text)
    return Lines(bounds, int(np.diff(bounds).max()), one_object_each, not all_objects and has_null_line(text))


def _has_lone_returns(text: bytes) -> bool:
    """Whether some lines end with a lone carriage return, which ends a line for Arrow."""
    return b"\r" in text and text.count(b"\r") != text.count(b"\r\n")


def has_null_line(text: bytes) -> bool:
    """Whether a line begins with null."""
    return bool(_NULL_FIRST.match(text)) or any(pattern.search(text) for pattern in _NULL_LINES)


def check_depth(text: bytes, limit: int, lines: Lines, name: str) -> None:
    """Raise if text nests deeper than `limit`."""
    # A level takes two bytes, and if every line is an object, nothing nests across lines, so most text is too short
    # to be deep.
    if lines.one_object_each and lines.longest < 2 * limit:
        return
    bounds = lines.bounds if lines.one_object_each else np.array([-1, len(text)])
    # Counting opening brackets of many lines at once takes a third of the time of checking each line.
    few = np.unique(np.append(np.searchsorted(bounds, np.arange(-1, len(text), _MANY_LINES)), len(bounds) - 1))
    characters = np.frombuffer(text, np.uint8)
    for first, last in zip(few[:-1].tolist(), few[1:].tolist(), strict=True):
        start, stop = int(bounds[first]) + 1, int(bounds[last])
        if np.count_nonzero(_opening(characters[start:stop])) > limit:
            _check_lines(text, bounds[first : last + 1], limit, name)


def _opening(characters: np.ndarray) -> np.ndarray:
    # "[" and "{" differ in one bit, and no other byte has the same other bits.
    return (characters | 0x20) == 0x7B


def _check_lines(text: bytes, bounds: np.ndarray, limit: int, name: str) -> None:
    start = int(bounds[0]) + 1
    opening = np.flatnonzero(_opening(np.frombuffer(text[start : bounds[-1]], np.uint8))) + start
    opened = np.diff(np.searchsorted(opening, bounds))
    for line in np.flatnonzero(opened > limit):
        _, _, depths = structure(text[bounds[line] + 1 : bounds[line + 1]], Place())
        if len(depths) and depths.max() > limit:
            raise too_deep(name, limit)


def too_deep(name: str, limit: int) -> LimitExceededError:
    return LimitExceededError(name, "the nesting of the JSON text", limit, "max_depth")


def array_as_lines(blocks: Iterator[bytes], limit: int, name: str) -> Iterator[bytes]:
    """A JSON array as one line per element. Every byte keeps its offset, so that errors can name it."""
    place, offset, has_comma = Place(), 0, False
    unfinished: list[bytes] = []  # of an element that is longer than a block, joined once
    for block in blocks:
        at, kinds, depths = structure(block, place)
        if len(depths) and depths.max() > limit:
            raise too_deep(name, limit)
        text = np.frombuffer(block, np.uint8).copy()
        text[at[kinds == _LINE]] = 32
        text[at[(kinds == _COMMA) & (depths == 1)]] = 10
        if not offset:
            text[block.index(b"[")] = 32
        end = _end_of_array(kinds, depths)
        if end is not None:
            lines = b"".join([*unfinished, text[: at[end]].tobytes()])
            yield lines
            if (has_comma or b"\n" in lines) and not lines[lines.rfind(b"\n") + 1 :].strip():
                raise FileFormatError(name, "a comma ends the array.", None, offset + int(at[end]))
            _check_blank(block[at[end] + 1 :], name, offset + int(at[end]) + 1)
            for after in blocks:
                _check_blank(after, name, offset + len(block))
            return
        lines = text.tobytes()
        cut = lines.rfind(b"\n") + 1
        if cut:
            has_comma = True
            yield b"".join([*unfinished, lines[:cut]])
            unfinished.clear()
        unfinished.append(lines[cut:])
        offset += len(block)
    rest = b"".join(unfinished)
    if rest.strip():
        yield rest
    raise FileFormatError(name, "the array is not closed.", None, offset)


def _end_of_array(kinds: np.ndarray, depths: np.ndarray) -> int | None:
    found = np.flatnonzero((kinds == -1) & (depths == 0))
    return int(found[0]) if len(found) else None


def _check_blank(text: bytes, name: str, offset: int) -> None:
    if text.strip():
        raise FileFormatError(name, "more text follows the end of the array.", None, offset)


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
