"""Samples that belong together, as questions on one text do: they tell less than as many samples on their own.

The standard error is Miller's (2024, appendix A) with the factor for a finite number of clusters:
√(Σ_c (Σ_i d_ci)² · C / (C − 1)) / n, where d_ci is the distance from the mean.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, codes_of, is_constant, numbers, of_one_length
from crucible_datasets.exceptions import ArgumentError


def clustered_stderr(values: Any, clusters: Any) -> float:
    """The standard error of the mean when samples of one cluster are alike."""
    data = numbers("values", values)
    of_one_length(values=data, clusters=clusters)
    codes, names = codes_of(clusters)
    return stderr_of(data, codes, len(names))


def design_effect(values: Any, clusters: Any) -> float:
    """How many times larger the variance of the mean is than if every sample stood for itself."""
    data = numbers("values", values)
    together, alone = clustered_stderr(data, clusters), plain_stderr(data)
    return (together / alone) ** 2 if alone else math.nan


def plain_stderr(values: Floats) -> float:
    """The standard error of the mean when every sample stands for itself."""
    return 0.0 if is_constant(values) else float(values.std(ddof=1) / math.sqrt(len(values)))


def stderr_of(values: Floats, codes: Codes, num_clusters: int) -> float:
    """The clustered standard error, for clusters given as codes."""
    enough(num_clusters)
    if is_constant(values):
        return 0.0
    sums = np.bincount(codes, weights=values - values.mean(), minlength=num_clusters)
    return math.sqrt(float(sums @ sums) * num_clusters / (num_clusters - 1)) / len(values)


def stderr_of_mean(values: Floats, codes: Codes | None, num_clusters: int | None) -> float | None:
    """The standard error, clustered if there are clusters; None of a single value."""
    if codes is not None and num_clusters is not None:
        return stderr_of(values, codes, num_clusters)
    return plain_stderr(values) if len(values) > 1 else None


def coded(clusters: Any) -> tuple[Codes | None, int | None]:
    """Clusters as codes and their number, which must be 2 at least; None and None without any."""
    if clusters is None:
        return None, None
    codes, names = codes_of(clusters)
    if len(codes):
        enough(len(names))
    return codes, len(names)


def enough(num_clusters: int) -> None:
    """Refuse a single cluster: nothing tells how far another one would lie from it."""
    if num_clusters < 2:
        raise ArgumentError("clusters", num_clusters, "at least 2 clusters are needed to see how much they differ.")


def effective_size(values: Floats, codes: Codes, num_clusters: int) -> float:
    """How many samples on their own would tell as much; never more than there are.

    Where all values are equal nothing shows how much clusters differ. Then each counts as one sample.
    """
    alone, together = plain_stderr(values), stderr_of(values, codes, num_clusters)
    if not alone:
        return float(num_clusters)
    return len(values) * min(1.0, (alone / together) ** 2) if together else float(len(values))


def totals(values: Floats, codes: Codes | None, num_clusters: int) -> tuple[Floats, Floats]:
    """The sum and the size of each cluster; without clusters each sample is one of its own."""
    if codes is None:
        return values, np.ones(len(values))
    sums: Floats = np.bincount(codes, weights=values, minlength=num_clusters).astype(np.float64)
    return sums, np.bincount(codes, minlength=num_clusters).astype(np.float64)
