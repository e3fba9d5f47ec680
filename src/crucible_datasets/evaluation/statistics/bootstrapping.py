"""The bootstrap: the sampling distribution of a statistic, estimated by resampling.

It is seeded: the same call gives the same numbers on every machine with the same numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, members_of, numbers, of_one_length
from crucible_datasets.evaluation.statistics.clusters import coded, totals
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.resampling import mean_replicates, replicates_of
from crucible_datasets.evaluation.statistics.small_samples import correction, note_on
from crucible_datasets.evaluation.statistics.student import critical, normal_quantile, normal_tail
from crucible_datasets.exceptions import ArgumentError

METHODS = ("percentile", "bca")
Statistic = Callable[..., Any]


@dataclass(frozen=True)
class Bootstrap:
    """A statistic of the data and of its resamples."""

    value: float
    stderr: float
    interval: Interval
    replicates: Floats = field(repr=False, compare=False)


def bootstrap(
    values: Any,
    statistic: str | Statistic = "mean",
    n: int = 10_000,
    seed: int = 0,
    *,
    clusters: Any = None,
    level: float = 0.95,
    method: str = "percentile",
    widened: bool = True,
    vectorized: bool = False,
) -> Bootstrap:
    """A statistic with standard error and interval from `n` resamples.

    `statistic` is "mean", "median" or a function of an array; with `vectorized=True` it is called with many
    resamples at once, one per row, and `axis=1`. With `clusters`, whole clusters are drawn. `method` is "percentile"
    or "bca". With few samples, bootstrap intervals are too narrow, like those of the normal distribution; `widened`
    corrects that as Student's t does, and for clusters of unequal size.
    """
    _check(n, method)
    data = numbers("values", values) if np.ndim(values) < 2 else np.asarray(values)
    of_one_length(values=data, clusters=clusters)
    if len(data) < 2:
        raise ArgumentError("values", len(data), "at least 2 samples are needed.")
    codes, num_clusters = coded(clusters)
    units = num_clusters or len(data)
    draw = np.random.default_rng(seed)
    if statistic == "mean" and data.ndim == 1:
        value = float(data.mean())
        replicates = mean_replicates(*totals(data, codes, units), n, draw)
        skew = _acceleration_of_mean(data, codes, units) if method == "bca" else 0.0
    else:
        function, together = _function(statistic, vectorized)
        members = None if codes is None else members_of(codes, units)
        value = float(function(data))
        replicates = replicates_of(data, function, together, members, n, draw)
        skew = _acceleration(data, function, members) if method == "bca" else 0.0
    bias = _bias(replicates, value) if method == "bca" else 0.0
    sizes = np.ones(units) if codes is None else np.bincount(codes).astype(np.float64)
    low, high = _bounds(replicates, level, bias, skew, sizes if widened else None)
    name = f"bootstrap {method}" + (", clustered" if codes is not None else "")
    note = note_on(data, codes) if codes is not None or statistic == "mean" else ""
    return Bootstrap(value, float(replicates.std(ddof=1)), Interval(low, high, level, name, note), replicates)


def _check(n: int, method: str) -> None:
    if n < 2:
        raise ArgumentError("n", n, "at least 2 resamples are needed.")
    if method not in METHODS:
        raise ArgumentError("method", method, f"expected one of {', '.join(METHODS)}.")


def _function(statistic: str | Statistic, vectorized: bool) -> tuple[Statistic, bool]:
    if statistic == "mean":
        return np.mean, False
    if statistic == "median":
        return np.median, True
    if isinstance(statistic, str):
        raise ArgumentError("statistic", statistic, "expected 'mean', 'median' or a function of an array.")
    return statistic, vectorized


def _bounds(replicates: Floats, level: float, bias: float, skew: float, sizes: Floats | None) -> tuple[float, float]:
    """The quantiles that bound the interval, adjusted for bias and skew by BCa (Efron 1987)."""
    z = critical(level)
    if sizes is not None:
        # Hesterberg (2015): makes a percentile interval as wide as one by Student's t.
        factor, freedom = correction(sizes)
        z = math.sqrt(factor) * critical(level, freedom)
    if math.isinf(bias):
        return float(replicates.min()), float(replicates.max())
    ends = [bias + (bias + side) / max(1 - skew * (bias + side), 1e-9) for side in (-z, z)]
    low, high = np.quantile(replicates, [normal_tail(-end) for end in ends])
    return float(low), float(high)


def _bias(replicates: Floats, value: float) -> float:
    """The bias correction of BCa: the distance of the median of the resamples from the value, as a normal quantile."""
    below = (np.count_nonzero(replicates < value) + np.count_nonzero(replicates <= value)) / 2 / len(replicates)
    return normal_quantile(below) if 0 < below < 1 else math.inf


def _acceleration_of_mean(values: Floats, codes: Codes | None, units: int) -> float:
    sums, sizes = totals(values, codes, units)
    return _skew((values.sum() - sums) / np.maximum(len(values) - sizes, 1))


def _acceleration(values: np.ndarray, statistic: Statistic, members: list[np.ndarray] | None) -> float:
    every = np.arange(len(values))
    without = [
        float(statistic(np.delete(values, every[unit] if members is None else members[unit], axis=0)))
        for unit in range(len(values) if members is None else len(members))
    ]
    return _skew(np.array(without))


def _skew(without: Floats) -> float:
    """The acceleration from the statistic without each unit in turn (jackknife)."""
    distances = without.mean() - without
    spread = float((distances**2).sum())
    return float((distances**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
