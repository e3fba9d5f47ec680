"""JSON Lines without the lines that are not valid rows."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.json_mixed import is_row
from crucible_datasets.formats.json_numbers import may_be_too_big, too_big_in
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)

ON_BAD_LINES = ("error", "warn", "skip")
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def good_lines(blocks: Iterator[bytes], name: str, warn: bool) -> Iterator[bytes]:
    """The blocks with blanks in place of each line that is not an object, so that offsets stay the same."""
    rows: msgspec.json.Decoder[object] = msgspec.json.Decoder(dict[str, msgspec.Raw] | None)
    before = 0
    for block in blocks:
        yield block if _is_good(block, rows) else _blanked(block, name, before if warn else None)
        before += block.count(b"\n")


def _is_good(block: bytes, rows: msgspec.json.Decoder[object]) -> bool:
    try:
        block.decode()
        rows.decode_lines(block)
    except _ERRORS:
        return False
    return not may_be_too_big(block)


def _blanked(block: bytes, name: str, before: int | None) -> bytes:
    lines = block.split(b"\n")
    for place, line in enumerate(lines):
        reason = _reason(line)
        if reason is not None:
            lines[place] = b" " * len(line)
            if before is not None:
                error = FileFormatError(name, reason, None, None, before + place + 1)
                logger.warning("A line that cannot be read is left out. %s", error)
    return b"\n".join(lines)


def _reason(line: bytes) -> str | None:
    """Why a line is skipped."""
    if line.strip() and not is_row(line):
        return "not a JSON object"
    error = too_big_in(line)
    return None if error is None else str(error)
