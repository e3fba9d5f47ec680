r"""Escaping of text for terminals.

No character of a data file, a file name or an environment variable can move the cursor, change colours, reorder the
text or reach the clipboard: characters that are not printable are escaped, as `\x1b`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Written by progress bars to go up a line.
_UP = "\x1b[A"
# Replacements for our own symbols on terminals whose encoding lacks them.
_PLAIN = {"─": "-", "…": "...", "–": "-", "−": "-", "→": "->", "≤": "<=", "·": "-"}


def escaped(text: str, encoding: str | None = None) -> str:
    r"""The text with every non-printable character escaped, except line ends.

    >>> print(escaped("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    if text.isascii() and text.isprintable():
        return text
    known = encoding or sys.stdout.encoding or "utf-8"
    printable = (each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    return "".join(printable).encode(known, "backslashreplace").decode(known)


def escaped_json(text: str, encoding: str | None = None) -> str:
    r"""The same for JSON, by JSON escapes such as `\u001b`, so that its value is unchanged.

    >>> print(escaped_json('"a\x7f\u202e"'))
    "a\u007f\u202e"
    """
    known = encoding or sys.stdout.encoding or "utf-8"
    if text.isprintable() and (text.isascii() or known.lower() == "utf-8"):
        return text
    return "".join(each if each == "\n" or _is_shown(each, known) else _escaped(each) for each in text)


def transliterated(text: str, encoding: str | None = None) -> str:
    """Text of this program, not of data, with symbols that the encoding lacks replaced.

    >>> transliterated("── 1 → 2 …", "ascii")
    '-- 1 -> 2 ...'
    """
    known = encoding or sys.stdout.encoding or "utf-8"
    if text.isascii() or known.lower() == "utf-8":
        return text
    return "".join(_PLAIN[each] if each in _PLAIN and not _is_shown(each, known) else each for each in text)


def on_one_line(text: str) -> str:
    r"""Escaped text without line ends, for cells of tables and names.

    >>> print(on_one_line("a\nb"))
    a\nb
    """
    return escaped(text).replace("\n", "\\n")


def _is_shown(character: str, encoding: str) -> bool:
    if not character.isprintable():
        return False
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class EscapingStream:
    """A text stream that escapes its output; cursor movements of progress bars pass if `shows_bars`."""

    def __init__(self, stream: Any, shows_bars: bool = False) -> None:
        self._stream, self._shows_bars = stream, shows_bars

    def write(self, text: str) -> int:
        """Write a piece of text, escaped."""
        is_move = self._shows_bars and text and not text.replace(_UP, "")
        start = "\r" if self._shows_bars and text.startswith("\r") else ""
        encoding = self._stream.encoding
        self._stream.write(text if is_move else start + escaped(transliterated(text[len(start) :], encoding), encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Everything that is printed in this block is escaped: results, errors, warnings, log messages."""
    before = sys.stdout, sys.stderr
    # A stream that was closed before the program started, as by `>&-`, is None.
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = (
            EscapingStream(before[0] or nowhere),
            EscapingStream(before[1] or nowhere, shows_bars=True),
        )
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before
