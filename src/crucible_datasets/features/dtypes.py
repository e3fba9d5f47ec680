"""The names of primitive types: `"timestamp[us, tz=UTC]"` ↔ `pa.timestamp("us", "UTC")`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import UnknownTypeError

_SIMPLE: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
}
_NAMES = {arrow: name for name, arrow in _SIMPLE.items()}
# Other names of the same types, which a `Value` keeps as they were given.
_SYNONYMS = {
    "bool_": pa.bool_(),
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "month_day_nano_interval": pa.month_day_nano_interval(),
}
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_RENAMED = {"float": "float32", "double": "float64"}

_PARAMETRIC: list[tuple[str, Callable[..., pa.DataType]]] = [
    (r"timestamp\[(s|ms|us|ns)\]", pa.timestamp),
    (r"timestamp\[(s|ms|us|ns),\s*tz=([^\]]+)\]", pa.timestamp),
    (r"time32\[(s|ms)\]", pa.time32),
    (r"time64\[(us|ns)\]", pa.time64),
    (r"duration\[(s|ms|us|ns)\]", pa.duration),
    (r"fixed_size_binary\[(\d+)\]", lambda width: pa.binary(int(width))),
    (r"decimal128\((\d+),\s*(-?\d+)\)", lambda p, s: pa.decimal128(int(p), int(s))),
    (r"decimal256\((\d+),\s*(-?\d+)\)", lambda p, s: pa.decimal256(int(p), int(s))),
]
_EXAMPLES = "int64, string, timestamp[us, tz=UTC], time64[us], duration[s], decimal128(10, 2), fixed_size_binary[16]"


def canonical(name: Any) -> str:
    """The spelling of a dtype name that features keep.

    >>> canonical("double")
    'float64'
    """
    text = name_of(name) if isinstance(name, pa.DataType) else str(name)
    return _RENAMED.get(text, text)


def arrow_of(name: str) -> pa.DataType:
    """The Arrow type a dtype name stands for."""
    name = canonical(name)
    simple = _SIMPLE.get(name) or _SYNONYMS.get(name)
    if simple is not None:
        return simple
    for pattern, make in _PARAMETRIC:
        if match := re.fullmatch(pattern, name):
            return make(*match.groups())
    raise UnknownTypeError(name, f"expected a primitive Arrow type such as {_EXAMPLES}.")


def name_of(arrow: pa.DataType) -> str:
    """The dtype name of a primitive Arrow type."""
    if arrow in _NAMES:
        return _NAMES[arrow]
    if pa.types.is_dictionary(arrow):
        return name_of(arrow.value_type)
    text = str(arrow)
    if any(re.fullmatch(pattern, text) for pattern, _ in _PARAMETRIC):
        return text
    raise UnknownTypeError(arrow, "it has no counterpart among the feature types.")


def is_text(arrow: pa.DataType) -> bool:
    return any(check(arrow) for check in _TEXTS)


def is_bytes(arrow: pa.DataType) -> bool:
    return any(check(arrow) for check in _BYTES)


def is_view(arrow: pa.DataType) -> bool:
    return pa.types.is_string_view(arrow) or pa.types.is_binary_view(arrow)


def is_list(arrow: pa.DataType) -> bool:
    return any(check(arrow) for check in _LISTS)
