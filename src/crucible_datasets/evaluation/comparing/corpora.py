"""Two models under a metric that is more than a mean, such as BLEU or macro F1.

The metric is computed anew for every resample of the samples (the interval) and for every random exchange of
the two models' outcomes (the p-value: approximate randomisation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crucible_datasets.evaluation.metrics.base import METRICS, Metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.statistics.arrays import Codes, Floats
from crucible_datasets.evaluation.statistics.bootstrapping import bootstrap
from crucible_datasets.evaluation.statistics.clusters import coded
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.pairs import PairedDifference

# Each costs two passes over all outcomes.
_RESAMPLES = 500


@dataclass(frozen=True)
class _Pair:
    """The outcomes of two models on the same samples; a sample may have several."""

    metric: Metric
    options: dict[str, Any]
    first: list[list[Outcome]]
    second: list[list[Outcome]]

    def total(self, parts: Sequence[Sequence[Outcome]]) -> float:
        """The metric over all outcomes."""
        return self.metric.aggregate([outcome for part in parts for outcome in part], **self.options)

    def change(self, rows: Floats) -> float:
        """The difference on some of the samples."""
        chosen = rows.astype(np.int64).tolist()
        return self.total([self.second[row] for row in chosen]) - self.total([self.first[row] for row in chosen])

    def exchanged(self, swap: Sequence[bool]) -> float:
        """The difference if, on some samples, each model had the other's outcomes."""
        pairs = list(zip(self.first, self.second, swap, strict=True))
        after = self.total([one if swapped else other for one, other, swapped in pairs])
        return after - self.total([other if swapped else one for one, other, swapped in pairs])


def corpus_difference(
    runs: tuple[EvaluationResult, EvaluationResult],
    key: str,
    ids: Sequence[str],
    values: tuple[Floats, Floats],
    clusters: Any,
    level: float,
    seed: int,
) -> PairedDifference:
    """The difference of the totals over the given samples, with its interval and its p-value."""
    options = runs[0].info.options.get("metric_options", {}).get(key) or {}
    pair = _Pair(METRICS[key], options, *(_by_sample(run, key, ids) for run in runs))
    codes, num_clusters = coded(clusters)
    totals = pair.total(pair.first), pair.total(pair.second)
    observed = totals[1] - totals[0]
    stderr, interval = _uncertainty(pair, len(ids), codes, level, seed)
    gained, lost = (int(np.count_nonzero(which)) for which in (values[1] > values[0], values[1] < values[0]))
    return PairedDifference(
        n=len(ids),
        first=totals[0],
        second=totals[1],
        difference=observed,
        stderr=stderr,
        interval=interval,
        p_value=_p_value(pair, observed, len(ids), codes, seed),
        test="randomisation" if codes is None else "randomisation, clustered",
        gained=gained,
        lost=lost,
        equal=len(ids) - gained - lost,
        num_clusters=num_clusters,
    )


def _by_sample(run: EvaluationResult, key: str, ids: Sequence[str]) -> list[list[Outcome]]:
    found: dict[str, list[Outcome]] = {id: [] for id in ids}
    for id, outcome in zip(run.samples.ids(), run.samples.outcomes(key), strict=True):
        if id in found:
            found[id].append(outcome)
    return list(found.values())


def _uncertainty(
    pair: _Pair, size: int, codes: Codes | None, level: float, seed: int
) -> tuple[float | None, Interval | None]:
    if size < 2:
        return None, None
    places = np.arange(size, dtype=np.float64)
    drawn = bootstrap(places, pair.change, n=_RESAMPLES, seed=seed, clusters=codes, level=level)
    known = bool(np.isfinite(drawn.replicates).all())
    return (drawn.stderr, drawn.interval) if known else (None, None)


def _p_value(pair: _Pair, observed: float, size: int, codes: Codes | None, seed: int) -> float:
    draw = np.random.default_rng(seed)
    units = np.arange(size) if codes is None else codes
    beyond = 1
    for _ in range(_RESAMPLES):
        swap = draw.integers(0, 2, size=int(units.max()) + 1).astype(bool)[units]
        beyond += abs(pair.exchanged(swap.tolist())) >= abs(observed) - 1e-12
    return beyond / (_RESAMPLES + 1)
