"""Layout of text on a terminal: widths of characters, clipping, widths of columns."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence

from crucible_datasets.cli.escaping import on_one_line, transliterated

GAP = "  "
# Default width, as in a pipe.
_WIDTH = 120
_NARROWEST = 12


def terminal_width() -> int:
    """The width of the terminal in columns."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


def width_of(text: str) -> int:
    """The width of a text in columns.

    >>> width_of("ab"), width_of("世界")
    (2, 4)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """The beginning of a text that fits, with … if it was cut.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    if width_of(text) <= width:
        return text
    end = transliterated("…")[:width]
    taken, room = [], width - len(end)
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        taken.append(character)
    return "".join(taken) + end


def cell(value: object, most: int = 2000) -> str:
    """A value on one escaped line; long texts are cut before they are escaped."""
    text = value if isinstance(value, str) else str(value)
    return on_one_line(text[:most]) + "…" if len(text) > most else on_one_line(text)


def padded(text: str, width: int, right: bool = False) -> str:
    """The text, clipped and padded to exactly this width."""
    text = clipped(text, width)
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def fitted(widths: Sequence[int], keep: Sequence[bool], room: int) -> list[int] | None:
    """Widths of columns that fit into `room`: the widest are cut first, those in `keep` never; None if impossible.

    >>> fitted([4, 50, 10], [True, False, False], 40)
    [4, 22, 10]
    """
    fit = list(widths)
    shrinking = [at for at in range(len(fit)) if not keep[at] and fit[at] > _NARROWEST]
    excess = sum(fit) + len(GAP) * (len(fit) - 1) - room
    while excess > 0 and shrinking:
        widest = max(shrinking, key=lambda at: fit[at])
        fit[widest] -= 1
        excess -= 1
        if fit[widest] <= _NARROWEST:
            shrinking.remove(widest)
    return None if excess > 0 else fit


def aligned(
    heading: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], keep: Sequence[bool], room: int
) -> list[str]:
    """A table with a heading; columns are as wide as their widest cell, if there is room.

    If columns do not fit, each row becomes several lines, one per cell.
    """
    widths = [max(map(width_of, column)) for column in zip(heading, *rows, strict=True)]
    fit = fitted(widths, keep, room)
    if fit is None:
        return [line for row in rows for line in stacked(heading, row, room)]
    lines = [[padded(*each) for each in zip(row, fit, right, strict=True)] for row in (heading, *rows)]
    rule = ["─" * width for width in fit]
    return [GAP.join(line).rstrip() for line in (lines[0], rule, *lines[1:])]


def stacked(names: Sequence[str], cells: Sequence[str], room: int, most_lines: int = 4) -> list[str]:
    """A row as one line per cell, with its name; the terminal wraps long lines."""
    width = min(max(map(width_of, names), default=0), max(room // 3, 1))
    rest = max(room - width - len(GAP), 1)
    pairs = zip(names, cells, strict=True)
    return [
        f"{padded(name, width)}{GAP}{clipped(text, most_lines * rest)}".rstrip() for name, text in pairs if text
    ] + [""]
