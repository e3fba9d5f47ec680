"""Tails and quantiles of Student's t and of the normal distribution, to about 12 digits.

Student's tail is an incomplete beta function, computed by a continued fraction; the quantile is found by Newton's
method within a bracket.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from crucible_datasets.exceptions import ArgumentError

_NORMAL = NormalDist()
_TINY = 1e-300
# From here on, three terms of the expansion around the normal distribution give 11 digits.
_NEARLY_NORMAL = 2e5


def normal_tail(z: float) -> float:
    """The share of a standard normal distribution above `z`."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def normal_quantile(share: float) -> float:
    """The value below which this share of a standard normal distribution lies."""
    return _NORMAL.inv_cdf(share)


def student_tail(t: float, df: float) -> float:
    """The share of Student's t distribution with `df` degrees of freedom above `t`."""
    if math.isinf(t) or math.isnan(t):
        return normal_tail(t)
    if df >= _NEARLY_NORMAL:
        return normal_tail(t * (1 - (t * t + 1) / (4 * df) + (13 * t**4 + 8 * t * t + 3) / (96 * df * df)))
    if t < 0:
        return 1 - student_tail(-t, df)
    square = t * t
    # x and 1 - x are both computed from `square`, so that neither loses digits.
    return 0.5 * _incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5)


@lru_cache(maxsize=1024)
def student_quantile(share: float, df: float) -> float:
    """The value below which this share of Student's t distribution with `df` degrees of freedom lies."""
    if not 0 < share < 1:
        raise ArgumentError("share", share, "expected a number between 0 and 1, both excluded.")
    if not df > 0:
        raise ArgumentError("df", df, "degrees of freedom must be positive.")
    if df >= _NEARLY_NORMAL:
        z = normal_quantile(share)
        return z * (1 + (z * z + 1) / (4 * df) + (5 * z**4 + 16 * z * z + 3) / (96 * df * df))
    if share > 0.5:
        return -student_quantile(1 - share, df) if share < 0.9 else _value_with_tail(1 - share, df)
    return 0.0 if share == 0.5 else -_value_with_tail(share, df)


def critical(level: float, df: float = math.inf) -> float:
    """The two-sided critical value of a confidence level."""
    if not 0 < level < 1:
        raise ArgumentError("level", level, "expected a number between 0 and 1, such as 0.95.")
    return student_quantile((1 + level) / 2, df)


def _value_with_tail(tail: float, df: float) -> float:
    """The positive `t` with upper tail probability `tail`, which is below one half."""
    low, high = 0.0, 1.0
    while student_tail(high, df) > tail:
        low, high = high, high * 2
    t = (low + high) / 2
    for _ in range(200):
        excess = student_tail(t, df) - tail
        low, high = (t, high) if excess > 0 else (low, t)
        # Newton's method on the logarithm of the tail, which is nearly linear for small tails.
        above = excess + tail
        step = above * math.log(above / tail) / _density(t, df) if above > 0 else math.inf
        moved = t + step
        moved = moved if low < moved < high else (low + high) / 2
        if abs(moved - t) <= 1e-15 * moved:
            return moved
        t = moved
    return t


def _density(t: float, df: float) -> float:
    scale = math.exp(_log_gamma_step(df / 2)) / math.sqrt(math.pi * df)
    return scale * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


def _log_gamma_step(x: float) -> float:
    """Ln Γ(x + ½) - ln Γ(x), without the cancellation of two large logarithms."""
    if x < 30:
        return math.lgamma(x + 0.5) - math.lgamma(x)
    return 0.5 * math.log(x) - 1 / (8 * x) + 1 / (192 * x**3) - 1 / (640 * x**5)


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function at `x`, where `rest` is 1 − x; one of a and b is one half."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, b, a)
    log_beta = math.lgamma(0.5) - _log_gamma_step(max(a, b) if min(a, b) == 0.5 else min(a, b))
    log_rest = math.log1p(-x) if x < 0.5 else math.log(rest)
    front = math.exp(a * _log(x, rest) + b * log_rest - log_beta) / a
    return front / _continued_fraction(x, a, b)


def _log(x: float, rest: float) -> float:
    return math.log1p(-rest) if rest < 0.5 else math.log(x)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The denominator of the incomplete beta function, by Lentz's method on DLMF 8.17.22."""
    value = upper = 1.0
    lower = 0.0
    for step in range(1, 100_000):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower or _TINY)
        upper = 1 + term / upper or _TINY
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-16:
            break
    return value
