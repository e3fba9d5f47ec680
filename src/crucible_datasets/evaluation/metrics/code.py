"""Code: whether it passes its tests, run in a sandbox, and the chance that one of k completions does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.passing import pass_at_k
from crucible_datasets.exceptions import CodeExecutionRefusedError

_MIB = 1 << 20


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
    """`code_execution` of many completions, by as many boxes as there are processors."""
    if allow_code_execution is not True:
        raise CodeExecutionRefusedError("code_execution")
    from crucible_datasets.evaluation.sandbox.limits import Limits
    from crucible_datasets.evaluation.sandbox.tasks import task_of

    limits = Limits(timeout=timeout, memory=memory)
    given = {"tests": tests, "entry_point": entry_point, "prompt": prompt, "setup": setup}
    tasks = [task_of(sample, given) for sample in samples or [None] * len(predictions)]

    def judged(completion: Any, task: Any) -> Outcome:
        return _outcome(task.judge("" if completion is None else str(completion), limits))

    with ThreadPoolExecutor(num_workers or os.cpu_count() or 1) as pool:
        return list(pool.map(judged, predictions, tasks))


@metric(version=1, binary=True, all_targets=True, many=code_execution_many)
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
    """1 when code passes all its tests in a sandbox; only when `allow_code_execution=True` stands in the call.

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


@metric("pass_at_k", version=1, all_targets=True, several=True)
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
    """The chance that one of `k` completions passes, estimated exactly from all completions of a sample.

    The prediction is a list of completions, which are run as `code_execution` does, or a list of bools.
    """
    completions = list(prediction) if isinstance(prediction, list | tuple) else [prediction]
    if all(isinstance(each, bool | None) for each in completions):
        passed = [each is True for each in completions]
    else:
        outcomes = code_execution_many(
            completions,
            [target] * len(completions),
            samples=[sample] * len(completions),
            allow_code_execution=allow_code_execution,
            tests=tests,
            entry_point=entry_point,
            prompt=prompt,
            setup=setup,
            timeout=timeout,
            memory=memory,
            num_workers=num_workers,
        )
        broken = [outcome for outcome in outcomes if outcome.value is None]
        if broken:
            return broken[0]
        passed = [outcome.value == 1.0 for outcome in outcomes]
    return Outcome(pass_at_k(len(passed), sum(passed), k), detail={"n": len(passed), "c": sum(passed), "k": k})


def _outcome(verdict: Any) -> Outcome:
    detail = {"passed": verdict.num_passed, "tests": verdict.num_tests}
    if verdict.reason:
        detail["reason"] = verdict.reason
    if verdict.broken:
        return Outcome(None, status="error", detail=detail)
    return Outcome(float(verdict.passed), status="timeout" if verdict.timed_out else "ok", detail=detail)
