"""Stored values → what the user sees, for the features where the two differ.

`decoder(feature)` is None for most columns: Arrow's values are used directly, without work per value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crucible_datasets.features.types import LargeList, List

Decoder = Callable[[Any], Any]


def decoder(feature: Any, tokens: Any = None) -> Decoder | None:
    """The function that turns one stored value into the value shown, or None when they are the same."""
    if isinstance(feature, dict):
        return _struct_decoder(feature, tokens)
    if isinstance(feature, (list, tuple)):
        return _list_decoder(decoder(feature[0], tokens))
    if isinstance(feature, (List, LargeList)):
        return _list_decoder(decoder(feature.feature, tokens))
    if getattr(feature, "decode", False) and hasattr(feature, "decode_example"):
        return lambda value: None if value is None else feature.decode_example(value, token_per_repo_id=tokens)
    return None


def _list_decoder(item: Decoder | None) -> Decoder | None:
    return item and (lambda value: None if value is None else [item(element) for element in value])


def _struct_decoder(feature: dict[str, Any], tokens: Any) -> Decoder | None:
    fields = {name: decode for name, kind in feature.items() if (decode := decoder(kind, tokens))}
    if not fields:
        return None

    def decode_struct(value: Any) -> Any:
        if value is None:
            return None
        return {name: fields[name](item) if name in fields else item for name, item in value.items()}

    return decode_struct
