"""The examiner: runs the tests, gets values from the candidate, and writes the verdict.

Expected values, comparisons and the verdict are in this process, which the candidate cannot access. Names that a test
uses from the candidate are proxies: calling one sends plain arguments and returns a plain value.
"""

from __future__ import annotations

import array
import builtins
import collections
import json
import os
import socket
import sys
import types
from typing import Any

from crucible_datasets.evaluation.sandbox.inside.errors import error_class
from crucible_datasets.evaluation.sandbox.inside.link import Link, LinkLostError

_MODULE = "tests"


class NotLoadedError(Exception):
    """The code of the candidate failed to execute."""


class NotPlainError(Exception):
    """A test compares an object of the candidate, whose `__eq__` cannot be trusted, with a plain value."""


class StoppedError(Exception):
    """The candidate raised StopIteration."""


def examine(text: int, link: int, result: int) -> None:
    """Run all tests and write the verdict. Without a verdict, the check has failed."""
    with open(text, encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.seek(0)
        order = json.load(file)
    connection = socket.socket(fileno=link)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    verdict = _verdict(order, Link(connection, _answer, Candidate))
    with open(result, "w", encoding="utf-8") as file:
        json.dump(verdict, file)


def _verdict(order: dict[str, Any], link: Link) -> dict[str, Any]:
    """The number of tests that passed before the first failure, its reason, and whether the tests are broken."""
    passed, compiled = 0, False
    try:
        tests = [compile(test, "test", "exec", dont_inherit=True) for test in order["tests"]]
        compiled = True
        names = _known_to_the_tests(order, link)
        for test in tests:
            exec(test, names)  # noqa: S102 – the purpose of the box
            if link.lost:
                raise LinkLostError
            passed += 1
    except LinkLostError:
        return {"passed": passed, "reason": "the candidate's process ended", "broken": False, "error": ""}
    except BaseException as error:  # noqa: BLE001 – whatever a test raises, it did not pass
        reason = _reason(error, "".join(order["tests"][passed : passed + 1]))
        broken = not compiled or _lacks_a_package(error)
        return {"passed": passed, "reason": reason, "broken": broken, "error": type(error).__name__}
    return {"passed": passed, "reason": "", "broken": False, "error": ""}


def _lacks_a_package(error: BaseException) -> bool:
    """Whether the tests import a package that is missing in the box."""
    return isinstance(error, ImportError) and not getattr(error, "of_candidate", False)


def _known_to_the_tests(order: dict[str, Any], link: Link) -> Names:
    _, classes, text, _ = link.received()
    if classes:
        raise NotLoadedError(f"{classes[0].rpartition('.')[2]}: {text}")
    names = Names(link)
    link.own = names.get
    _run_prelude(order["prelude"], names)
    if order["entry_point"]:
        names[order["entry_point"]] = link.ask("global", order["entry_point"])
    classes = {name: own for name, own in names.items() if isinstance(own, type) and own.__module__ == _MODULE}
    if link.share(classes):
        both = set(link.ask("share", list(link.shared)))
        for name in set(link.shared) - both:
            del link.shared[name]
    return names


def _run_prelude(code: str, names: Names) -> None:
    """Execute the code that candidate and tests share; a final function head without body is completed."""
    for ending in ("", "\n    pass\n"):
        try:
            compiled = compile(code + ending, "prelude", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        exec(compiled, names)  # noqa: S102 – the purpose of the box
        return


def _reason(error: BaseException, test: str) -> str:
    """The exception, and the line of the test that raised it."""
    trace, number = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "test":
            number = trace.tb_lineno
        trace = trace.tb_next
    lines = test.splitlines()
    line = f" in: {lines[number - 1].strip()}" if 0 < number <= len(lines) else ""
    return f"{type(error).__name__}: {error}{line}"[:2000]


class Names(dict[str, Any]):
    """The globals of the tests; undefined names are looked up in the candidate."""

    def __init__(self, link: Link) -> None:
        super().__init__(__name__=_MODULE, __builtins__=builtins)
        self.link = link

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        value = self.link.ask("global", name)
        # Tests catch exceptions by their class, which therefore needs one on this side.
        names = self.link.ask("error_names", value) if isinstance(value, Candidate) else []
        self[name] = error_class(names, self.get) if names else value
        return self[name]


class Candidate:
    """A proxy for a function, a class or an object of the candidate."""

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
            # StopIteration would silently end a loop of the test.
            raise StoppedError("the candidate raised StopIteration") from error
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
        return any(part == item for part in self)  # the candidate's `__contains__` cannot be trusted

    def __str__(self) -> str:
        text = self._ask("text")
        return text if type(text) is str else ""

    def __repr__(self) -> str:
        text = self._ask("repr")
        return text if type(text) is str else ""

    def __hash__(self) -> int:
        return int(self._ask("hash"))

    def __eq__(self, other: object) -> bool:
        return self is other or self._compared("equal", other)

    def __ne__(self, other: object) -> bool:
        if isinstance(other, Candidate) and self is not other:
            return self._compared("unequal", other)
        return not self == other

    def _compared(self, operation: str, other: object) -> bool:
        """Compare two objects of the candidate by its own class, as the candidate chose both; never with a value."""
        if isinstance(other, Candidate):
            return self._ask(operation, other) is True
        if self._ask("by_identity") is True:
            return False
        raise NotPlainError(f"a {self._ask('kind')} object is compared with {other!r:.100}, which takes plain values")

    def __bool__(self) -> bool:
        return self._ask("truth") is True

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Candidate) and self._ask("is_instance", value) is True


def _operation(name: str) -> Any:
    def operate(self: Candidate, other: object) -> Any:
        """The candidate's result for two objects of its own; with a plain value, it would learn that value."""
        return self._ask("operate", name, other) if isinstance(other, Candidate) else NotImplemented

    return operate


_BITWISE = ("__and__", "__or__", "__xor__", "__lshift__", "__rshift__")
_ARITHMETIC = ("__add__", "__sub__", "__mul__", "__matmul__", "__truediv__", "__floordiv__", "__mod__", "__pow__")
for _name in ("__lt__", "__le__", "__gt__", "__ge__", *_ARITHMETIC, *_BITWISE):
    setattr(Candidate, _name, _operation(_name))


def _take_over(before: Any, now: Any) -> None:
    """Apply the changes that the candidate made to its copy of an argument."""
    if type(before) is not type(now) or before is now:
        return
    if isinstance(before, list | bytearray | array.array):
        before[:] = now
    elif isinstance(before, collections.deque):
        before.clear()
        before.extend(now)
    elif isinstance(before, dict | set):
        before.clear()
        before.update(now)
    elif isinstance(before, types.SimpleNamespace):
        _take_over(vars(before), vars(now))


def _answer(operation: str, arguments: list[Any]) -> Any:
    """Serve a request of the candidate, which may only call functions and read public attributes of its arguments."""
    target, *given = arguments
    if operation == "call" and isinstance(target, _CALLABLE):
        return target(*given[0])
    if operation == "next" and hasattr(target, "__next__"):
        return next(target)
    if operation in ("get", "set") and type(target).__module__ == _MODULE and not given[0].startswith("_"):
        return getattr(target, given[0]) if operation == "get" else setattr(target, given[0], given[1])
    raise PermissionError(operation)


_CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
