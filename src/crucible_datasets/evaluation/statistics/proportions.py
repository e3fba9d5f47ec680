"""The interval of a proportion."""

from __future__ import annotations

import math

from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.student import critical
from crucible_datasets.exceptions import ArgumentError


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of `successes` out of `n`, which is also valid at 0 % and 100 %.

    >>> wilson(10, 10)
    Interval(low=0.72246..., high=1.0, level=0.95, method='wilson', note='')
    """
    if not 0 <= successes <= n:
        raise ArgumentError("successes", successes, f"expected 0 to n, and n is {n}.")
    low, high = wilson_bounds(successes, n, critical(level))
    return Interval(low, high, level, "wilson")


def wilson_bounds(successes: float, n: float, z: float) -> tuple[float, float]:
    """The bounds of `wilson` for a critical value; numbers may be fractional, for effective sample sizes."""
    if n == 0:
        return 0.0, 1.0
    share, spread = successes / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    # Without this, rounding errors remain at the ends.
    low = 0.0 if successes == 0 else max(middle - half, 0.0)
    high = 1.0 if successes == n else min(middle + half, 1.0)
    return low, high
