"""Sparse members: GNU's header type `S`, and the three versions of PAX records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.webdataset.headers import BLOCK, decimal, number, padded
from crucible_datasets.formats.webdataset.member import Runs
from crucible_datasets.formats.webdataset.window import Window

_MOST_RUNS = 1 << 20
_WIDTH = 12


def runs_of_gnu(block: bytes, window: Window) -> tuple[int, Runs]:
    """The size and the runs of a sparse file, from a header of type `S` and the blocks that follow it."""
    fields, more, size = block[386:482], block[482], number(block[483:495], window)
    runs: list[tuple[int, int]] = []
    while True:
        for start in range(0, len(fields) - 2 * _WIDTH + 1, 2 * _WIDTH):
            entry = fields[start : start + 2 * _WIDTH]
            if entry[0]:
                runs.append((number(entry[:_WIDTH], window), number(entry[_WIDTH:], window)))
        if not more:
            return size, _checked(runs, size, window)
        _require_few(len(runs), window)
        block = window.take(BLOCK)
        fields, more = block[:504], block[504]


def runs_of_pax(records: Sequence[tuple[bytes, bytes]], stored: int, window: Window) -> tuple[int, Runs, int]:
    """The size and the runs of a sparse file, and how many bytes of the member list them, from PAX records."""
    values = dict(records)
    size = decimal(values.get(b"GNU.sparse.realsize") or values.get(b"GNU.sparse.size", b"x"), window)
    if values.get(b"GNU.sparse.major") == b"1":
        numbers, used = _listed(stored, window)
    elif b"GNU.sparse.map" in values:
        numbers, used = [decimal(text, window) for text in values[b"GNU.sparse.map"].split(b",")], 0
    else:
        keys = (b"GNU.sparse.offset", b"GNU.sparse.numbytes")
        numbers, used = [decimal(value, window) for key, value in records if key in keys], 0
    if len(numbers) % 2:
        raise _damaged(window)
    return size, _checked(list(zip(numbers[::2], numbers[1::2], strict=True)), size, window), used


def _listed(stored: int, window: Window) -> tuple[list[int], int]:
    """The numbers before the content, one per line: the number of runs, then offset and length of each."""
    text, wanted = b"", 1
    while text.count(b"\n") < wanted:
        if len(text) + BLOCK > padded(stored):
            raise _damaged(window)
        text += window.take(BLOCK)
        if wanted == 1 and b"\n" in text:
            runs = decimal(text.partition(b"\n")[0], window)
            _require_few(runs, window)
            wanted = 1 + 2 * runs
    return [decimal(line, window) for line in text.split(b"\n")[1:wanted]], len(text)


def filled(stored: bytes, runs: Runs, size: int) -> bytes:
    """The content with its gaps filled with zeros."""
    content, at = bytearray(size), 0
    for start, length in runs:
        content[start : start + length] = stored[at : at + length]
        at += length
    return bytes(content)


def _checked(runs: list[tuple[int, int]], size: int, window: Window) -> Runs:
    ordered = all(start + length <= following for (start, length), (following, _) in pairwise(runs))
    if not ordered or any(start + length > size for start, length in runs):
        raise _damaged(window)
    return tuple(run for run in runs if run[1])


def _require_few(runs: int, window: Window) -> None:
    if runs > _MOST_RUNS:
        raise FileFormatError(window.path, f"a member has more than {_MOST_RUNS} gaps", None, window.position)


def _damaged(window: Window) -> FileFormatError:
    return FileFormatError(window.path, "the list of a member's gaps is damaged", None, window.position)
