"""Plain values as JSON, and back: everything that is sent between a candidate and its examiner.

Other objects stay where they are, and are sent as handles.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

_SMALL = 1 << 62

Export = Callable[[object], Any]  # an object → its handle
Import = Callable[[Any], object]  # a handle of the other side → a proxy


def encode(value: Any, export: Export) -> Any:
    """The value as JSON. Values of subclasses become values of the plain class."""
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if kind is int:
        return value if -_SMALL < value < _SMALL else ["int", hex(value)]
    for plain, name, parts in _SHAPES:
        if isinstance(value, plain):
            return [name, [encode(part, export) for part in parts(value)]]
    for plain, name, text in _TEXTS:
        if isinstance(value, plain):
            return [name, text(value)]
    return ["handle", export(value)]


def decode(value: Any, find: Import) -> Any:
    """The value that was encoded."""
    if not isinstance(value, list):
        return value
    name, content = value
    if name == "handle":
        return find(content)
    if name in _FROM_TEXT:
        return _FROM_TEXT[name](content)
    return _FROM_PARTS[name]([decode(part, find) for part in content])


def _pairs(value: dict[Any, Any]) -> list[Any]:
    return [part for pair in dict.items(value) for part in pair]


def _from_pairs(parts: list[Any]) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


_SHAPES: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (list, "list", list.__iter__),
    (tuple, "tuple", tuple.__iter__),
    (dict, "dict", _pairs),
    (set, "set", set.__iter__),
    (frozenset, "frozenset", frozenset.__iter__),
    (range, "range", lambda value: (value.start, value.stop, value.step)),
    (type({}.keys()), "keys", iter),
    (collections.deque, "deque", lambda value: (list(value), value.maxlen)),
    (complex, "complex", lambda value: (value.real, value.imag)),
    (fractions.Fraction, "fraction", lambda value: (value.numerator, value.denominator)),
)

_FROM_PARTS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "dict": _from_pairs,
    "set": set,
    "frozenset": frozenset,
    "range": lambda parts: range(*parts),
    "keys": lambda parts: dict.fromkeys(parts).keys(),
    "deque": lambda parts: collections.deque(*parts),
    "complex": lambda parts: complex(*parts),
    "fraction": lambda parts: fractions.Fraction(*parts),
}

# bool, int, float and str are listed for their subclasses.
_TEXTS: tuple[tuple[Any, str, Callable[[Any], str]], ...] = (
    (int, "int", lambda value: hex(int(value))),
    (float, "float", lambda value: float.__repr__(value)),
    (str, "str", lambda value: str.__str__(value)),
    (bytes, "bytes", bytes.hex),
    (bytearray, "bytearray", bytearray.hex),
    (decimal.Decimal, "decimal", str),
    (datetime.datetime, "datetime", datetime.datetime.isoformat),
    (datetime.date, "date", datetime.date.isoformat),
    (datetime.time, "time", datetime.time.isoformat),
    (datetime.timedelta, "timedelta", lambda value: f"{value.days} {value.seconds} {value.microseconds}"),
)

_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "str": str,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "decimal": decimal.Decimal,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda text: datetime.timedelta(*map(int, text.split())),
}
