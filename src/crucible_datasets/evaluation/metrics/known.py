"""Lookup of metrics by any of their names."""

from __future__ import annotations

from functools import lru_cache

from crucible_datasets.evaluation.metrics.base import METRICS, Metric
from crucible_datasets.exceptions import UnknownEntryError


def known_metric(name: str) -> Metric | None:
    """The metric of that name; None if it was a user's function, which is not stored."""
    return _looked_up(name, len(METRICS.entries))


def known_key(name: str) -> str | None:
    """The key of the metric with this name or alias: token_f1 is f1@1."""
    found = known_metric(name)
    return None if found is None else found.key


@lru_cache(maxsize=1000)
def _looked_up(name: str, num_registered: int) -> Metric | None:
    # An unknown name searches the entry points of all packages, and a store may have thousands of them.
    try:
        return METRICS[name]
    except UnknownEntryError:
        return None
