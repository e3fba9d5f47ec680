"""Values of samples as JSON, whatever they are."""

from __future__ import annotations

from typing import Any

import msgspec


def _plain(value: Any) -> Any:
    """Stands for a value that JSON has no word for: numbers and arrays of libraries, else what it is shown as."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def encode(value: Any) -> bytes:
    """A value as JSON."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, UnicodeEncodeError):  # keys that are no text, lone surrogates
        return _encoder.encode(_speakable(value))


def text(value: Any) -> str | None:
    """A value as JSON text; None stays None."""
    return None if value is None else encode(value).decode()


def value(text: str | None) -> Any:
    """What JSON text says."""
    return None if text is None else msgspec.json.decode(text)


def _speakable(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _speakable(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {_speakable(key if isinstance(key, str) else str(key)): _speakable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_speakable(one) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
