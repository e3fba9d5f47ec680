"""Code: whether it passes its tests in a sandbox, and pass@k."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

from crucible_datasets.evaluation.metrics.base import METRICS, Judge, Metric, metric
from crucible_datasets.evaluation.metrics.passing import pass_at_k, verdicts
from crucible_datasets.evaluation.outcome import WRONG, Outcome
from crucible_datasets.exceptions import CodeExecutionRefusedError

_MIB = 1 << 20
_FENCED = (
    "strip_thinking@2 | code/fenced@2"  # chat models put code into a fenced block; a text without one is unchanged
)


def code_execution_many(
    predictions: list[Any],
    targets: list[Any],
    *,
    samples: Sequence[Any] = (),
    allow_code_execution: bool = False,
    tests: Any = None,
    entry_point: str | None = None,
    prompt: str | None = None,
    setup: str | None = None,
    timeout: float = 3.0,
    memory: int = 1024 * _MIB,
    num_workers: int | None = None,
) -> list[Outcome]:
    """`code_execution` of many completions, in as many sandboxes as there are CPUs."""
    if allow_code_execution is not True:
        raise CodeExecutionRefusedError("code_execution")
    from crucible_datasets.evaluation.sandbox.limits import Limits
    from crucible_datasets.evaluation.sandbox.tasks import task_of

    limits = Limits(timeout=timeout, memory=memory)
    given = {"tests": tests, "entry_point": entry_point, "prompt": prompt, "setup": setup}
    whole = samples or [None] * len(predictions)
    tasks = [task_of(sample, _with_tests(given, sample, target)) for sample, target in zip(whole, targets, strict=True)]

    def judged(completion: Any, task: Any) -> Outcome:
        return _outcome(task.judge("" if completion is None else str(completion), limits))

    with ThreadPoolExecutor(num_workers or os.cpu_count() or 1) as pool:
        return list(pool.map(judged, predictions, tasks))


@metric(version=1, binary=True, all_targets=True, many=code_execution_many, reads=_FENCED, aliases=("code",))
def code_execution(
    prediction: str,
    target: Any = None,
    *,
    sample: Any = None,
    allow_code_execution: bool = False,
    tests: Any = None,
    entry_point: str | None = None,
    prompt: str | None = None,
    setup: str | None = None,
    timeout: float = 3.0,
    memory: int = 1024 * _MIB,
    num_workers: int | None = None,
) -> Outcome:
    """1 when code passes all its tests in a sandbox; requires `allow_code_execution=True`.

    Tests come from the sample's metadata or from `tests`: Python with `check` and an `entry_point` (HumanEval; the
    prompt goes before the completion), lines with `assert` (MBPP), or cases of input and output (DeepCoder).
    """
    return code_execution_many(
        [prediction],
        [target],
        samples=[sample],
        allow_code_execution=allow_code_execution,
        tests=tests,
        entry_point=entry_point,
        prompt=prompt,
        setup=setup,
        timeout=timeout,
        memory=memory,
        num_workers=1,
    )[0]


@metric("pass_at_k", version=1, all_targets=True, several=True, reads=_FENCED, aliases=("code_eval",))
def pass_at_k_of_completions(
    prediction: Any,
    target: Any = None,
    *,
    sample: Any = None,
    k: int = 1,
    allow_code_execution: bool = False,
    tests: Any = None,
    entry_point: str | None = None,
    prompt: str | None = None,
    setup: str | None = None,
    timeout: float = 3.0,
    memory: int = 1024 * _MIB,
    num_workers: int | None = None,
) -> Outcome:
    """The probability that one of `k` completions passes, computed from all completions of a sample.

    The prediction is a list of completions, which are run as `code_execution` does, or a list of bools.
    """
    completions = list(prediction) if isinstance(prediction, list | tuple) else [prediction]
    broken: list[Outcome] = []
    if all(isinstance(each, bool | None) for each in completions):
        passed = [each is True for each in completions]
    else:
        options = {
            "allow_code_execution": allow_code_execution,
            "tests": tests,
            "entry_point": entry_point,
            "prompt": prompt,
            "setup": setup,
            "timeout": timeout,
            "memory": memory,
            "num_workers": num_workers,
        }
        outcomes = verdicts(
            (id(sample), repr((completions, target, options))), lambda: _run(completions, target, sample, options)
        )
        broken = [outcome for outcome in outcomes if outcome.value is None]
        passed = [outcome.value == 1.0 for outcome in outcomes if outcome.value is not None]
        if broken and len(passed) < k:
            return broken[0]
    detail: dict[str, Any] = {"n": len(passed), "c": sum(passed), "k": k}
    if broken:
        detail |= {"errors": len(broken), "reason": (broken[0].detail or {}).get("reason")}
    return Outcome(pass_at_k(len(passed), sum(passed), k), detail=detail)


def _run(completions: list[Any], target: Any, sample: Any, options: dict[str, Any]) -> list[Outcome]:
    """The outcome of each completion; a missing one passes no test."""
    there = [one for one in completions if one is not None]
    run = code_execution_many(there, [target] * len(there), samples=[sample] * len(there), **options)
    return [*run, *[WRONG] * (len(completions) - len(there))]


def _with_tests(given: dict[str, Any], sample: Any, target: Any) -> dict[str, Any]:
    """The options with tests; without a sample, the target is the tests (in a sample, it is a solution)."""
    bare = sample is None and given["tests"] is None and target
    return {**given, "tests": target} if bare else given


# `pass_k`, `pass^k`: the chance that all of k completions pass, which is another measure (tau-bench).
_FIXED = re.compile(r"pass(?:@|_at_)([1-9][0-9]{0,5}|k)(?:@1)?", re.IGNORECASE)


def _with_fixed_k(asked: str) -> Metric | None:
    """The metric `pass@10` and so on: pass_at_k for one k, so that a run can have several."""
    found = _FIXED.fullmatch(asked)
    general = METRICS.entries["pass_at_k@1"]
    if found is None or not found[1].isdigit():
        return general if found else None
    return replace(general, name=f"pass_at_{found[1]}", function=_pass_at(int(found[1])), aliases=(f"pass@{found[1]}",))


@cache
def _pass_at(k: int) -> Judge:
    def passes(prediction: Any, target: Any = None, *, sample: Any = None, **options: Any) -> Outcome:
        return pass_at_k_of_completions(prediction, target, sample=sample, k=k, **options)

    general = signature(pass_at_k_of_completions)
    passes.__doc__ = f"The chance that one of {k} completions passes."
    left = [one for name, one in general.parameters.items() if name != "k"]
    passes.__signature__ = general.replace(parameters=left)  # type: ignore[attr-defined]
    return passes


METRICS.families.append(_with_fixed_k)


def _outcome(verdict: Any) -> Outcome:
    detail = {"passed": verdict.num_passed, "tests": verdict.num_tests}
    if verdict.reason:
        detail["reason"] = verdict.reason
    if verdict.broken:
        return Outcome(None, status="error", detail=detail)
    return Outcome(float(verdict.passed), status="timeout" if verdict.timed_out else "ok", detail=detail)
