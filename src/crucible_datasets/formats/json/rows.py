"""JSON text → Python rows, exactly: integers of any length stay integers, and NaN stays NaN.

msgspec parses a block in one call. Text that it refuses is parsed line by line, or document by document where objects
stretch over lines, to find where it is wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import jsontext
from crucible_datasets.formats.streams import undecodable
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)

Row = dict[str, Any]
ON_BAD_LINES = ("error", "warn", "skip")
REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)
# Matches all numbers that are too big for a double, and also some texts and small numbers with many digits.
_LONG = re.compile(rb"[0-9][eE]\+?0*[1-9][0-9]{2,}|[0-9]{200,}")
_ROWS: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_DECIMAL_ROWS: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=Decimal)
_OBJECTS: msgspec.json.Decoder[object] = msgspec.json.Decoder(dict[str, msgspec.Raw] | None)


@dataclass
class Problem:
    """Why rows could not be parsed, and at which byte of the text, if known.

    `at_end` says that more text could complete the row. `line` is counted from the first line of the row that begins
    there, and `column` from 1.
    """

    reason: str
    offset: int | None
    at_end: bool = False
    line: int | None = None
    column: int | None = None


class TooBigError(ValueError):
    """A number that does not fit into a double."""

    def __init__(self, number: str) -> None:
        short = number if len(number) <= 20 else f"{number[:10]}… of {len(number)} digits"
        super().__init__(f"{short} is too big for a double: write it as text")
        self.number = number


def _require_finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise TooBigError(number)
    return value


def _require_short(number: str) -> int:
    _require_finite(number)
    return int(number)


_DECODER = json.JSONDecoder(parse_float=_require_finite, parse_int=_require_short)
_DECIMAL_DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=_require_short)


def loads(text: bytes, decimals: bool = False) -> Any:
    """One JSON value; a `ValueError` for anything else."""
    try:
        return (_DECIMAL_ROWS if decimals else _ROWS).decode(text)
    except REFUSALS:
        pass  # only the standard library accepts NaN, Infinity and lone surrogates
    try:
        return (_DECIMAL_DECODER if decimals else _DECODER).decode(text.decode())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def encoder_for(text: bytes) -> Callable[[Any], str]:
    """A function from values of a text to their JSON text, without spaces; a `ValueError` for NaN and infinities."""
    # msgspec is faster, but writes null for NaN.
    return jsontext.dumps if b"NaN" in text or b"Infinity" in text else dumps


def dumps(value: Any) -> str:
    """A value without NaN and infinities as JSON text, without spaces."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return jsontext.dumps(value)  # lone surrogates


def parsed_rows(text: bytes, decimals: bool = False) -> tuple[list[Any], Problem | None]:
    """The values of the text, and the problem that ended the parsing; fractions with all digits, if asked for."""
    try:
        return (_DECIMAL_ROWS if decimals else _ROWS).decode_lines(text), None
    except REFUSALS:
        pass
    rows: list[Any] = []
    offset = 0
    for line in text.split(b"\n"):
        try:
            if line.strip():
                rows.append(loads(line, decimals))
        except ValueError:
            problem = _parse_documents(text[offset:], rows, decimals)
            if problem is not None:
                problem.offset = offset + (problem.offset or 0)
            return rows, problem
        offset += len(line) + 1
    return rows, None


def _parse_documents(text: bytes, rows: list[Any], decimals: bool) -> Problem | None:
    """Parse concatenated values in any layout, and append each to `rows`."""
    try:
        characters = text.decode()
    except UnicodeDecodeError as error:
        return Problem(f"not utf-8 text: {error}", error.start)
    decode = (_DECIMAL_DECODER if decimals else _DECODER).raw_decode
    at = _next(characters, 0)
    while at < len(characters):
        try:
            value, end = decode(characters, at)
        except RecursionError:
            return Problem("nested too deeply.", len(characters[:at].encode()))
        except TooBigError as error:
            return Problem(str(error), len(characters[:at].encode()))
        except ValueError as error:
            return _broken(characters, at, error)
        rows.append(value)
        at = _next(characters, end)
    return None


def _broken(text: str, at: int, error: ValueError) -> Problem:
    """The problem with the value that begins at character `at`, with line and column."""
    stop = getattr(error, "pos", at)
    at_end = _next(text, stop) >= len(text) or "Unterminated string" in str(error)
    line, rest = text.count("\n", at, stop), text[at:].split("\n", 2)
    if line and len(rest) > 1 and is_row(rest[1].encode()):
        # The next line is a complete row, so this line is the broken one, although the parser only failed later.
        try:
            json.loads(rest[0])
        except ValueError as own:
            error, line, stop = own, 0, at + getattr(own, "pos", 0)
    column = stop - text.rfind("\n", 0, stop)
    reason = getattr(error, "msg", str(error)).removesuffix(" at").removesuffix(" starting")
    if reason.startswith("Invalid control") and text[stop : stop + 1] == "\n":
        reason = "the line ends inside of a string"
    return Problem(f"not JSON: {reason}", len(text[:at].encode()), at_end, line, column)


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def is_row(line: bytes) -> bool:
    """Whether a line is a complete object or null."""
    try:
        return isinstance(loads(line), dict | None)
    except ValueError:
        return False


def unreadable_line(text: bytes, name: str, before: int) -> Problem | None:
    """The first line that is not UTF-8 or has a number too big for a double; the text begins at byte `before`."""
    problem = None
    try:
        text.decode()
    except UnicodeDecodeError as error:
        start = text.rfind(b"\n", 0, error.start) + 1
        reason = undecodable(name, error, before).reason
        problem = Problem(reason, start, line=0, column=error.start - start + 1)
        text = text[:start]
    at = 0
    for line in text.split(b"\n") if _LONG.search(text) else ():
        if (big := _too_big_in(line)) is not None:
            return Problem(str(big), at, line=0, column=line.find(big.number.encode()) + 1)
        at += len(line) + 1
    return problem


def _too_big_in(line: bytes) -> TooBigError | None:
    """The error for the first number of a JSON text that is too big."""
    if _LONG.search(line):
        try:
            _DECODER.decode(line.decode())
        except TooBigError as error:
            return error
        except (ValueError, RecursionError):
            pass  # invalid in another way
    return None


def good_lines(blocks: Iterator[bytes], name: str, warn: bool) -> Iterator[bytes]:
    """The blocks with blanks in place of each line that is not an object, so that offsets stay the same."""
    lines_before = 0
    for block in blocks:
        yield block if _is_good(block) else _blanked(block, name, lines_before if warn else None)
        lines_before += block.count(b"\n")


def _is_good(block: bytes) -> bool:
    try:
        block.decode()
        _OBJECTS.decode_lines(block)
    except REFUSALS:
        return False
    return _LONG.search(block) is None


def _blanked(block: bytes, name: str, lines_before: int | None) -> bytes:
    lines = block.split(b"\n")
    for index, line in enumerate(lines):
        reason = _reason(line)
        if reason is not None:
            lines[index] = b" " * len(line)
            if lines_before is not None:
                error = FileFormatError(name, reason, None, None, lines_before + index + 1)
                logger.warning("A line that cannot be read is left out. %s", error)
    return b"\n".join(lines)


def _reason(line: bytes) -> str | None:
    """Why a line is skipped."""
    if line.strip() and not is_row(line):
        return "not a JSON object"
    error = _too_big_in(line)
    return None if error is None else str(error)
