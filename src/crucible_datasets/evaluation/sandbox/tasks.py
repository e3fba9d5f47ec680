"""Coding tasks in the formats of benchmarks, and the verdict on one completion.

    HumanEval   tests = a function `check`, entry_point, prompt = the head of the function
    MBPP        tests = lines with assert, setup = what they need
    DeepCoder   tests = cases {"type": "stdin", "input", "output"} or {"type": "call", "function", "input", "output"}

A completion is run against all tests, up to the first that fails.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crucible_datasets.evaluation.sandbox.limits import Limits
from crucible_datasets.evaluation.sandbox.outputs import same_output
from crucible_datasets.evaluation.sandbox.running import Verdict, is_refused, run_program, run_tests
from crucible_datasets.exceptions import CodeTestsError

_TESTS = ("tests", "test", "test_list")  # the last two are the names of HumanEval and MBPP
_SETUP = ("setup", "test_imports", "test_setup_code")
_CHECK = re.compile(r"^def check\b", re.MULTILINE)
_SHOWN = 200

# JSON has no tuples.
_AS_JSON = """
def _as_json(value):
    if isinstance(value, (list, tuple)):
        return [_as_json(part) for part in value]
    return {str(key): _as_json(part) for key, part in value.items()} if isinstance(value, dict) else value
"""


@dataclass(frozen=True)
class CodeTask:
    """The tests of a task, and the code before them."""

    tests: Sequence[Any]
    prompt: str = ""
    setup: str = ""
    entry_point: str = ""

    def judge(self, completion: str, limits: Limits) -> Verdict:
        """Run a completion against all tests."""
        # MBPP has Windows line ends, which must not be mixed with others in one program.
        program = (self.prompt + completion).replace("\r\n", "\n")
        if self.tests and isinstance(self.tests[0], str):
            return run_tests(program, self.tests, prelude=self._prelude(), entry_point=self.entry_point, limits=limits)
        for number, case in enumerate(self.tests):
            verdict = _judged(program, case, limits)
            if not verdict.passed:
                return replace(verdict, num_passed=number, num_tests=len(self.tests))
        return Verdict(len(self.tests), len(self.tests))

    def _prelude(self) -> str:
        return "\n".join(part for part in (self.prompt, self.setup) if part)


def task_of(sample: Any, given: Mapping[str, Any]) -> CodeTask:
    """The task in the metadata of a sample; values in `given` take precedence."""
    metadata = getattr(sample, "metadata", None) or {}
    known = {**metadata, **{name: value for name, value in given.items() if value is not None}}
    tests = next((known[name] for name in _TESTS if known.get(name)), None)
    if tests is None:
        raise CodeTestsError("There are no tests to run the code against.", metadata)
    entry_point = str(known.get("entry_point") or "")
    setup = "\n".join(_text(known[name]) for name in _SETUP if known.get(name))
    if not isinstance(tests, str):
        return CodeTask(list(tests), setup=setup, entry_point=entry_point)
    if not entry_point or not _CHECK.search(tests):
        return CodeTask([tests], setup=setup, entry_point=entry_point)
    prompt = known.get("prompt", getattr(sample, "input", ""))
    return CodeTask([f"{tests}\n\ncheck({entry_point})\n"], prompt if _is_code(prompt) else "", setup, entry_point)


def _is_code(prompt: Any) -> bool:
    """Whether a prompt is the beginning of a program; a task in prose before the completion would be a syntax error."""
    return isinstance(prompt, str) and any(map(_parses, (prompt, f"{prompt.rstrip()}\n    pass\n")))


def _parses(program: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):  # invalid escapes are deprecated, but valid
            ast.parse(program.replace("\r\n", "\n"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "\n".join(value)


def _judged(program: str, case: Any, limits: Limits) -> Verdict:
    """The verdict on one case."""
    if not isinstance(case, Mapping) or not {"input", "output"} <= case.keys():
        raise CodeTestsError(f"A case has `input` and `output`, and this is {case!r:.100}.")
    if case.get("type", "stdin") == "call":
        return run_tests(program, [_call(program, case)], prelude=_AS_JSON, limits=limits)
    ran = run_program(program, case["input"], limits)
    if ran.timed_out:
        return Verdict(0, 1, f"not finished after {limits.timeout:g} s", timed_out=True)
    if ran.exit_code:
        last = ran.errors.rstrip().rpartition("\n")[2]
        refused = "the sandbox lacks what the code needs: " if is_refused(last) else ""
        return Verdict(0, 1, f"{refused}it ended with {ran.exit_code}: {ran.errors[-_SHOWN:]}", broken=bool(refused))
    if same_output(ran.output, case["output"]):
        return Verdict(1, 1)
    return Verdict(0, 1, f"printed {ran.output[:_SHOWN]!r} instead of {case['output'][:_SHOWN]!r}")


def _call(program: str, case: Mapping[str, Any]) -> str:
    """The test of one call; functions of LeetCode are methods of a class."""
    name = case["function"]
    if not str(name).isidentifier():
        raise CodeTestsError(f"{name!r} is not the name of a function.")
    called = f"Solution().{name}" if "class Solution" in program else name
    given, wanted = json.loads(case["input"]), json.loads(case["output"])
    return f"assert _as_json({called}(*{given!r})) == {wanted!r}"
