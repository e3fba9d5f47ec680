"""Metrics by whatever name a run, a query or an option has for them."""

from __future__ import annotations

from functools import lru_cache

from crucible_datasets.evaluation.metrics.base import METRICS, Metric
from crucible_datasets.exceptions import UnknownEntryError


def known_metric(name: str) -> Metric | None:
    """The metric of that name; None where it is a function of the user, which is not stored."""
    return _looked_up(name, len(METRICS.entries))


def known_key(name: str) -> str | None:
    """The full name of the metric that has this name, or has it as another one: token_f1 is f1@1."""
    found = known_metric(name)
    return None if found is None else found.key


@lru_cache(maxsize=1000)
def _looked_up(name: str, num_registered: int) -> Metric | None:
    # A name that nobody knows costs a look at all installed packages, and a store may name thousands.
    try:
        return METRICS[name]
    except UnknownEntryError:
        return None
