"""The total of a metric over any selection of samples, for resampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crucible_datasets.evaluation.metrics.base import Metric
from crucible_datasets.evaluation.outcome import Outcome


class Totals:
    """Totals of a metric over some samples; a sample may have several outcomes.

    If the total depends only on sums of counts (`Metric.of_sums`), it is computed by a vectorized sum instead of a
    pass over the outcomes.
    """

    def __init__(self, metric: Metric, options: Mapping[str, Any], samples: Sequence[Sequence[Outcome]]) -> None:
        self._metric, self._options, self._samples = metric, options, samples
        self._sums = _sums(samples) if metric.of_sums else None

    @property
    def is_quick(self) -> bool:
        """Whether many totals are cheap."""
        return self._sums is not None

    def __call__(self, rows: np.ndarray) -> float:
        """The total over these samples; repeated ones count repeatedly."""
        places = rows.astype(np.int64, copy=False)
        if self._sums is None:
            chosen = [outcome for row in places.tolist() for outcome in self._samples[row]]
        else:
            times = np.bincount(places, minlength=len(self._sums)).astype(np.float64)
            chosen = [Outcome(0.0, detail={"counts": (times @ self._sums).tolist()})]
        return self._metric.aggregate(chosen, **self._options)


def _sums(samples: Sequence[Sequence[Outcome]]) -> np.ndarray | None:
    """A matrix with the counts of every sample; None if their lengths differ."""
    counts = [[one.detail["counts"] for one in each if _is_counted(one)] for each in samples]  # type: ignore[index]
    widths = {len(one) for each in counts for one in each}
    if len(widths) != 1:
        return None
    nothing = [0] * widths.pop()
    return np.array([np.sum(each, axis=0) if each else nothing for each in counts], dtype=np.float64)


def _is_counted(outcome: Outcome) -> bool:
    return outcome.value is not None and "counts" in (outcome.detail or ())
