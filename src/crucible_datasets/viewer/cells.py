"""Values as JSON for cells: of known kinds, with long values cut."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from crucible_datasets.viewer.kinds import kind_of

LONGEST_TEXT = 2_000
_MOST_ITEMS = 200
_DEEPEST = 16
_EXACT = 2**53  # larger integers are not exact in JavaScript

Cell = Any


def cell(value: Any, feature: Any, place: str, whole: bool = False) -> Cell:
    """A value of a column; `place` is the URL of its media. With `whole`, it is not cut."""
    kind = kind_of(feature)
    if isinstance(value, Exception):
        return {"t": "error", "v": f"{type(value).__name__}: {value}"[:LONGEST_TEXT]}
    if value is None or kind == "bool":
        return value
    if kind == "label":
        names = feature.names
        return {"t": "label", "v": value, "name": names[value] if 0 <= value < len(names) else None}
    if kind in ("image", "audio", "video"):
        return {"t": kind, "src": place, "path": value.get("path")}
    if kind == "text":
        return text(value, whole)
    if kind in ("integer", "number"):
        return number(value)
    if kind == "bytes":
        return {"t": "bytes", "length": len(value), "head": base64.b64encode(value[:48]).decode()}
    if kind == "time":
        return {"t": "text", "v": str(value)}
    if kind == "chat":
        turns = [
            {
                "role": _first_of(turn, "role", "from"),
                "content": plain(_first_of(turn, "content", "value"), whole),
                "more": _more(turn, whole),
            }
            for turn in value
            if turn
        ]
        return {"t": "chat", "v": turns}
    return {"t": "json", "v": _nested(value, feature, place, whole)}


def text(value: str, whole: bool) -> Cell:
    if whole or len(value) <= LONGEST_TEXT:
        return {"t": "text", "v": value}
    return {"t": "text", "v": value[:LONGEST_TEXT], "cut": True, "length": len(value)}


def number(value: Any) -> Any:
    """A number; as text if it is not exact in JSON or JavaScript."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"t": "text", "v": str(value)}
    if isinstance(value, int) and abs(value) > _EXACT:
        return {"t": "text", "v": str(value)}
    return value if isinstance(value, (int, float)) else {"t": "text", "v": str(value)}


def _first_of(turn: Mapping[str, Any], *names: str) -> Any:
    return next((turn[name] for name in names if turn.get(name) is not None), None)


def _more(turn: Mapping[str, Any], whole: bool) -> Any:
    """Other fields of a message, such as tool calls."""
    rest = {name: each for name, each in turn.items() if name not in ("role", "content", "from", "value") and each}
    return plain(rest, whole) if rest else None


def _nested(value: Any, feature: Any, place: str, whole: bool) -> Any:
    """Structs and lists; media in them are references."""
    if isinstance(feature, dict) and isinstance(value, Mapping):
        return {
            name: _nested(value.get(name), each, f"{place}/{quote(name, safe='')}", whole)
            for name, each in feature.items()
        }
    inner = getattr(feature, "feature", feature[0] if isinstance(feature, list) else None)
    if inner is not None and isinstance(value, list):
        shown = value if whole else value[:_MOST_ITEMS]
        return [_nested(each, inner, f"{place}/{index}", whole) for index, each in enumerate(shown)]
    kind = kind_of(feature)
    return cell(value, feature, place, whole) if kind in ("image", "audio", "video", "label") else plain(value, whole)


def plain(value: Any, whole: bool = False, depth: int = 0) -> Any:
    """Any value as JSON, cut if it is long or deep."""
    if isinstance(value, str):
        return value if whole or len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]} …"
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {str(name): plain(each, whole, depth + 1) for name, each in value.items()}
    if isinstance(value, (list, tuple)) and depth < _DEEPEST:
        return [plain(each, whole, depth + 1) for each in (value if whole else value[:_MOST_ITEMS])]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return number(value) if isinstance(number(value), (int, float)) else str(value)
    return f"{len(value):,} bytes" if isinstance(value, (bytes, bytearray)) else str(value)
