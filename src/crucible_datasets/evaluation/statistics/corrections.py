"""Corrections of p-values for multiple testing.

Each function returns adjusted p-values, to be compared with the same threshold as a single p-value. NaN stands for a
test that was not made, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Floats
from crucible_datasets.exceptions import ArgumentError, UnknownEntryError


def holm(p_values: Any) -> Floats:
    """Controls the family-wise error rate (Holm 1979); uniformly more powerful than Bonferroni."""
    return _stepwise(p_values, lambda ordered, size: np.maximum.accumulate(ordered * np.arange(size, 0, -1)))


def benjamini_hochberg(p_values: Any) -> Floats:
    """Controls the false discovery rate (Benjamini and Hochberg 1995)."""
    return _stepwise(
        p_values, lambda ordered, size: np.minimum.accumulate((ordered * size / np.arange(1, size + 1))[::-1])[::-1]
    )


def bonferroni(p_values: Any) -> Floats:
    """Every p-value times the number of tests."""
    return _stepwise(p_values, lambda ordered, size: ordered * size)


def uncorrected(p_values: Any) -> Floats:
    """The p-values unchanged."""
    return _stepwise(p_values, lambda ordered, size: ordered)


CORRECTIONS: dict[str, Callable[[Any], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}


_OTHER_NAMES = {"fdr_bh": "bh", "fdr": "bh", "benjamini_hochberg": "bh"}


def correction_named(correction: str | None) -> str:
    """The function of a correction: "holm", "bh", "bonferroni" or "none"."""
    name = "none" if correction is None else str(correction).lower().replace("-", "_")
    name = _OTHER_NAMES.get(name, name)
    if name not in CORRECTIONS:
        raise UnknownEntryError("correction", correction, CORRECTIONS)
    return name


def adjusted(p_values: Any, correction: str | None = "holm") -> Floats:
    """The p-values after a correction: "holm", "bh", "bonferroni" or "none"."""
    return CORRECTIONS[correction_named(correction)](p_values)


def _stepwise(p_values: Any, step: Callable[[Floats, int], Floats]) -> Floats:
    given = np.asarray(p_values, dtype=np.float64)
    if ((given < 0) | (given > 1)).any():
        raise ArgumentError("p_values", p_values, "probabilities lie between 0 and 1.")
    made = np.flatnonzero(~np.isnan(given))
    order = made[np.argsort(given[made], kind="stable")]
    result = np.full(given.shape, np.nan)
    result[order] = np.minimum(step(given[order], len(order)), 1.0)
    return result
