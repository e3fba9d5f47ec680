"""Values of any type as JSON values of bounded size, for a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from crucible_datasets.evaluation.report.pictures import LARGEST, picture

# Longer texts are cut, with a note.
LONGEST_TEXT = 20_000
_MOST_ITEMS = 500
_DEEPEST = 12


def plain(value: Any, longest: int = LONGEST_TEXT, depth: int = 0) -> Any:
    """The value as a JSON value, with long texts and lists cut."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return _text(value, longest)
    if depth >= _DEEPEST:
        return _text(str(value), longest)
    if isinstance(value, Mapping):
        if isinstance(value.get("bytes"), (bytes, str)) and (shown := picture(value["bytes"])):
            return shown
        return {
            _text(str(name), 200): plain(each, longest, depth + 1) for name, each in list(value.items())[:_MOST_ITEMS]
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each, longest, depth + 1) for each in list(value)[:_MOST_ITEMS]]
    if isinstance(value, Struct):
        return plain(to_builtins(value, enc_hook=str), longest, depth)
    if isinstance(value, bytes):
        return picture(value) or f"{len(value):,} bytes"
    return plain(value.tolist(), longest, depth) if hasattr(value, "tolist") else _text(str(value), longest)


def _text(text: str, longest: int) -> str:
    if len(text) > (LARGEST if text.startswith("data:image/") else longest):
        text = f"{text[:longest]} … ({len(text) - longest:,} more characters)"
    # A lone surrogate cannot be encoded.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
