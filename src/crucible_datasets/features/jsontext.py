"""JSON text as the `Json` feature stores it: the exact form of a value, or an error.

>>> dumps({"é": [1, None, "2"]}), loads(dumps("42"))
('{"é":[1,null,"2"]}', '42')
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from crucible_datasets.features.leaves import is_missing

_WITHOUT_JSON_FORM = (
    *(bytes, bytearray, memoryview, set, frozenset, decimal.Decimal),
    *(dt.date, dt.time, dt.timedelta, np.generic, np.ndarray),
)
_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}


def dumps(value: Any) -> str:
    """The JSON text that `loads` turns into an equal value.

    A `ValueError` or `TypeError` for anything else: NaN, infinities, keys that are no texts, dates, bytes, decimals.
    """
    _require_text_keys(value)
    try:
        text = _encode(value)
    except ValueError as error:
        if "Circular" in str(error):
            raise
        raise ValueError("NaN and infinities have no form in JSON") from error
    return text if _is_utf8(text) else _encode_ascii(value)


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
    """The content of an object: the fields of a pydantic model, else its public attributes.

    Classes, decimals and times have none.

    >>> import enum
    >>> attributes(enum.Enum("Colour", "RED").RED)
    {'name': 'RED', 'value': 1}
    """
    if isinstance(value, (type, decimal.Decimal, dt.time)):
        return {}
    if hasattr(value, "model_dump"):
        return dict(value.model_dump())
    content: dict[str, Any] = {}
    for name in (name for name in dir(value) if not name.startswith("_")):
        with suppress(Exception):  # a property may compute something, and fail
            content[name] = getattr(value, name)
    return {name: item for name, item in content.items() if not callable(item)}


def _require_text_keys(value: Any) -> None:
    # The encoder would write the key 1 as "1".
    items: Iterable[Any] = ()
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} of an object is no text")
        items = value.values()
    elif isinstance(value, (list, tuple)):
        items = value
    for item in items:
        if isinstance(item, (dict, list, tuple)):
            _require_text_keys(item)


def _plain(value: Any) -> Any:
    """Values of numpy and pandas in the form that Python has for them, other objects as their public attributes."""
    if is_missing(value):
        return None
    if isinstance(value, (np.bool_, np.integer, np.floating)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufUO"
    ):
        return value.tolist()
    if not isinstance(value, _WITHOUT_JSON_FORM) and (content := attributes(value)):
        return content
    raise TypeError(f"{type(value).__name__} has no exact form in JSON")


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _is_utf8(text: str) -> bool:
    """Whether a text can be stored; lone surrogates can only be escaped."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain).encode
_encode_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain).encode
_decode = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__).decode
_strict = json.JSONDecoder(parse_constant=_refuse).decode
