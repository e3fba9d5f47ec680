"""The candidate: the process that runs the code under test, and serves calls of what it defines.

Whatever the code does to this process, it can only change the values that it sends.
"""

from __future__ import annotations

import operator
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.sandbox.inside.errors import description_of, names_of
from crucible_datasets.evaluation.sandbox.inside.link import Link
from crucible_datasets.evaluation.sandbox.inside.program import read, reopen_standard_streams, run, solution_module


def serve(text: int, link: int) -> None:
    """Execute the definitions, then serve requests of the examiner."""
    reopen_standard_streams()
    module = solution_module()
    served = Link(socket.socket(fileno=link), lambda operation, given: answers[operation](module, *given), StandIn)
    served.own = module.__dict__.get
    answers = {**_ANSWERS, "share": lambda _, names: served.share(_classes(module, names))}
    served.tell("loaded", *_defined(read(text), module))
    served.serve()
    sys.stdout.flush()


def _classes(module: types.ModuleType, names: list[str]) -> dict[str, type]:
    """Those of the names that are classes of the module."""
    classes = {name: module.__dict__.get(name) for name in names}
    return {name: own for name, own in classes.items() if isinstance(own, type) and own.__module__ == module.__name__}


def _defined(code: str, module: types.ModuleType) -> tuple[list[str], str, list[Any]]:
    """Execute the code; if it fails, the classes of the exception and its text."""
    try:
        run(code, module.__dict__)
    except BaseException as error:  # noqa: BLE001 – SystemExit, too, is an end before any test
        return description_of(error)
    return [], "", []


class StandIn:
    """A proxy for a function or an object of the examiner."""

    def __init__(self, link: Link, number: int) -> None:
        self.__dict__.update(_link=link, _number=number)

    def _number_of(self) -> int:
        number: int = self.__dict__["_number"]
        return number

    def __call__(self, *arguments: Any) -> Any:
        return self.__dict__["_link"].ask("call", self, list(arguments))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.__dict__["_link"].ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_link"].ask("set", self, name, value)

    def __iter__(self) -> StandIn:
        return self

    def __next__(self) -> Any:
        return self.__dict__["_link"].ask("next", self)


def _called(_: types.ModuleType, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
    """The return value, and the arguments after the call, since functions may modify them."""
    result = function(*arguments, **named)
    return [result, arguments, named]


def _global(module: types.ModuleType, name: str) -> Any:
    if name not in module.__dict__:
        raise NameError(f"name {name!r} is not defined")
    return module.__dict__[name]


_BY_IDENTITY: Any = object.__eq__
_ANSWERS: dict[str, Callable[..., Any]] = {
    "global": _global,
    "call": _called,
    "get": lambda _, value, name: getattr(value, name),
    "set": lambda _, value, name, new: setattr(value, name, new),
    "iter": lambda _, value: _Iterator(value),
    "next": lambda _, value: next(value),
    "len": lambda _, value: len(value),
    "item": lambda _, value, key: value[key],
    "set_item": lambda _, value, key, new: value.__setitem__(key, new),
    "text": lambda _, value: str(value),
    "repr": lambda _, value: repr(value),
    "hash": lambda _, value: hash(value),
    "operate": lambda _, value, name, other: getattr(operator, name)(value, other),
    "kind": lambda _, value: type(value).__name__,
    "truth": lambda _, value: bool(value),
    "equal": lambda _, value, other: bool(value == other),
    "unequal": lambda _, value, other: bool(value != other),
    "by_identity": lambda _, value: type(value).__eq__ is _BY_IDENTITY,
    "is_instance": lambda _, kind, value: isinstance(value, kind),
    "error_names": lambda _, value: names_of(value) if _is_error(value) else [],
}


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


class _Iterator:
    """An iterator that is exported by handle rather than by value."""

    def __init__(self, value: Any) -> None:
        self._each = iter(value)

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._each)
