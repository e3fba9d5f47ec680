"""Running code in a box: as a script with input and output, or as definitions that tests call.

The verdict is always made outside the candidate. The output of a script is compared by the caller. Tests run in a
separate process, which has the expected values and writes its verdict to a file that the candidate cannot access.

Some things work only in one process: replacing `input`, comparing a copy with `is`. Therefore code that fails is run
once more in one process with its tests. If it passes there, it is not known to be wrong, and the verdict is an error.
It is never a pass, since in one process the code could change its tests.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec

from crucible_datasets.evaluation.sandbox.boxes import borrowed
from crucible_datasets.evaluation.sandbox.inside.descriptors import RESULT, TEXT
from crucible_datasets.evaluation.sandbox.limits import Limits

_SHOWN = 4000  # characters of output that a result keeps
_DISTRUSTED = {"NotPlainError", "StoppedError"}
# Errors where plain Python would go on: processes, files of the system, and packages that are installed outside.
_REFUSED = re.compile(
    r"PermissionError: \[Errno 1\] Operation not permitted|\[Errno 30\] Read-only file system"
    r"|FileNotFoundError: \[Errno 2\] .*'/(dev|proc|sys|etc)/|socket\.gaierror|\[Errno 101\] Network is unreachable"
)
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
# Code that changes the interpreter, or says what it is equal to, passes its tests in one process if it likes.
_INTERPRETER = re.compile(
    r"__(class|code|globals|builtins)__|\b(builtins|ctypes|currentframe|_getframe|sys\.modules|gc\.|import gc)\b"
)
_COMPARISON = re.compile(r"__(eq|ne|bool|len|contains|instancecheck)__")


@dataclass(frozen=True)
class Ran:
    """The result of a script: its output, its exit code (negative for a signal), and whether it timed out."""

    output: str
    errors: str
    exit_code: int
    timed_out: bool
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """The result of tests: how many passed before the first failure, and its reason."""

    num_passed: int
    num_tests: int
    reason: str = ""
    timed_out: bool = False
    broken: bool = False  # the tests are invalid, import missing packages, or cannot be run apart from the code
    output: str = ""

    @property
    def passed(self) -> bool:
        """Whether every test was run and passed."""
        return self.num_tests > 0 and self.num_passed == self.num_tests and not self.timed_out and not self.reason


def is_refused(error: str) -> bool:
    """Whether the text of an exception says that the sandbox lacks something which plain Python has here.

    >>> is_refused("PermissionError: [Errno 1] Operation not permitted"), is_refused("PermissionError: no")
    (True, False)
    """
    absent = _NO_MODULE.search(error)
    return bool(_REFUSED.search(error)) or (absent is not None and find_spec(absent[1]) is not None)


def run_program(code: str, stdin: str = "", limits: Limits | None = None) -> Ran:
    """Run a script in a box."""
    chosen = limits or Limits()
    with borrowed() as box, _files(code, stdin, "", "") as (text, given, output, errors):
        answer = box.check({"program": {0: given, 1: output, 2: errors, TEXT: text}}, "program", chosen)
        ended = answer or {"ends": {"program": -9}, "timed_out": True, "seconds": chosen.timeout}
        shown = _content(output, chosen.output), _content(errors, chosen.output)[-_SHOWN:]
        return Ran(*shown, ended["ends"]["program"], ended["timed_out"], ended["seconds"])


def run_tests(
    code: str, tests: Sequence[str], *, prelude: str = "", entry_point: str = "", limits: Limits | None = None
) -> Verdict:
    """Run `tests` on the definitions of `code`. The tests have their own copy of `prelude`."""
    chosen = limits or Limits()
    verdict, error = _examined(code, tests, prelude, entry_point, chosen)
    if verdict.passed or verdict.broken:
        return verdict
    if is_refused(verdict.reason):
        return replace(verdict, reason=f"the sandbox lacks what the code needs: {verdict.reason}", broken=True)
    if error in _DISTRUSTED or _meddles(code, error) or not _passes_in_one_process(code, tests, prelude, chosen):
        return verdict
    reason = f"passes only in one process with its tests, where it could change them; apart: {verdict.reason}"
    return replace(verdict, reason=reason, timed_out=False, broken=True)


def _examined(code: str, tests: Sequence[str], prelude: str, entry_point: str, limits: Limits) -> tuple[Verdict, str]:
    """The verdict of tests in their own process, and the name of the exception that ended them."""
    order = json.dumps({"tests": list(tests), "prelude": prelude, "entry_point": entry_point})
    with borrowed() as box, _files(code, "", order, "") as (text, output, questions, result):
        candidate = {1: output, 2: output, TEXT: text}
        answer = box.check({"candidate": candidate, "examiner": {TEXT: questions, RESULT: result}}, "examiner", limits)
        shown = _content(output, _SHOWN)
        if not answer or answer["timed_out"]:
            reason = f"not finished after {limits.timeout:g} s"
            return Verdict(0, len(tests), reason, timed_out=True, output=shown), ""
        written = _content(result, limits.output)
        if not written:
            return Verdict(0, len(tests), "the tests ended without a verdict", output=shown), ""
        said = json.loads(written)
        verdict = Verdict(said["passed"], len(tests), said["reason"], broken=said["broken"], output=shown)
        return verdict, said["error"]


def _meddles(code: str, error: str) -> bool:
    return bool(_INTERPRETER.search(code) or (error == "AssertionError" and _COMPARISON.search(code)))


def _passes_in_one_process(code: str, tests: Sequence[str], prelude: str, limits: Limits) -> bool:
    order = json.dumps({"code": code, "tests": list(tests), "prelude": prelude})
    with borrowed() as box, _files(order, "", "") as (text, output, result):
        box.check({"together": {1: output, 2: output, TEXT: text, RESULT: result}}, "together", limits)
        return len(tests) > 0 and _content(result, _SHOWN) == "passed"


@contextmanager
def _files(*contents: str) -> Iterator[list[int]]:
    """Anonymous files in memory, one per text."""
    files: list[int] = []
    try:
        for content in contents:
            files.append(os.memfd_create("check"))
            _write(files[-1], content.encode("utf-8", "surrogatepass"))
        yield files
    finally:
        for file in files:
            os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.lseek(file, 0, os.SEEK_SET)


def _content(file: int, longest: int) -> str:
    return os.pread(file, longest, 0).decode("utf-8", "replace")
