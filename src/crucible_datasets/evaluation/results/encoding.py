"""Values of samples of any type as JSON."""

from __future__ import annotations

from typing import Any

import msgspec


def _plain(value: Any) -> Any:
    """The replacement of a value that is not JSON: numbers and arrays of libraries as Python values, else its text."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def encode(value: Any) -> bytes:
    """A value as JSON."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, UnicodeEncodeError):  # keys that are not strings, lone surrogates
        return _encoder.encode(_encodable(value))


def text(value: Any) -> str | None:
    """A value as JSON text; None stays None."""
    return None if value is None else encode(value).decode()


def value(text: str | None) -> Any:
    """The value of a JSON text; None stays None."""
    return None if text is None else msgspec.json.decode(text)


def _encodable(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _encodable(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {_encodable(key if isinstance(key, str) else str(key)): _encodable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_encodable(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
