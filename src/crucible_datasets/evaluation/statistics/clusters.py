"""Clustered samples, such as questions on one text, which are less informative than independent ones.

The standard error is Miller's (2024, appendix A) with the factor for a finite number of clusters:
√(Σ_c (Σ_i d_ci)² · C / (C − 1)) / n, where d_ci is the distance from the mean. Intervals and tests use a factor and
degrees of freedom for clusters of unequal size instead (small_samples); they are the same if all sizes are equal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, codes_of, is_constant, numbers, of_one_length
from crucible_datasets.evaluation.statistics.small_samples import correction
from crucible_datasets.exceptions import ArgumentError


def clustered_stderr(values: Any, clusters: Any) -> float:
    """The standard error of the mean with correlated samples within clusters."""
    data = numbers("values", values)
    of_one_length(values=data, clusters=clusters)
    codes, names = codes_of(clusters)
    return stderr_of(data, codes, len(names))


def design_effect(values: Any, clusters: Any) -> float:
    """The ratio of the variance of the mean to that of independent samples."""
    data = numbers("values", values)
    together, alone = clustered_stderr(data, clusters), plain_stderr(data)
    return (together / alone) ** 2 if alone else math.nan


def plain_stderr(values: Floats) -> float:
    """The standard error of the mean of independent samples."""
    return 0.0 if is_constant(values) else float(values.std(ddof=1) / math.sqrt(len(values)))


def stderr_of(values: Floats, codes: Codes, num_clusters: int) -> float:
    """The clustered standard error, for clusters given as codes."""
    enough(num_clusters)
    if is_constant(values):
        return 0.0
    sums = np.bincount(codes, weights=values - values.mean(), minlength=num_clusters)
    return math.sqrt(float(sums @ sums) * num_clusters / (num_clusters - 1)) / len(values)


def stderr_of_mean(values: Floats, codes: Codes | None, num_clusters: int | None) -> float | None:
    """The standard error, clustered if there are clusters; None for a single value."""
    if codes is not None and num_clusters is not None:
        return stderr_of(values, codes, num_clusters)
    return plain_stderr(values) if len(values) > 1 else None


def coded(clusters: Any) -> tuple[Codes | None, int | None]:
    """Clusters as codes, and their number, which must be at least 2; None and None without clusters."""
    if clusters is None:
        return None, None
    codes, names = codes_of(clusters)
    if len(codes):
        enough(len(names))
    return codes, len(names)


def enough(num_clusters: int) -> None:
    """Raise for a single cluster: the variance between clusters cannot be estimated."""
    if num_clusters < 2:
        raise ArgumentError("clusters", num_clusters, "at least 2 clusters are needed to see how much they differ.")


def unbiased_stderr(values: Floats, codes: Codes | None, num_clusters: int) -> tuple[float, float]:
    """The standard error for intervals and tests, corrected for unequal clusters, and its degrees of freedom."""
    if codes is None:
        return plain_stderr(values), len(values) - 1
    factor, freedom = correction(np.bincount(codes, minlength=num_clusters).astype(np.float64))
    plain_factor = num_clusters / (num_clusters - 1)
    return stderr_of(values, codes, num_clusters) * math.sqrt(factor / plain_factor), freedom


def effective_size(values: Floats, codes: Codes, num_clusters: int) -> tuple[float, float]:
    """The number of independent samples with the same information, at most the actual number; degrees of freedom.

    If all values are equal, the variance between clusters is unknown, and each cluster counts as one sample; fewer if
    their sizes differ.
    """
    alone, (together, freedom) = plain_stderr(values), unbiased_stderr(values, codes, num_clusters)
    if not alone:
        sizes = np.bincount(codes, minlength=num_clusters).astype(np.float64)
        return len(values) ** 2 / float(sizes @ sizes), freedom
    return len(values) * min(1.0, (alone / together) ** 2) if together else float(len(values)), freedom


def totals(values: Floats, codes: Codes | None, num_clusters: int) -> tuple[Floats, Floats]:
    """The sum and the size of each cluster; without clusters, each sample is its own cluster."""
    if codes is None:
        return values, np.ones(len(values))
    sums: Floats = np.bincount(codes, weights=values, minlength=num_clusters).astype(np.float64)
    return sums, np.bincount(codes, minlength=num_clusters).astype(np.float64)
