"""The candidate: the process that runs the code under test, and serves calls of what it defines.

Whatever the code does to this process, it can only change the values that it sends.
"""

from __future__ import annotations

import os
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.sandbox.inside.link import Link, description_of

_MODULE = "solution"


def run_program(text: int) -> None:
    """Run the code as a script with standard input and output."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["solution.py"]
    _reopen_standard_streams()
    try:
        exec(compile(_read(text), "solution.py", "exec"), module.__dict__)  # noqa: S102 – the purpose of the box
    except SystemExit as leave:
        sys.stdout.flush()
        os._exit(leave.code if isinstance(leave.code, int) else int(leave.code is not None))
    finally:
        sys.stdout.flush()


def _reopen_standard_streams() -> None:
    """Open standard streams again: those inherited from the fork server belong to closed files."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


def serve(text: int, link: int) -> None:
    """Execute the definitions, then serve requests of the examiner."""
    _reopen_standard_streams()
    module = types.ModuleType(_MODULE)
    sys.modules[_MODULE] = module
    served = Link(socket.socket(fileno=link), lambda operation, given: _ANSWERS[operation](module, *given), StandIn)
    names, problem = _defined(_read(text), module)
    served.tell("loaded", names, problem)
    served.serve()
    sys.stdout.flush()


def _defined(code: str, module: types.ModuleType) -> tuple[list[str], str]:
    """Execute the code; if it fails, the classes of the exception and its text."""
    try:
        exec(compile(code, "solution.py", "exec"), module.__dict__)  # noqa: S102 – the purpose of the box
    except BaseException as error:  # noqa: BLE001 – SystemExit, too, is an end before any test
        return description_of(error)
    return [], ""


def _read(file: int) -> str:
    with open(file, encoding="utf-8", errors="surrogatepass", newline="") as opened:
        opened.seek(0)
        return opened.read()


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
    "kind": lambda _, value: type(value).__name__,
}


class _Iterator:
    """An iterator that is exported by handle rather than by value."""

    def __init__(self, value: Any) -> None:
        self._each = iter(value)

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return next(self._each)
