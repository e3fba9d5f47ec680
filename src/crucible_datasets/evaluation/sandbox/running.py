"""Running code in a box: as a script with input and output, or as definitions that tests call.

The verdict is always made outside the candidate. The output of a script is compared by the caller. Tests run in a
separate process, which has the expected values and writes its verdict to a file that the candidate cannot access.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from crucible_datasets.evaluation.sandbox.boxes import borrowed
from crucible_datasets.evaluation.sandbox.inside.descriptors import RESULT, TEXT
from crucible_datasets.evaluation.sandbox.limits import Limits

_SHOWN = 4000  # characters of output that a result keeps


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
    broken: bool = False  # the tests are invalid, or import missing packages
    output: str = ""

    @property
    def passed(self) -> bool:
        """Whether every test was run and passed."""
        return self.num_tests > 0 and self.num_passed == self.num_tests and not self.timed_out and not self.reason


def run_program(code: str, stdin: str = "", limits: Limits | None = None) -> Ran:
    """Run a script in a box."""
    chosen = limits or Limits()
    with borrowed() as box, _files(code, stdin, "", "") as (text, given, output, errors):
        answer = box.check({"program": {0: given, 1: output, 2: errors, TEXT: text}}, "program", chosen)
        ended = answer or {"ends": {"program": -9}, "timed_out": True, "seconds": chosen.timeout}
        shown = _content(output, chosen.output), _content(errors, _SHOWN)
        return Ran(*shown, ended["ends"]["program"], ended["timed_out"], ended["seconds"])


def run_tests(
    code: str, tests: Sequence[str], *, prelude: str = "", entry_point: str = "", limits: Limits | None = None
) -> Verdict:
    """Run `tests` on the definitions of `code`. The tests have their own copy of `prelude`."""
    chosen = limits or Limits()
    order = json.dumps({"tests": list(tests), "prelude": prelude, "entry_point": entry_point})
    with borrowed() as box, _files(code, "", order, "") as (text, output, questions, result):
        candidate = {1: output, 2: output, TEXT: text}
        answer = box.check({"candidate": candidate, "examiner": {TEXT: questions, RESULT: result}}, "examiner", chosen)
        shown = _content(output, _SHOWN)
        if not answer or answer["timed_out"]:
            return Verdict(0, len(tests), f"not finished after {chosen.timeout:g} s", timed_out=True, output=shown)
        return _verdict(_content(result, chosen.output), len(tests), shown)


def _verdict(written: str, num_tests: int, output: str) -> Verdict:
    if not written:
        return Verdict(0, num_tests, "the tests ended without a verdict", output=output)
    verdict = json.loads(written)
    return Verdict(verdict["passed"], num_tests, verdict["reason"], broken=verdict["broken"], output=output)


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
