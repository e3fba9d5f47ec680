"""The interval of a mean."""

from __future__ import annotations

from typing import Any

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, is_binary, numbers, of_one_length
from crucible_datasets.evaluation.statistics.clusters import coded, effective_size, stderr_of_mean, unbiased_stderr
from crucible_datasets.evaluation.statistics.interval import Estimate, Interval
from crucible_datasets.evaluation.statistics.proportions import wilson_bounds
from crucible_datasets.evaluation.statistics.small_samples import note_on
from crucible_datasets.evaluation.statistics.student import critical
from crucible_datasets.exceptions import ArgumentError

METHODS = ("wilson", "t", "normal", "bootstrap", "bca")


def mean_interval(
    values: Any,
    clusters: Any = None,
    level: float = 0.95,
    method: str | None = None,
    seed: int = 0,
) -> Estimate:
    """The mean with its standard error and its interval.

    Values that are all 0 or 1 get Wilson's interval, others Student's t. With `clusters`, one label per sample, the
    standard error is the clustered one, t has one degree of freedom less than there are clusters (fewer if their sizes
    differ), and Wilson's interval uses the effective sample size. An interval from too few or too skewed values says
    so in its `note`.
    """
    data = numbers("values", values)
    if method not in (None, *METHODS):
        raise ArgumentError("method", method, f"expected one of {', '.join(METHODS)}.")
    if method == "wilson" and not is_binary(data):
        raise ArgumentError("method", method, "Wilson's interval is for values that are 0 or 1.")
    of_one_length(values=data, clusters=clusters)
    codes, num_clusters = coded(clusters)
    if not len(data):
        return Estimate(None, 0, None, None, num_clusters)
    chosen = method or ("wilson" if is_binary(data) else "t")
    stderr = stderr_of_mean(data, codes, num_clusters)
    return Estimate(
        float(data.mean()), len(data), stderr, _interval(data, codes, level, chosen, stderr, seed), num_clusters
    )


def _interval(
    values: Floats, codes: Codes | None, level: float, method: str, stderr: float | None, seed: int
) -> Interval | None:
    units = len(values) if codes is None else int(codes.max()) + 1
    if method == "wilson":
        return _wilson(values, codes, units, level)
    if stderr is None:
        return None
    if method in ("bootstrap", "bca"):
        from crucible_datasets.evaluation.statistics.bootstrapping import bootstrap

        return bootstrap(
            values, clusters=codes, level=level, seed=seed, method="bca" if method == "bca" else "percentile"
        ).interval
    mean, note = float(values.mean()), note_on(values, codes)
    if method == "normal":
        reach = critical(level) * stderr
    else:
        stderr, freedom = unbiased_stderr(values, codes, units)
        reach = critical(level, freedom) * stderr
    return Interval(mean - reach, mean + reach, level, method if codes is None else f"{method}, clustered", note)


def _wilson(values: Floats, codes: Codes | None, units: int, level: float) -> Interval:
    if codes is None:
        return Interval(*wilson_bounds(float(values.sum()), len(values), critical(level)), level, "wilson")
    size, freedom = effective_size(values, codes, units)
    # For a mean of exactly 1, rounding must not make the product smaller than the size.
    low, high = wilson_bounds(float(values.mean()) * size, size, critical(level, freedom))
    return Interval(low, high, level, "wilson, clustered", note_on(values, codes))
