"""Summaries of a stream of samples, with a few bytes of memory per sample."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xxhash

from crucible_datasets.evaluation.metrics.base import Metric
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.runs.paths import at_path
from crucible_datasets.evaluation.runs.record import MetricSummary, RunInfo, SampleResult
from crucible_datasets.evaluation.runs.summaries import Tally


class Counting:
    """Accumulates the outcomes of a run, per metric."""

    def __init__(self, info: RunInfo, metrics: Mapping[str, Metric] | None = None) -> None:
        options, known = info.options.get("metric_options") or {}, metrics or {}
        how = {"level": info.options.get("level", 0.95), "seed": info.options.get("seed", 0)}
        self._tallies = {key: Tally(key, known.get(key), options.get(key), **how) for key in info.metrics}
        self._cluster_by = info.cluster_by
        self._samples, self._clusters = array("Q"), array("Q")

    def add(self, samples: Sequence[SampleResult]) -> None:
        """Count more samples."""
        for key, tally in self._tallies.items():
            tally.add([sample.outcomes[key] for sample in samples])
        self._samples.extend([digest(sample.id) for sample in samples])
        if self._cluster_by is not None:
            self._clusters.extend([digest(at_path(sample, self._cluster_by)) for sample in samples])

    @property
    def num_samples(self) -> int:
        """The number of distinct samples."""
        return len(np.unique(np.frombuffer(self._samples, dtype=np.uint64)))

    def summary(self) -> dict[str, MetricSummary]:
        """The summary of each metric."""
        questions = codes(self._samples)
        clusters = None if self._cluster_by is None else codes(self._clusters, always=True)
        return {key: tally.summary(questions, clusters) for key, tally in self._tallies.items()}


def digest(value: Any) -> int:
    """A digest of eight bytes."""
    return xxhash.xxh3_64_intdigest(encode(value))


def codes(digests: array[int], always: bool = False) -> np.ndarray | None:
    """The code of every row's digest; None if all differ, unless `always`."""
    found, codes = np.unique(np.frombuffer(digests, dtype=np.uint64), return_inverse=True)
    return codes if always or len(found) < len(codes) else None
