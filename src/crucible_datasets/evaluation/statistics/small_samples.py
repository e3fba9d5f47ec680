"""Corrections for few clusters of unequal size, and notes on results from too few or too skewed values."""

from __future__ import annotations

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats

# With fewer, intervals of rare errors fell short of 95 % by more than one point in simulations.
_ENOUGH_CLUSTERS = 40
_ENOUGH_VALUES = 15
# Cochran (1977, § 2.15): the mean of n values is near enough to normal if n is more than 25 times the squared skewness.
_PER_SQUARED_SKEWNESS = 25


def correction(sizes: Floats) -> tuple[float, float]:
    """The factor that makes the sum of squared cluster residuals unbiased, and its degrees of freedom.

    By Satterthwaite's approximation, for clusters that differ in their means, the conservative case: a residual is a
    cluster's sum minus its share of the total, and the variance of the sum is proportional to the squared size. For C
    clusters of equal size, these are C / (C - 1) and C - 1.

    >>> correction(np.array([5.0, 5.0, 5.0]))
    (1.5, 2.0)
    """
    share, variance = sizes / sizes.sum(), sizes**2
    total, squares, product = float(variance.sum()), float(share @ share), float(variance @ share)
    trace = total - 2 * product + total * squares
    diagonal = total * share**2 - 2 * variance * share
    norm = 2 * float(variance @ variance) * squares + 2 * product**2 + (total * squares) ** 2
    norm += float(variance @ variance) + 2 * float(variance @ diagonal) - 4 * total * product * squares
    return round(total / trace, 12), round(trace**2 / norm, 12)


def note_on(values: Floats, codes: Codes | None) -> str:
    """Why an interval or a test of a mean of these values may be inexact; empty if it is not."""
    if codes is not None:
        sizes = np.bincount(codes).astype(np.float64)
        freedom = correction(sizes)[1]
        if freedom + 1 >= _ENOUGH_CLUSTERS:
            return ""
        equal = "" if (sizes == sizes[0]).all() else f", unequal, worth {freedom + 1:.0f} of equal size"
        return f"too few clusters ({len(sizes)}{equal}): it may cover less often than its level"
    skewness = _skewness(values)
    if len(values) < _ENOUGH_VALUES:
        return f"too few values ({len(values)}) to tell how skewed they are: it may cover less often than its level"
    if len(values) < _PER_SQUARED_SKEWNESS * skewness**2:
        few = f"too few values ({len(values)}) for their skewness ({skewness:.1f})"
        return f"{few}: it may cover less often than its level"
    return ""


def _skewness(values: Floats) -> float:
    distances = values - values.mean()
    reach = float(np.abs(distances).max())
    if reach <= 1e-12 * float(np.abs(values).max()):
        return 0.0
    scaled = distances / reach  # powers of tiny numbers would be 0
    return float((scaled**3).mean() / (scaled**2).mean() ** 1.5)
