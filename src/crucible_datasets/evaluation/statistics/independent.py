"""Two models on different samples: Welch's test, which does not assume equal variances."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct

from crucible_datasets.evaluation.statistics.arrays import numbers
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.student import critical, student_tail
from crucible_datasets.exceptions import ArgumentError


class UnpairedDifference(Struct, frozen=True):
    """The difference of two models on different samples."""

    n: tuple[int, int]
    first: float
    second: float
    difference: float
    stderr: float
    interval: Interval
    p_value: float
    test: str = "Welch's t"


def unpaired(first: Any, second: Any, level: float = 0.95) -> UnpairedDifference:
    """The difference of two models, second minus first, on independent samples.

    On the same samples use `paired`, which is more powerful, since the difficulty of samples cancels out.
    """
    one, other = numbers("first", first), numbers("second", second)
    if min(len(one), len(other)) < 2:
        raise ArgumentError("n", (len(one), len(other)), "at least 2 samples of each are needed.")
    parts = [float(values.var(ddof=1)) / len(values) for values in (one, other)]
    stderr = math.sqrt(sum(parts))
    difference = float(other.mean() - one.mean())
    if not stderr:
        sure = Interval(difference, difference, level, "t")
        return UnpairedDifference(
            (len(one), len(other)), float(one.mean()), float(other.mean()), difference, 0.0, sure, float(not difference)
        )
    df = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other), strict=True))
    reach = critical(level, df) * stderr
    return UnpairedDifference(
        (len(one), len(other)),
        float(one.mean()),
        float(other.mean()),
        difference,
        stderr,
        Interval(difference - reach, difference + reach, level, "t"),
        2 * student_tail(abs(difference) / stderr, df),
    )
