"""Summaries of runs: the value of each metric with its uncertainty, and counts per status."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from crucible_datasets.evaluation.metrics.base import Metric
from crucible_datasets.evaluation.metrics.known import known_metric
from crucible_datasets.evaluation.metrics.totals import Totals
from crucible_datasets.evaluation.outcome import STATUSES, Outcome
from crucible_datasets.evaluation.runs.paths import place_of, refuse_unknown
from crucible_datasets.evaluation.runs.record import MetricSummary, Summaries
from crucible_datasets.evaluation.runs.repetitions import codes
from crucible_datasets.evaluation.statistics.arrays import is_binary
from crucible_datasets.evaluation.statistics.bootstrapping import bootstrap
from crucible_datasets.evaluation.statistics.means import mean_interval
from crucible_datasets.forking import cached_property

if TYPE_CHECKING:
    from crucible_datasets.evaluation.runs.record import EvaluationResult

_OK = STATUSES.index("ok")
_UNREAD = tuple(STATUSES.index(name) for name in ("unparsed", "empty", "truncated", "refused"))
# For corpus metrics: a resample takes a pass over all outcomes, or only a sum of counts.
_RESAMPLES, _MOST_FOR_RESAMPLES = 200, 5_000
_QUICK_RESAMPLES, _MOST_FOR_QUICK = 2_000, 100_000


class Tally:
    """Accumulates the outcomes of one metric: nine bytes each, unless the metric needs complete outcomes."""

    def __init__(
        self,
        key: str,
        metric: Metric | None = None,
        options: Mapping[str, Any] | None = None,
        level: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.metric = metric or known_metric(key)
        self._level, self._seed = level, seed
        self.options = dict(options or {})
        self._values, self._statuses = array("d"), array("B")
        self._whole: list[Outcome] | None = [] if self.metric and self.metric.corpus else None

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Count more outcomes."""
        nothing = math.nan
        self._values.extend([nothing if one.value is None else one.value for one in outcomes])
        self._statuses.extend([_PLACE.get(one.status, _OK) for one in outcomes])
        if self._whole is not None:
            self._whole.extend(outcomes)
            self.__dict__.pop("_totals", None)

    def summary(self, questions: np.ndarray | None = None, clusters: np.ndarray | None = None) -> MetricSummary:
        """The summary; `questions` and `clusters` are codes of each row, None if every row is one of its own.

        Questions weigh equally, however many of their answers count. Answers to one question are a cluster.
        """
        values, statuses = np.array(self._values), np.frombuffer(self._statuses, dtype=np.uint8)
        counting, read = np.isfinite(values), statuses == _OK
        return MetricSummary(
            self._value(counting, questions),
            int(counting.sum()),
            **self._uncertainty(values, counting, questions, clusters),
            counts={STATUSES[place]: number for place, number in sorted(Counter(statuses.tolist()).items())},
            unparsed_rate=float(np.isin(statuses, _UNREAD).mean()) if len(statuses) else 0.0,
            value_parsed=self._value(counting & read, questions),
            signature=None if self.metric is None else self.metric.signature(self.options, self._whole or ()),
            higher_is_better=self.metric.higher_is_better if self.metric else True,
            binary=self.metric.binary if self.metric else is_binary(values[counting]),
        )

    def _uncertainty(
        self, values: np.ndarray, counting: np.ndarray, questions: np.ndarray | None, clusters: np.ndarray | None
    ) -> dict[str, Any]:
        owners = questions if clusters is None else clusters
        if owners is not None and len(np.unique(owners[counting])) < 2:
            return {}  # the variance between clusters cannot be estimated from one
        if self._whole is not None:
            return self._resampled(np.flatnonzero(counting), None if owners is None else owners[counting])
        data, owners = values[counting], None if owners is None else owners[counting]
        if questions is not None and not _is_even(questions[counting]):
            data, first = _means(data, questions[counting])
            owners = None if clusters is None else clusters[counting][first]
        estimate = mean_interval(data, owners, self._level, seed=self._seed)
        return {"interval": estimate.interval, "stderr": estimate.stderr}

    def _resampled(self, rows: np.ndarray, together: np.ndarray | None) -> dict[str, Any]:
        """The uncertainty of a corpus metric, by the bootstrap."""
        is_quick = self._totals is not None and self._totals.is_quick
        most, number = (_MOST_FOR_QUICK, _QUICK_RESAMPLES) if is_quick else (_MOST_FOR_RESAMPLES, _RESAMPLES)
        if not 2 <= len(rows) <= most:
            return {}
        found = bootstrap(rows, self._total, n=number, seed=self._seed, clusters=together, level=self._level)
        known = all(map(math.isfinite, (found.stderr, found.interval.low, found.interval.high)))
        return {"interval": found.interval, "stderr": found.stderr} if known else {}

    @cached_property
    def _totals(self) -> Totals | None:
        if self.metric is None or self._whole is None:
            return None
        return Totals(self.metric, self.options, [[one] for one in self._whole])

    def _total(self, rows: np.ndarray) -> float:
        """The total over some rows."""
        return math.nan if self._totals is None else self._totals(rows)

    def _value(self, chosen: np.ndarray, questions: np.ndarray | None) -> float | None:
        if not chosen.any():
            return None
        if self._whole is not None:
            total = self._total(np.flatnonzero(chosen))
            return None if math.isnan(total) else total
        values = np.array(self._values)[chosen]
        return float((values if questions is None else _means(values, questions[chosen])[0]).mean())


def _is_even(questions: np.ndarray) -> bool:
    """Whether all questions have the same number of answers, so that their means need no other weights."""
    return len(np.unique(np.unique(questions, return_counts=True)[1])) < 2


def _means(values: np.ndarray, questions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every question, and its first row."""
    _, first, code, number = np.unique(questions, return_index=True, return_inverse=True, return_counts=True)
    return np.bincount(code, weights=values) / number, first


_PLACE = {name: place for place, name in enumerate(STATUSES)}


def by_group(result: EvaluationResult, path: str) -> dict[Any, dict[str, MetricSummary]]:
    """The summaries by groups of samples with the same value at a path."""
    found = result.samples.at(path)
    refuse_unknown(result.samples, path, found)
    groups: dict[Any, list[int]] = {}
    for row, name in enumerate(found):
        groups.setdefault(_name(name), []).append(row)
    outcomes = {key: result.samples.outcomes(key) for key in result.summary}
    ids, clusters = result.samples.ids(), _clusters(result, path)
    return {
        name: Summaries({key: _summed(result, key, outcomes[key], ids, clusters, rows) for key in result.summary})
        for name, rows in sorted(groups.items(), key=lambda group: str(group[0]))
    }


def _clusters(result: EvaluationResult, path: str) -> list[str] | None:
    """The clusters of the run within groups, unless they define the groups; None for answers to one question."""
    field = result.info.cluster_by
    if field is None or place_of(field) == place_of(path):
        return None
    return [repr(one) for one in result.samples.at(field)]


def _summed(
    result: EvaluationResult,
    key: str,
    outcomes: list[Outcome],
    ids: list[str],
    clusters: list[str] | None,
    rows: list[int],
) -> MetricSummary:
    options = result.info.options
    of_metric = (options.get("metric_options") or {}).get(key)
    tally = Tally(key, options=of_metric, level=options.get("level", 0.95), seed=options.get("seed", 0))
    tally.add([outcomes[row] for row in rows])
    questions, size = codes([ids[row] for row in rows])
    return tally.summary(
        None if size == len(rows) else questions,
        None if clusters is None else codes([clusters[row] for row in rows])[0],
    )


def _name(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
