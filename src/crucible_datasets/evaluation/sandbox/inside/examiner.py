"""The side of the examiner: runs the tests, asks the candidate for values, and writes the verdict.

The expected values, the comparison and the verdict are here, in a process that the candidate cannot reach. The
names that a test takes from the candidate are stand-ins: calling one sends plain arguments and brings a plain value.
"""

from __future__ import annotations

import builtins
import json
import os
import socket
import sys
import types
from typing import Any

from crucible_datasets.evaluation.sandbox.inside.link import Link, LinkLostError

_MODULE = "tests"


class NotLoadedError(Exception):
    """The code of the candidate does not run."""


class NotPlainError(Exception):
    """A test compares an object that only the candidate could judge."""


def examine(text: int, link: int, result: int) -> None:
    """Run all tests and write what came of it. No verdict means: not passed."""
    with open(text, encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.seek(0)
        order = json.load(file)
    connection = socket.socket(fileno=link)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    verdict = _verdict(order, Link(connection, _answer, Candidate))
    with open(result, "w", encoding="utf-8") as file:
        json.dump(verdict, file)


def _verdict(order: dict[str, Any], link: Link) -> dict[str, Any]:
    """How many tests passed before the first that did not, why that did not, and whether the tests are to blame."""
    passed, compiled = 0, False
    try:
        tests = [compile(test, "test", "exec") for test in order["tests"]]
        compiled = True
        names = _known_to_the_tests(order, link)
        for test in tests:
            exec(test, names)  # noqa: S102 – the purpose of the box
            if link.lost:
                raise LinkLostError
            passed += 1
    except LinkLostError:
        return {"passed": passed, "reason": "the candidate's process ended", "broken": False}
    except BaseException as error:  # noqa: BLE001 – whatever a test raises, it did not pass
        reason = _reason(error, "".join(order["tests"][passed : passed + 1]))
        return {"passed": passed, "reason": reason, "broken": not compiled or _lacks_a_package(error)}
    return {"passed": passed, "reason": "", "broken": False}


def _lacks_a_package(error: BaseException) -> bool:
    """Whether the tests themselves import what the box does not have."""
    return isinstance(error, ImportError) and not getattr(error, "of_candidate", False)


def _known_to_the_tests(order: dict[str, Any], link: Link) -> Names:
    _, classes, text = link.received()
    if classes:
        raise NotLoadedError(f"{classes[0]}: {text}")
    names = Names(link)
    _run_prelude(order["prelude"], names)
    if order["entry_point"]:
        names[order["entry_point"]] = link.ask("global", order["entry_point"])
    return names


def _run_prelude(code: str, names: Names) -> None:
    """What the task gives to candidate and tests alike; often a function that has no body yet."""
    for ending in ("", "\n    pass\n"):
        try:
            compiled = compile(code + ending, "prelude", "exec")
        except SyntaxError:
            continue
        exec(compiled, names)  # noqa: S102 – the purpose of the box
        return


def _reason(error: BaseException, test: str) -> str:
    """The exception, and the line of the test that it came from."""
    trace, number = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "test":
            number = trace.tb_lineno
        trace = trace.tb_next
    lines = test.splitlines()
    line = f" in: {lines[number - 1].strip()}" if 0 < number <= len(lines) else ""
    return f"{type(error).__name__}: {error}{line}"[:2000]


class Names(dict[str, Any]):
    """The names of the tests; a name that they do not define is the candidate's."""

    def __init__(self, link: Link) -> None:
        super().__init__(__name__=_MODULE, __builtins__=builtins)
        self.link = link

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        self[name] = self.link.ask("global", name)
        return self[name]


class Candidate:
    """A function, a class or an object of the candidate's."""

    def __init__(self, link: Link, number: int) -> None:
        self.__dict__.update(_link=link, _number=number)

    def _number_of(self) -> int:
        number: int = self.__dict__["_number"]
        return number

    def _ask(self, operation: str, *arguments: Any) -> Any:
        return self.__dict__["_link"].ask(operation, self, *arguments)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        try:
            result, after, named_after = self._ask("call", list(arguments), named)
        except StopIteration as error:
            # It would end a loop of the test over calls, as if all of them had been made.
            raise RuntimeError("the candidate raised StopIteration") from error
        for before, now in zip([*arguments, *named.values()], [*after, *named_after.values()], strict=True):
            _take_over(before, now)
        return result

    def __getattr__(self, name: str) -> Any:
        return self._ask("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, value)

    def __len__(self) -> int:
        return int(self._ask("len"))

    def __iter__(self) -> Any:
        return self._ask("iter")

    def __next__(self) -> Any:
        return self._ask("next")

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("set_item", key, value)

    def __contains__(self, item: Any) -> bool:
        return any(part == item for part in self)  # not what the candidate says of it

    def __str__(self) -> str:
        text = self._ask("text")
        return text if type(text) is str else ""

    __repr__ = __str__
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise NotPlainError(f"a {self._ask('kind')} object is compared with {other!r:.100}, which takes plain values")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        raise NotPlainError(f"a {self._ask('kind')} object is taken for true or false, which takes plain values")


def _take_over(before: Any, now: Any) -> None:
    """Change what was given as the candidate has changed its copy."""
    if type(before) is not type(now) or before is now:
        return
    if isinstance(before, list | bytearray):
        before[:] = now
    elif isinstance(before, dict | set):
        before.clear()
        before.update(now)


def _answer(operation: str, arguments: list[Any]) -> Any:
    """What a candidate may ask: calls of functions that it was given, public fields of objects that it was given."""
    target, *given = arguments
    if operation == "call" and isinstance(target, _CALLABLE):
        return target(*given[0])
    if operation == "next" and hasattr(target, "__next__"):
        return next(target)
    if operation in ("get", "set") and type(target).__module__ == _MODULE and not given[0].startswith("_"):
        return getattr(target, given[0]) if operation == "get" else setattr(target, given[0], given[1])
    raise PermissionError(operation)


_CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
