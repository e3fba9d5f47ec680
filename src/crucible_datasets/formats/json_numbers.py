"""JSON numbers that are too big for a double: an error, rather than null or infinity."""

from __future__ import annotations

import json
import math
import re

# Matches all such numbers, and also some texts and small numbers with many digits.
_LONG = re.compile(rb"[0-9][eE]\+?0*[1-9][0-9]{2,}|[0-9]{200,}")


class TooBigError(ValueError):
    """A number that does not fit into a double."""

    def __init__(self, number: str) -> None:
        shown = number if len(number) <= 20 else f"{number[:10]}… of {len(number)} digits"
        super().__init__(f"{shown} is too big for a double: write it as text")
        self.number = number


def _require_finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise TooBigError(number)
    return value


def _require_short(number: str) -> int:
    _require_finite(number)
    return int(number)


DECODER = json.JSONDecoder(parse_float=_require_finite, parse_int=_require_short)


def may_be_too_big(text: bytes) -> bool:
    """Whether a text may contain a number that is too big."""
    return _LONG.search(text) is not None


def too_big_in(line: bytes) -> TooBigError | None:
    """The error for the first number of a JSON text that is too big."""
    if may_be_too_big(line):
        try:
            DECODER.decode(line.decode())
        except TooBigError as error:
            return error
        except (ValueError, RecursionError):
            pass  # invalid in another way
    return None


def too_big_line(text: bytes) -> tuple[int, TooBigError] | None:
    """The offset of the first line with a number that is too big, and the error for it."""
    at = 0
    for line in text.split(b"\n") if may_be_too_big(text) else ():
        if (error := too_big_in(line)) is not None:
            return at, error
        at += len(line) + 1
    return None
