"""Plain values as JSON, and back: everything that is sent between a candidate and its examiner.

Other objects stay where they are, and are sent as handles.
"""

from __future__ import annotations

import array
import builtins
import collections
import datetime
import decimal
import fractions
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

_SMALL = 1 << 62

Export = Callable[[object], Any]  # an object → its handle
Import = Callable[[Any], object]  # a handle of the other side → a proxy
Own = Callable[[str], Any]  # the name of a class → what this side defines under it


def encode(value: Any, export: Export) -> Any:
    """The value as JSON. Values of subclasses become values of the plain class."""
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is float:
        return value
    if kind is int:
        return value if -_SMALL < value < _SMALL else ["int", hex(value)]
    if isinstance(value, tuple) and len(getattr(kind, "_fields", ())) == len(value) > 0:
        return ["namedtuple", [kind.__name__, *map(str, kind._fields), *(encode(part, export) for part in value)]]
    class_name = getattr(value, "__name__", "") if kind is type else ""
    if class_name and vars(builtins).get(class_name) is value:
        return ["class", class_name]
    for plain, name, parts in _SHAPES:
        if isinstance(value, plain):
            return [name, [encode(part, export) for part in parts(value)]]
    for plain, name, text in _TEXTS:
        if isinstance(value, plain):
            return [name, text(value)]
    if (standard := _standard_name(kind)) in _STANDARD:
        return ["standard", [standard, str.__str__(str(value))]]
    return ["object", export(value)]


def decode(value: Any, find: Import, own: Own) -> Any:
    """The value that was encoded; a named tuple is one of the class that this side has under its name, if any."""
    if not isinstance(value, list):
        return value
    name, content = value
    if name == "object":
        return find(content)
    if name in _FROM_TEXT:
        return _FROM_TEXT[name](content)
    parts = [decode(part, find, own) for part in content]
    return _named_tuple(parts, own) if name == "namedtuple" else _FROM_PARTS[name](parts)


def _standard_name(kind: type) -> str:
    # Modules are parts of packages in later versions of Python: pathlib._local.
    return f"{str(kind.__module__).partition('.')[0]}.{kind.__name__}"


def _from_standard(parts: list[Any]) -> Any:
    name, text = parts
    if name not in _STANDARD:
        raise TypeError(f"{name} is not a class of values")
    module, _, kind = name.partition(".")
    return getattr(importlib.import_module(module), kind)(text)


def _named_tuple(parts: list[Any], own: Own) -> Any:
    name, fields, values = parts[0], tuple(parts[1 : len(parts) // 2 + 1]), parts[len(parts) // 2 + 1 :]
    kind = own(name)
    if not (isinstance(kind, type) and issubclass(kind, tuple) and getattr(kind, "_fields", None) == fields):
        kind = _new_class(name, fields)
    return tuple.__new__(kind, values)


@functools.cache
def _new_class(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)


def _pairs(value: dict[Any, Any]) -> list[Any]:
    return [part for pair in dict.items(value) for part in pair]


def _from_pairs(parts: list[Any]) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


_SHAPES: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (list, "list", list.__iter__),
    (tuple, "tuple", tuple.__iter__),
    (collections.Counter, "counter", _pairs),
    (collections.OrderedDict, "ordered", _pairs),
    (collections.defaultdict, "defaultdict", lambda value: [value.default_factory, *_pairs(value)]),
    (dict, "dict", _pairs),
    (set, "set", set.__iter__),
    (frozenset, "frozenset", frozenset.__iter__),
    (range, "range", lambda value: (value.start, value.stop, value.step)),
    (slice, "slice", lambda value: (value.start, value.stop, value.step)),
    (type({}.keys()), "keys", iter),
    (type({}.values()), "values", iter),
    (type({}.items()), "items", lambda value: [part for pair in value for part in pair]),
    (collections.deque, "deque", lambda value: (list(value), value.maxlen)),
    (array.array, "array", lambda value: (value.typecode, value.tolist())),
    (complex, "complex", lambda value: (value.real, value.imag)),
    (fractions.Fraction, "fraction", lambda value: (value.numerator, value.denominator)),
    (types.SimpleNamespace, "namespace", lambda value: _pairs(vars(value))),
)

_FROM_PARTS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "counter": lambda parts: collections.Counter(_from_pairs(parts)),
    "ordered": lambda parts: collections.OrderedDict(_from_pairs(parts)),
    "defaultdict": lambda parts: collections.defaultdict(parts[0], _from_pairs(parts[1:])),
    "dict": _from_pairs,
    "set": set,
    "frozenset": frozenset,
    "range": lambda parts: range(*parts),
    "slice": lambda parts: slice(*parts),
    "keys": lambda parts: dict.fromkeys(parts).keys(),
    "values": lambda parts: dict(enumerate(parts)).values(),
    "items": lambda parts: _from_pairs(parts).items(),
    "deque": lambda parts: collections.deque(*parts),
    "array": lambda parts: array.array(*parts),
    "complex": lambda parts: complex(*parts),
    "fraction": lambda parts: fractions.Fraction(*parts),
    "namespace": lambda parts: types.SimpleNamespace(**_from_pairs(parts)),
    "standard": _from_standard,
}

# Classes of values that are made from their text, in modules that few programs import.
_STANDARD = {
    *("pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "uuid.UUID"),
    *(f"ipaddress.IPv{version}{kind}" for version in (4, 6) for kind in ("Address", "Network", "Interface")),
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
    ((type(...), type(NotImplemented)), "constant", repr),
    (datetime.timedelta, "timedelta", lambda value: f"{value.days} {value.seconds} {value.microseconds}"),
)

_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "class": lambda text: _builtin(text),
    "int": lambda text: int(text, 16),
    "float": float,
    "str": str,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "decimal": decimal.Decimal,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "constant": {"Ellipsis": ..., "NotImplemented": NotImplemented}.__getitem__,
    "timedelta": lambda text: datetime.timedelta(*map(int, text.split())),
}


def _builtin(name: str) -> type:
    own = getattr(builtins, name)
    if not isinstance(own, type):
        raise TypeError(f"{name} is not a class")
    return own
