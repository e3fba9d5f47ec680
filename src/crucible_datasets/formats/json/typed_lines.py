"""JSON Lines of known types → Python rows, without Arrow.

A msgspec decoder for the types parses and checks in one pass: 100,000 conversations take 0.4 s, by way of Arrow 1.0
s. Text that Arrow would read differently is left to Arrow.
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
_TYPES: dict[str, Any] = {"string": str, "large_string": str, "int64": _INT64, "float64": float, "bool": bool}
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NO_KEY = re.compile(r'[\x00-\x1f"\\]')  # characters that the decoder does not support in keys
_BEHIND_A_NUMBER = np.isin(np.arange(256), list(b",}] \n\r\t"))


class TypedLines:
    """Reads lines of one object each, whose values are exactly of these features."""

    def __init__(self, features: Features) -> None:
        self.features = features

    @property
    def is_possible(self) -> bool:
        """Whether these types can be read without Arrow: plain values, and lists and objects of them."""
        return _is_plain(dict(self.features))

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        # Arrow reads a missing key of a row as null, but not missing keys of nested objects.
        return msgspec.json.Decoder(_record(self.features, default=None))

    @cached_property
    def _has_floats(self) -> bool:
        return "float64" in _leaves(self.features)

    def rows(self, text: bytes) -> list[dict[str, Any]] | None:
        """The rows of the lines; None if Arrow might read them differently."""
        if self._has_floats and (_has_negative_zero(text) or _has_long_integer(text)):
            return None  # it would be read as the integer 0, without sign, or rounded
        with collector_paused():
            try:
                rows: list[dict[str, Any]] = msgspec.to_builtins(self._decoder.decode_lines(text))
            except _REFUSALS:
                return None
        return rows


def _has_negative_zero(text: bytes) -> bool:
    """Whether `-0` occurs, as a number or inside a text."""
    # `bytes.find` is fast for one character; for three it takes as long as reading the rows.
    characters = np.frombuffer(text, np.uint8)
    signs = np.flatnonzero(characters[:-2] == ord("-"))
    zeros = signs[characters[signs + 1] == ord("0")]
    return bool(_BEHIND_A_NUMBER[characters[zeros + 2]].any())


def _has_long_integer(text: bytes) -> bool:
    """Whether there are so many digits in a row, but for those after a point, that a float may not hold the number."""
    characters = np.frombuffer(text, np.uint8)
    is_eighth_digit = (characters[7::8] - ord("0")) < 10
    if not (is_eighth_digit[:-1] & is_eighth_digit[1:]).any():
        return False
    runs = is_digit = (characters - ord("0")) < 10
    for width in (1, 2, 4, 8):  # then a run is one of 16 digits, and begins here
        runs = runs[:-width] & runs[width:]
    starts = np.flatnonzero(runs)
    before = starts[starts > 0] - 1
    is_first = ~is_digit[before] & (characters[before] != ord("."))
    return bool(len(before) < len(starts) or is_first.any())


def _is_plain(feature: Any) -> bool:
    if isinstance(feature, dict):
        return bool(feature) and all(map(_is_plain, feature.values())) and not any(map(_NO_KEY.search, feature))
    if isinstance(feature, List):
        return feature.length < 0 and _is_plain(feature.feature)
    if isinstance(feature, LargeList):
        return _is_plain(feature.feature)
    return isinstance(feature, Value) and feature.dtype in _TYPES


def _leaves(feature: Any) -> set[str]:
    """The types of the plain values inside a feature."""
    if isinstance(feature, dict):
        return set().union(*map(_leaves, feature.values()))
    return _leaves(feature.feature) if isinstance(feature, (List, LargeList)) else {feature.dtype}


def _kind(feature: Any) -> Any:
    """The Python type for the decoder; every type includes None."""
    if isinstance(feature, dict):
        return _record(feature) | None
    if isinstance(feature, (List, LargeList)):
        return list[_kind(feature.feature)] | None  # type: ignore[misc]
    return _TYPES[feature.dtype] | None


def _record(features: Any, **default: Any) -> Any:
    fields = [(f"field_{place}", _kind(feature)) for place, feature in enumerate(features.values())]
    return msgspec.defstruct(
        "Record",
        [(name, kind, *default.values()) for name, kind in fields],
        rename=dict(zip((name for name, _ in fields), features, strict=True)),
        forbid_unknown_fields=True,
        gc=False,  # it is converted to a dict at once
    )
