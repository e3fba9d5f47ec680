"""JSON text as the `Json` feature stores it: strict, without the NaN and Infinity that Python would write."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from contextlib import suppress
from typing import Any

import numpy as np

from crucible_datasets.features.leaves import is_missing

_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}


def dumps(value: Any) -> str:
    """The value as JSON text: NaN, infinities and missing values become null, times milliseconds since 1970."""
    try:
        return _encode(value)
    except ValueError:
        return _encode(_finite(value))


_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=lambda value: _jsonable(value)
).encode
_decode = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__).decode


def loads(text: str) -> Any:
    """The value of a JSON text, which may include NaN and Infinity."""
    return _decode(text)


def is_json(text: str) -> bool:
    """Whether a text is JSON.

    >>> is_json("[1]"), is_json("x"), is_json("NaN")
    (True, False, False)
    """
    try:
        _strict(text)
    except (ValueError, RecursionError):
        return False
    return True


def attributes(value: Any) -> dict[str, Any]:
    """The content of an object: the fields of a pydantic model, else its public attributes; classes have none.

    >>> import enum
    >>> attributes(enum.Enum("Colour", "RED").RED)
    {'name': 'RED', 'value': 1}
    """
    if isinstance(value, type):
        return {}
    if hasattr(value, "model_dump"):
        return dict(value.model_dump())
    found: dict[str, Any] = {}
    for name in (name for name in dir(value) if not name.startswith("_")):
        with suppress(Exception):  # a property may compute something, and fail
            found[name] = getattr(value, name)
    return {name: item for name, item in found.items() if not callable(item)}


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


_strict = json.JSONDecoder(parse_constant=_refuse).decode


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return _finite(_jsonable(value))


def _jsonable(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, dt.datetime):
        zone = value.tzinfo or dt.UTC
        return round(value.replace(tzinfo=zone).timestamp() * 1000)
    if isinstance(value, dt.date):
        return _jsonable(dt.datetime(value.year, value.month, value.day))
    if isinstance(value, dt.timedelta):
        return round(value.total_seconds() * 1000)
    if isinstance(value, dt.time):
        return value.isoformat()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return _jsonable(value.astype("M8[us]" if isinstance(value, np.datetime64) else "m8[us]").item())
    if hasattr(value, "tolist"):
        return value.tolist()
    if found := attributes(value):
        return found
    raise TypeError(f"{type(value).__name__} has no JSON form")
