"""The samples that two runs have in common, and the difference of the runs on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crucible_datasets.evaluation.comparing.corpora import corpus_difference
from crucible_datasets.evaluation.metrics.known import known_metric
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.statistics.arrays import Codes, Floats
from crucible_datasets.evaluation.statistics.groups import rows_by_label
from crucible_datasets.evaluation.statistics.pairs import PairedDifference, paired


@dataclass(frozen=True)
class Matched:
    """The samples that count in both runs under a metric."""

    runs: tuple[EvaluationResult, EvaluationResult]
    key: str
    ids: list[str]
    first: Floats
    second: Floats
    clusters: list[Any] | None
    left_out: int  # number of samples that do not count in both runs

    def part(self, rows: Codes) -> Matched:
        """Some of the samples."""
        chosen = rows.tolist()
        clusters = None if self.clusters is None else [self.clusters[row] for row in chosen]
        ids = [self.ids[row] for row in chosen]
        return replace(self, ids=ids, first=self.first[rows], second=self.second[rows], clusters=clusters, left_out=0)

    def by(self, path: str) -> Iterator[tuple[Any, Matched]]:
        """The samples grouped by the value of a field."""
        labels = dict(zip(self.runs[0].ids, self.runs[0].column(path), strict=True))
        for label, rows in rows_by_label([labels[id] for id in self.ids]):
            yield label, self.part(rows)

    def difference(self, level: float, seed: int) -> PairedDifference:
        """The second run minus the first, by a test that fits the metric."""
        if self.clusters is not None and len(set(map(repr, self.clusters))) < 2:
            return self._of_one_cluster()
        if is_corpus(self.key):
            values = self.first, self.second
            return corpus_difference(self.runs, self.key, self.ids, values, self.clusters, level, seed)
        return paired(self.first, self.second, self.clusters, level=level, seed=seed)

    def _of_one_cluster(self) -> PairedDifference:
        """The difference without uncertainty, which cannot be estimated from a single cluster."""
        known = replace(self, clusters=None).difference(0.95, 0)
        return PairedDifference(
            n=known.n,
            first=known.first,
            second=known.second,
            difference=known.difference,
            stderr=None,
            interval=None,
            p_value=1.0,
            test="none, one cluster",
            gained=known.gained,
            lost=known.lost,
            equal=known.equal,
            num_clusters=1,
        )


def matched(first: EvaluationResult, second: EvaluationResult, key: str, cluster_by: str | None) -> Matched:
    """The samples, by their ids, that count in both runs."""
    values, others = first.values(key), second.values(key)
    ids, place = first.ids, {id: number for number, id in enumerate(second.ids)}
    first_rows = np.array([number for number, id in enumerate(ids) if id in place], dtype=np.int64)
    second_rows = np.array([place[ids[number]] for number in first_rows], dtype=np.int64)
    counting = ~(np.isnan(values[first_rows]) | np.isnan(others[second_rows]))
    left_out = len(ids) + len(place) - len(first_rows) - int(counting.sum())
    first_rows, second_rows = first_rows[counting], second_rows[counting]
    clusters = clusters_of(first, cluster_by)
    chosen = None if clusters is None else [clusters[number] for number in first_rows]
    return Matched(
        (first, second),
        key,
        [ids[number] for number in first_rows],
        values[first_rows],
        others[second_rows],
        chosen,
        left_out,
    )


def clusters_of(result: EvaluationResult, cluster_by: str | None) -> list[Any] | None:
    """The cluster of every sample, by the field of the call or else of the run."""
    field = cluster_by or result.info.cluster_by
    return None if field is None else result.column(field)


def is_corpus(key: str) -> bool:
    """Whether the metric is a corpus metric rather than a mean of values."""
    metric = known_metric(key)
    return metric is not None and metric.corpus
