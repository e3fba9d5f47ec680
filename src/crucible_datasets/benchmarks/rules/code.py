"""Coding problems: the target is a solution if the data has one, and the tests are in the metadata.

`tests` is Python code that runs after a solution (with `entry_point`, `check(entry_point)` is called), or a list of
cases: `type` is "stdin" (text in, text out) or "call" (`function` is called with the JSON list `input`, and must
return the JSON value `output`).
"""

from __future__ import annotations

import json
from typing import Any

from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule

_CASES = [{"type": "string", "input": "string", "output": "string", "function": "string"}]


@rule("code/check", metadata={"tests": "string", "entry_point": "string"})
def check(prompt: str, solution: str, test: str, entry_point: str) -> Fields:
    """The head of a function, its body, and a function `check` that tests it, as in HumanEval."""
    return {"input": prompt, "target": solution, "metadata": {"tests": test, "entry_point": entry_point}}


@rule("code/asserts", metadata={"tests": "string", "setup": "string"})
def asserts(task: str, solution: str, tests: list[str], setup: str = "", imports: list[str] | None = None) -> Fields:
    """A task in prose, and lines with `assert`, which the input shows, since only they have the function's name."""
    if not tests:
        raise Unfit("tests", "there is no test")
    shown = "\n".join(tests)
    before = "\n".join([*(imports or []), *([setup] if setup else [])])
    asked = f"{task.strip()}\n\nYour code should pass these tests:\n\n{shown}"
    return {"input": asked, "target": solution, "metadata": {"tests": shown, "setup": before}}


@rule("code/cases", metadata={"tests": _CASES, "starter_code": "string"}, at_once=16)
def cases(
    problem: str,
    tests: str,
    starter_code: str | None = None,
    solutions: list[str] | str | None = None,
    details: dict[str, Any] | str | None = None,
) -> Fields:
    """A problem and its tests as JSON text, in any of the formats of DeepCoder."""
    known = _details(details)
    written = [solutions] if isinstance(solutions, str) else solutions or []
    metadata = {"tests": parsed(tests, str(known.get("func_name") or "")), "starter_code": starter_code or ""}
    asked = f"{problem.rstrip()}\n\nStart from this code:\n\n{starter_code}" if starter_code else problem
    return {"input": asked, "target": written[0] if written else "", "metadata": metadata}


def _details(details: dict[str, Any] | str | None) -> dict[str, Any]:
    if not isinstance(details, str):
        return details or {}
    try:
        read = json.loads(details or "{}")
    except ValueError as error:
        raise Unfit("details", f"it is no JSON: {error}") from error
    return read if isinstance(read, dict) else {}


def parsed(tests: str, function: str = "") -> list[dict[str, str]]:
    """The cases in a JSON text: a list of cases, or an object with lists `inputs` and `outputs`."""
    try:
        read = json.loads(tests)
    except (ValueError, RecursionError) as error:
        raise Unfit("tests", f"it is no JSON: {error}") from error
    if isinstance(read, dict):
        named = str(read.get("fn_name") or function)
        read = [
            {"input": given, "output": wanted, "fn_name": named, "type": "call" if named else "stdin"}
            for given, wanted in _paired(read)
        ]
    if not isinstance(read, list) or not read:
        raise Unfit("tests", "there is no test in it")
    return [_case(one, function) for one in read]


def _paired(read: dict[str, Any]) -> list[tuple[Any, Any]]:
    inputs, outputs = read.get("inputs"), read.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise Unfit("tests", "an object of tests has lists `inputs` and `outputs` of one length")
    return list(zip(inputs, outputs, strict=True))


def _case(one: Any, function: str) -> dict[str, str]:
    if not isinstance(one, dict) or "input" not in one or "output" not in one:
        raise Unfit("tests", "a case has `input` and `output`")
    kind = str(one.get("type") or one.get("testtype") or ("call" if one.get("fn_name") else "stdin"))
    details = one.get("metadata") if isinstance(one.get("metadata"), dict) else {}
    named = str(one.get("fn_name") or (details or {}).get("func_name") or function)
    if kind in ("stdin", "stdin_stdout"):
        return {"type": "stdin", "input": _text(one["input"]), "output": _text(one["output"]), "function": ""}
    if kind not in ("call", "functional", "function_call"):
        raise Unfit("tests", f"cases of type {kind!r} are not known")
    if not named:
        raise Unfit("tests", "a case calls a function that nothing names")
    return {"type": "call", "input": _arguments(one["input"]), "output": _value(one["output"]), "function": named}


def _text(value: Any) -> str:
    return "\n".join(map(_text, value)) if isinstance(value, list) else value if isinstance(value, str) else str(value)


def _arguments(value: Any) -> str:
    """A JSON list of arguments; a text has one argument per line, as JSON."""
    if not isinstance(value, str):
        return json.dumps(value if isinstance(value, list) else [value])
    try:
        return json.dumps([json.loads(line) for line in value.splitlines() if line.strip()])
    except ValueError as error:
        raise Unfit("tests", f"an argument is no JSON: {error}") from error


def _value(value: Any) -> str:
    """A value as JSON text; a text that is JSON already is unchanged."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return json.dumps(value)
        return value
    return json.dumps(value)
