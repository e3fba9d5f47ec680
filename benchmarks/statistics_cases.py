"""Uncertainty of scores. `datasets` has none of it, so its side does what evaluation harnesses do instead.

For the bootstrap that is the way of lm-evaluation-harness: for every replicate a resample by `random`, and its
mean, in Python. There are as many replicates as the data has rows; 1,319 values are as many as GSM8K has.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case
from benchmarks.data import read_table

VALUES = 1_319


def scores(kind: str) -> Setup:
    """The scores of one run, and how many replicates are asked for."""

    def setup(module: Any, path: Path) -> State:
        draw = random.Random(0)
        values = [float(draw.random() < 0.75) if kind == "binary" else draw.random() for _ in range(VALUES)]
        return State(module, values, len(read_table(path)))

    return setup


def in_python(values: list[float], replicates: int) -> float:
    """The standard error of the mean, resample by resample."""
    draw = random.Random(1)
    means = []
    for _ in range(replicates):
        resample = draw.choices(values, k=len(values))
        means.append(sum(resample) / len(resample))
    return statistics.stdev(means)


def standard_error(state: State) -> float:
    """To one digit, in which both sides agree."""
    if state.module.__name__ != "crucible_datasets":
        return round(in_python(state.dataset, state.given), 3)
    from crucible_datasets.evaluation.statistics import bootstrap

    return round(bootstrap(state.dataset, n=state.given).stderr, 3)


@case("bootstrap of right and wrong", setup=scores("binary"), flat=100)
def bootstrap_binary(state: State) -> float:
    return standard_error(state)


@case("bootstrap of any scores", setup=scores("any"), flat=10)
def bootstrap_any(state: State) -> float:
    return standard_error(state)
