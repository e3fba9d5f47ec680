"""A mean for each group of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, codes_of, members_of, numbers, of_one_length
from crucible_datasets.evaluation.statistics.interval import Estimate
from crucible_datasets.evaluation.statistics.means import mean_interval


def subgroups(
    values: Any, labels: Any, clusters: Any = None, level: float = 0.95, method: str | None = None, seed: int = 0
) -> dict[Any, Estimate]:
    """The mean of the samples with each label, in the order of the labels.

    Intervals are not corrected for multiple groups: of 20 intervals at 95 %, one is expected to miss. A group within
    a single cluster has a mean and no interval.
    """
    data = numbers("values", values)
    of_one_length(values=data, labels=labels, clusters=clusters)
    owners = None if clusters is None else codes_of(clusters)[0]
    found = {}
    for label, rows in rows_by_label(labels):
        own = None if owners is None else owners[rows]
        if own is not None and len(np.unique(own)) < 2:
            found[label] = Estimate(float(data[rows].mean()), len(rows), None, None, 1)
        else:
            found[label] = mean_interval(data[rows], own, level, method, seed)
    return found


def rows_by_label(labels: Any) -> Iterator[tuple[Any, Codes]]:
    """Each label with its rows, in order: numbers, texts, other labels, None and NaN."""
    codes, names = codes_of(labels)
    members = members_of(codes, len(names))
    for code in sorted(range(len(names)), key=lambda code: _rank(names[code])):
        yield names[code], members[code]


def _rank(label: Any) -> tuple[int, str, Any]:
    if label is None or label != label:
        return 3, "", 0
    if isinstance(label, (bool, int, float)):
        return 0, "", label
    return (1, "", label) if isinstance(label, str) else (2, type(label).__name__, repr(label))
