"""A `dataclass` decorator that is faster at import time than the standard one.

Loading a file defines dozens of frozen classes. Up to Python 3.12 the standard decorator compiles six methods for each
of them, which took a fifth of the time from program start to first row. Here only `__init__` is compiled; the others
are closures. The result is a dataclass for `fields`, `replace`, `asdict` and `match`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_UNSET = dataclasses.MISSING


def _dataclass(
    cls: Any = None, /, *, init: bool = True, repr: bool = True, eq: bool = True, frozen: bool = False
) -> Any:
    """Like `dataclasses.dataclass`, with these options."""

    def made(cls: Any) -> Any:
        return _made(cls, init, repr, eq, frozen)

    return made if cls is None else made(cls)


def _made(cls: Any, init: bool, repr: bool, eq: bool, frozen: bool) -> Any:
    if "InitVar" in str(vars(cls).get("__annotations__")):
        return dataclasses.dataclass(init=init, repr=repr, eq=eq, frozen=frozen)(cls)
    own = dict(vars(cls))
    _with_fields(cls)
    params = cls.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = init, repr, eq, frozen
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {}
    if init:
        methods["__init__"] = _init(cls, fields, frozen)
    if repr:
        methods["__repr__"] = _repr(tuple(field.name for field in fields if field.repr))
    if eq:
        methods |= _comparing(fields, frozen, own)
    if frozen:
        methods |= _refusing(cls, frozenset(field.name for field in fields))
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            if callable(method):
                method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return cls


def _with_fields(cls: Any) -> None:
    """Let the standard decorator collect the fields, and nothing else."""
    frozen = [base.__dataclass_params__ for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    frozen = [params for params in frozen if params.frozen]
    documented = cls.__doc__
    cls.__doc__ = documented or cls.__name__  # otherwise it would be computed from the signature
    for params in frozen:
        params.frozen = False  # at this point a frozen class is not frozen yet
    try:
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    finally:
        cls.__doc__ = documented
        for params in frozen:
            params.frozen = True


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FROM_FACTORY = _Factory()


def _init(cls: Any, fields: tuple[Any, ...], frozen: bool) -> Callable[..., None]:
    given: dict[str, Any] = {"_set": object.__setattr__, "_made": _FROM_FACTORY}
    body = []
    for field in fields:
        value = field.name
        if field.default_factory is not _UNSET:
            given[f"_factory_{field.name}"] = field.default_factory
            value = f"_factory_{field.name}()"
            value = f"{value} if {field.name} is _made else {field.name}" if field.init else value
        elif not field.init:
            continue
        body.append(f"_set(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def __init__({_parameters(fields, given)}):\n  " + "\n  ".join(body or ["pass"])
    names = ", ".join(given)
    found: dict[str, Any] = {}
    body_of_make = text.replace("\n", "\n ")
    exec(f"def make({names}):\n {body_of_make}\n return __init__", _globals(cls), found)  # noqa: S102  (names of fields)
    made: Callable[..., None] = found["make"](**given)
    made.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return made


def _globals(cls: Any) -> dict[str, Any]:
    return vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}


def _parameters(fields: tuple[Any, ...], given: dict[str, Any]) -> str:
    """The parameters of `__init__`; their default values are put into `given`."""
    taken = [field for field in fields if field.init]
    parts = ["self", *(_parameter(field, given) for field in taken if not field.kw_only)]
    only_named = [_parameter(field, given) for field in taken if field.kw_only]
    return ", ".join([*parts, *(["*", *only_named] if only_named else [])])


def _parameter(field: Any, given: dict[str, Any]) -> str:
    if field.default_factory is not _UNSET:
        return f"{field.name}=_made"
    if field.default is _UNSET:
        return str(field.name)
    given[f"_default_{field.name}"] = field.default
    return f"{field.name}=_default_{field.name}"


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def shown(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return recursive_repr()(shown)


def _comparing(fields: tuple[Any, ...], frozen: bool, own: dict[str, Any]) -> dict[str, Any]:
    compared = _values_of(tuple(field.name for field in fields if field.compare))

    def equal(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    explicit = own.get("__hash__") is not None or ("__hash__" in own and "__eq__" not in own)
    if explicit:
        return {"__eq__": equal, "__hash__": own["__hash__"]}
    if not frozen:
        return {"__eq__": equal, "__hash__": None}
    hashed = _values_of(tuple(field.name for field in fields if (field.compare if field.hash is None else field.hash)))
    return {"__eq__": equal, "__hash__": lambda self: hash(hashed(self))}


def _values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _refusing(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    """The methods that make a class frozen; an unfrozen subclass may have further attributes."""

    def setting(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def deleting(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": setting, "__delattr__": deleting}


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
