"""The kind of a column, for its display."""

from __future__ import annotations

from typing import Any

from crucible_datasets import Audio, ClassLabel, Image, Json, LargeList, List, Value, Video

_TURNS = ({"role", "content"}, {"from", "value"})
_BY_DTYPE = (
    (("string", "large_string"), "text"),
    (("int", "uint"), "integer"),
    (("float", "decimal"), "number"),
    (("bool",), "bool"),
    (("timestamp", "date", "time", "duration"), "time"),
    (("binary", "large_binary"), "bytes"),
)


def kind_of(feature: Any) -> str:
    """One of: text number integer bool label chat json list image audio video time bytes other."""
    for types, kind in (((ClassLabel,), "label"), ((Image,), "image"), ((Audio,), "audio"), ((Video,), "video")):
        if isinstance(feature, types):
            return kind
    if isinstance(feature, Value):
        found = [kind for starts, kind in _BY_DTYPE if str(feature.dtype).startswith(starts)]
        return found[0] if found else "other"
    inner = _items(feature)
    if inner is not None:
        return "chat" if isinstance(inner, dict) and any(names <= inner.keys() for names in _TURNS) else "list"
    return "json" if isinstance(feature, (dict, Json)) else "other"


def _items(feature: Any) -> Any:
    """The feature of the items of a list."""
    if isinstance(feature, (List, LargeList)):
        return feature.feature
    return feature[0] if isinstance(feature, list) else None
