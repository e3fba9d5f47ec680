"""How text is laid out on a terminal: how wide characters are, what is cut off, how wide columns may be."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence

from crucible_datasets.cli.escaping import on_one_line, transliterated

GAP = "  "
# Where nobody says how wide the terminal is, as in a pipe.
_WIDTH = 120
_NARROWEST = 12


def terminal_width() -> int:
    """How many columns there are to write in."""
    return shutil.get_terminal_size((_WIDTH, 24)).columns


def width_of(text: str) -> int:
    """How many columns a text takes.

    >>> width_of("ab"), width_of("世界")
    (2, 4)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """As much of a text as fits, with … where it was cut.

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
    """A value on one escaped line; texts of which nothing could be seen are cut before they are worked on."""
    text = value if isinstance(value, str) else str(value)
    return on_one_line(text[:most]) + "…" if len(text) > most else on_one_line(text)


def padded(text: str, width: int, right: bool = False) -> str:
    """The text, clipped and filled to exactly so many columns."""
    text = clipped(text, width)
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def fitted(widths: Sequence[int], keep: Sequence[bool], room: int) -> list[int] | None:
    """Widths of columns that fit into a row, the widest cut first and those to keep never; None if they cannot fit.

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
    """Rows of cells below their heading, each column as wide as its widest cell or as there is room for.

    Where there is no room for all columns, each row becomes lines, one for each of its cells.
    """
    widths = [max(map(width_of, column)) for column in zip(heading, *rows, strict=True)]
    fit = fitted(widths, keep, room)
    if fit is None:
        return [line for row in rows for line in stacked(heading, row, room)]
    lines = [[padded(*each) for each in zip(row, fit, right, strict=True)] for row in (heading, *rows)]
    rule = ["─" * width for width in fit]
    return [GAP.join(line).rstrip() for line in (lines[0], rule, *lines[1:])]


def stacked(names: Sequence[str], cells: Sequence[str], room: int, most_lines: int = 4) -> list[str]:
    """A row as one line for each cell, with its name; the terminal breaks lines that are too long for it."""
    width = min(max(map(width_of, names), default=0), max(room // 3, 1))
    rest = max(room - width - len(GAP), 1)
    pairs = zip(names, cells, strict=True)
    return [
        f"{padded(name, width)}{GAP}{clipped(text, most_lines * rest)}".rstrip() for name, text in pairs if text
    ] + [""]
