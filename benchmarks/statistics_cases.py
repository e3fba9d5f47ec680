"""Uncertainty of scores, which `datasets` does not have: its side is the bootstrap of lm-evaluation-harness.

For every replicate that draws a resample by `random` and computes its mean in Python. There are as many replicates as
the data has rows; 1,319 values are the size of GSM8K.
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
    """The scores of one run, and the number of replicates."""

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
    """The standard error, rounded to one digit, in which both sides agree."""
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
