"""Two models on the same samples with binary scores: only discordant samples are informative."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.student import critical
from crucible_datasets.exceptions import ArgumentError


class McNemar(NamedTuple):
    """McNemar's statistic and its p-value."""

    statistic: float
    p_value: float


def mcnemar(only_first: int, only_second: int, exact: bool = True, corrected: bool = True) -> McNemar:
    """McNemar's test of the numbers of samples that only one of two models gets right.

    Exact, its statistic is the smaller number; else χ² with one degree of freedom, `corrected` for continuity.

    >>> mcnemar(59, 121).p_value
    4.434449263755...e-06
    """
    if only_first < 0 or only_second < 0:
        raise ArgumentError("counts", (only_first, only_second), "numbers of samples cannot be negative.")
    few, together = min(only_first, only_second), only_first + only_second
    if exact:
        return McNemar(float(few), min(1.0, 2 * fair_coin_tail(few, together)))
    if not together:
        return McNemar(0.0, 1.0)
    distance = max(abs(only_first - only_second) - int(corrected), 0)
    return McNemar(distance**2 / together, math.erfc(distance / math.sqrt(2 * together)))


def fair_coin_tail(heads: int, tosses: int) -> float:
    """The probability of at most `heads` heads in `tosses` fair tosses."""
    if heads >= tosses:
        return 1.0
    # Each term of the sum is a fraction of the one before.
    falling = np.arange(heads, 0, -1, dtype=np.float64)
    ratios = falling / (tosses - falling + 1)
    # Terms beyond a few hundred square roots of their number are below 1e-18 of the first.
    reach = 60 * math.isqrt(tosses) + 100
    return _fair_coin(heads, tosses) * (1 + float(np.cumprod(ratios[:reach]).sum()))


def _fair_coin(heads: int, tosses: int) -> float:
    """The probability of exactly `heads` heads."""
    if tosses <= 1000:
        return math.comb(tosses, heads) / 2**tosses
    logs = math.lgamma(tosses + 1) - math.lgamma(heads + 1) - math.lgamma(tosses - heads + 1)
    return math.exp(logs - tosses * math.log(2))


def tango(only_first: float, only_second: float, n: float, level: float = 0.95) -> Interval:
    """Tango's (1998) score interval of the difference of two proportions on the same `n` samples, second minus first.

    It is also valid if the models never differ.

    >>> tango(0, 0, 100)
    Interval(low=-0.0369..., high=0.0369..., level=0.95, method='tango', note='')
    """
    if min(only_first, only_second) < 0 or only_first + only_second > n:
        raise ArgumentError("counts", (only_first, only_second), f"expected parts of n, and n is {n}.")
    low, high = tango_bounds(only_first, only_second, n, critical(level))
    return Interval(low, high, level, "tango")


def tango_bounds(only_first: float, only_second: float, n: float, z: float) -> tuple[float, float]:
    """The bounds of `tango` for a critical value; numbers need not be whole."""
    # Exchanging the models mirrors the interval, so one end is enough.
    return _lowest(only_second, only_first, n, z), -_lowest(only_first, only_second, n, z)


def _lowest(gained: float, lost: float, n: float, z: float) -> float:
    """The lower bound: the difference at which the score falls to `z`."""
    low, high = -1.0, (gained - lost) / n
    for _ in range(80):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _score(gained, lost, n, middle) > z else (low, middle)
    return (low + high) / 2


def _score(gained: float, lost: float, n: float, difference: float) -> float:
    """The score statistic of a difference, at the maximum likelihood estimate under it."""
    linear = (2 * n - gained + lost) * difference - gained - lost
    constant = -lost * difference * (1 - difference)
    # The probability of losing a sample under this difference.
    losing = (math.sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2 * losing + difference * (1 - difference))
    return (gained - lost - n * difference) / math.sqrt(variance) if variance > 0 else math.inf
