"""Coding problems, with solutions that pass their tests."""

from __future__ import annotations

import json
from typing import Any

from crucible_datasets.benchmarks.miniatures.base import Draw, Row, maker


def _function(draw: Draw, number: int) -> tuple[str, str, str, list[tuple[int, int]]]:
    """The name of a function, its purpose, an expression of x, and some values."""
    a, b = draw.number(2, 9), draw.number(1, 50)
    xs = [draw.number(-20, 20) for _ in range(3)]
    name = f"scale_and_add_{a}_{b}"
    return name, f"Return {a} times x, plus {b}.", f"{a} * x + {b}", [(x, a * x + b) for x in xs]


@maker(
    "openai/openai_humaneval",
    {
        "task_id": "string",
        "prompt": "string",
        "canonical_solution": "string",
        "test": "string",
        "entry_point": "string",
    },
)
def humaneval(draw: Draw, config: str, split: str, number: int) -> Row:
    name, purpose, formula, values = _function(draw, number)
    x, y = values[0]
    asserts = "\n".join(f"    assert candidate({x}) == {y}" for x, y in values)
    return {
        "task_id": f"Made/{number}",
        "prompt": f'def {name}(x: int) -> int:\n    """{purpose}\n\n    >>> {name}({x})\n    {y}\n    """\n',
        "canonical_solution": f"    return {formula}\n",
        "test": f"def check(candidate):\n{asserts}\n",
        "entry_point": name,
    }


_MBPP: dict[str, dict[str, Any]] = {
    "full": {
        "task_id": "int32",
        "text": "string",
        "code": "string",
        "test_list": ["string"],
        "test_setup_code": "string",
        "challenge_test_list": ["string"],
    },
    "sanitized": {
        "source_file": "string",
        "task_id": "int32",
        "prompt": "string",
        "code": "string",
        "test_imports": ["string"],
        "test_list": ["string"],
    },
}


@maker("google-research-datasets/mbpp", lambda config: _MBPP[config])
def mbpp(draw: Draw, config: str, split: str, number: int) -> Row:
    name, purpose, formula, values = _function(draw, number)
    code = f"def {name}(x):\r\n  return {formula}"
    tests = [f"assert {name}({x}) == {y}" for x, y in values]
    asked = f"Write a python function: {purpose}"
    if config == "sanitized":
        more = {"source_file": "made.ipynb", "prompt": asked, "test_imports": ["import math"]}
    else:
        more = {"text": asked, "test_setup_code": "", "challenge_test_list": []}
    return {"task_id": number + 1, "code": code, "test_list": tests, **more}


_DEEPCODER: dict[str, dict[str, Any]] = {
    "lcbv5": {
        "problem": "string",
        "starter_code": "string",
        "tests": "string",
        "metadata": {"func_name": "string"},
    },
    "primeintellect": {"problem": "string", "solutions": ["string"], "tests": "string"},
    "taco": {"problem": "string", "tests": "string", "solutions": ["string"]},
    "codeforces": {"problem": "string", "tests": "string"},
}


@maker("agentica-org/DeepCoder-Preview-Dataset", lambda config: _DEEPCODER[config])
def deepcoder(draw: Draw, config: str, split: str, number: int) -> Row:
    name, purpose, formula, values = _function(draw, number)
    reading = {
        "problem": f"{purpose} Read x, and print the result.",
        "solutions": [f"x = int(input())\nprint({formula})"],
    }
    given = [{"input": f"{x}\n", "output": f"{y}\n"} for x, y in values]
    if config == "lcbv5":
        return _live(name, purpose, values, given, number)
    if config == "taco":
        tests: Any = {"inputs": [one["input"] for one in given], "outputs": [one["output"] for one in given]}
    elif config == "primeintellect":
        tests = [{"type": "stdin_stdout", **one} for one in given]
    else:
        tests = given
    kept = {name: value for name, value in reading.items() if name in _DEEPCODER[config]}
    return {**kept, "tests": json.dumps(tests)}


def _live(name: str, purpose: str, values: list[tuple[int, int]], given: list[Row], number: int) -> Row:
    """A problem of LiveCodeBench: every other one is a function to be called."""
    if number % 2:
        tests = [{**one, "testtype": "stdin"} for one in given]
        return {"problem": f"{purpose} Read x.", "starter_code": "", "tests": json.dumps(tests), "metadata": {}}
    tests = [{"input": str(x), "output": str(y), "testtype": "functional"} for x, y in values]
    starter = f"class Solution:\n    def {name}(self, x: int) -> int:\n        "
    return {
        "problem": purpose,
        "starter_code": starter,
        "tests": json.dumps(tests),
        "metadata": {"func_name": name},
    }
