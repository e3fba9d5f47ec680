"""JSON Lines of known types → Python rows, straight from the text.

A decoder made for the types reads and checks in one go: 100,000 conversations take 0.4 s, where Arrow's columns and
rows out of them take 1.0 s. It takes nothing that would be something else out of Arrow, which then sorts it out.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
import numpy as np

from crucible_datasets.features import Features
from crucible_datasets.features.types import LargeList, List, Value
from crucible_datasets.forking import cached_property
from crucible_datasets.outputs.python import collector_paused

_INT64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_KINDS: dict[str, Any] = {"string": str, "large_string": str, "int64": _INT64, "float64": float, "bool": bool}
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NO_KEY = re.compile(r'[\x00-\x1f"\\]')  # what the decoder takes no key with
_BEHIND_A_NUMBER = np.isin(np.arange(256), list(b",}] \n\r\t"))


class TypedLines:
    """What reads lines of one object each, whose values are exactly of these features."""

    def __init__(self, features: Features) -> None:
        self.features = features

    @property
    def is_possible(self) -> bool:
        """Whether text of the types can be read without Arrow: plain values, and lists and objects of them."""
        return _is_plain(dict(self.features))

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        # Arrow reads a key that a row lacks as null. Objects inside of rows that lack keys are another matter.
        return msgspec.json.Decoder(_record(self.features, default=None))

    @cached_property
    def _has_floats(self) -> bool:
        return "float64" in _leaves(self.features)

    def rows(self, text: bytes) -> list[dict[str, Any]] | None:
        """The rows of the lines; None where they might not be what Arrow makes of them."""
        if self._has_floats and _has_negative_zero(text):
            return None  # it is read as an integer, which has no sign
        with collector_paused():
            try:
                rows: list[dict[str, Any]] = msgspec.to_builtins(self._decoder.decode_lines(text))
            except _REFUSALS:
                return None
        return rows


def _has_negative_zero(text: bytes) -> bool:
    """Whether `-0` stands somewhere, as a number or in a text that looks like it."""
    # Bytes find one character as fast, but not three: that takes as long as reading the rows.
    characters = np.frombuffer(text, np.uint8)
    signs = np.flatnonzero(characters[:-2] == ord("-"))
    zeros = signs[characters[signs + 1] == ord("0")]
    return bool(_BEHIND_A_NUMBER[characters[zeros + 2]].any())


def _is_plain(feature: Any) -> bool:
    if isinstance(feature, dict):
        return bool(feature) and all(map(_is_plain, feature.values())) and not any(map(_NO_KEY.search, feature))
    if isinstance(feature, List):
        return feature.length < 0 and _is_plain(feature.feature)
    if isinstance(feature, LargeList):
        return _is_plain(feature.feature)
    return isinstance(feature, Value) and feature.dtype in _KINDS


def _leaves(feature: Any) -> set[str]:
    """The types of the plain values inside of a feature."""
    if isinstance(feature, dict):
        return set().union(*map(_leaves, feature.values()))
    return _leaves(feature.feature) if isinstance(feature, (List, LargeList)) else {feature.dtype}


def _kind(feature: Any) -> Any:
    """What the decoder calls a type; null is a value of all of them."""
    if isinstance(feature, dict):
        return _record(feature) | None
    if isinstance(feature, (List, LargeList)):
        return list[_kind(feature.feature)] | None  # type: ignore[misc]
    return _KINDS[feature.dtype] | None


def _record(features: Any, **default: Any) -> Any:
    fields = [(f"field_{place}", _kind(feature)) for place, feature in enumerate(features.values())]
    return msgspec.defstruct(
        "Record",
        [(name, kind, *default.values()) for name, kind in fields],
        rename=dict(zip((name for name, _ in fields), features, strict=True)),
        forbid_unknown_fields=True,
        gc=False,  # it is a dict a moment later
    )
