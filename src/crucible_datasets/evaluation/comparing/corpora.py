"""Comparison of two models under a corpus metric, such as BLEU or macro F1.

The metric is recomputed for every bootstrap resample (the interval), and for every random exchange of the two models'
outcomes (the p-value, by approximate randomization).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crucible_datasets.evaluation.metrics.base import METRICS
from crucible_datasets.evaluation.metrics.totals import Totals
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.statistics.arrays import Codes, Floats
from crucible_datasets.evaluation.statistics.bootstrapping import bootstrap
from crucible_datasets.evaluation.statistics.clusters import coded
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.pairs import PairedDifference

_RESAMPLES, _QUICK_RESAMPLES = 500, 5_000  # each costs two passes over all outcomes, or two sums of counts


@dataclass(frozen=True)
class _Pair:
    """Two models on the same samples; outcomes of the second follow those of the first."""

    totals: Totals
    size: int

    @property
    def resamples(self) -> int:
        """The number of resamples, limited by the cost of each."""
        return _QUICK_RESAMPLES if self.totals.is_quick else _RESAMPLES

    def change(self, rows: Floats) -> float:
        """The difference on some of the samples."""
        return self.totals(rows + self.size) - self.totals(rows)

    def exchanged(self, swap: np.ndarray) -> float:
        """The difference with the outcomes of both models exchanged on some samples."""
        first = np.arange(self.size) + swap * self.size
        return self.totals(2 * np.arange(self.size) + self.size - first) - self.totals(first)


def corpus_difference(
    runs: tuple[EvaluationResult, EvaluationResult],
    key: str,
    ids: Sequence[str],
    values: tuple[Floats, Floats],
    clusters: Any,
    level: float,
    seed: int,
) -> PairedDifference:
    """The difference of the metric over the given samples, with interval and p-value."""
    options = runs[0].info.options.get("metric_options", {}).get(key) or {}
    outcomes = [one for run in runs for one in _by_sample(run, key, ids)]
    pair, samples = _Pair(Totals(METRICS[key], options, outcomes), len(ids)), np.arange(len(ids))
    codes, num_clusters = coded(clusters)
    totals = pair.totals(samples), pair.totals(samples + len(ids))
    observed = totals[1] - totals[0]
    stderr, interval = _uncertainty(pair, codes, level, seed)
    gained, lost = (int(np.count_nonzero(which)) for which in (values[1] > values[0], values[1] < values[0]))
    return PairedDifference(
        n=len(ids),
        first=totals[0],
        second=totals[1],
        difference=observed,
        stderr=stderr,
        interval=interval,
        p_value=_p_value(pair, observed, codes, seed),
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


def _uncertainty(pair: _Pair, codes: Codes | None, level: float, seed: int) -> tuple[float | None, Interval | None]:
    if pair.size < 2:
        return None, None
    places = np.arange(pair.size, dtype=np.float64)
    drawn = bootstrap(places, pair.change, n=pair.resamples, seed=seed, clusters=codes, level=level)
    known = bool(np.isfinite(drawn.replicates).all())
    return (drawn.stderr, drawn.interval) if known else (None, None)


def _p_value(pair: _Pair, observed: float, codes: Codes | None, seed: int) -> float:
    draw = np.random.default_rng(seed)
    units = np.arange(pair.size) if codes is None else codes
    beyond = 1
    for _ in range(pair.resamples):
        swap = draw.integers(0, 2, size=int(units.max()) + 1)[units]
        beyond += abs(pair.exchanged(swap)) >= abs(observed) - 1e-12
    return beyond / (pair.resamples + 1)
