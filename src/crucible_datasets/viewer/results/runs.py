"""The runs of a store as a table, and one run with its provenance."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from msgspec import to_builtins

from crucible_datasets.evaluation import EvaluationResult
from crucible_datasets.evaluation.report.grouping import groups_of
from crucible_datasets.evaluation.runs.shown import data_name
from crucible_datasets.viewer.results.judging import counted

_RUNS_KEPT = 8


class StoredRuns:
    """The runs of one store; the last used ones stay open."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self._open: OrderedDict[str, EvaluationResult] = OrderedDict()
        self._lock = Lock()

    def run(self, name: str) -> EvaluationResult:
        """One run, by any id that the store accepts. Its samples are read on access."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self.store.load(name)
                while len(self._open) > _RUNS_KEPT:
                    self._open.popitem(last=False)
            self._open.move_to_end(name)
            return self._open[name]

    def table(self) -> dict[str, Any]:
        """A row per run: model, data, and scores with intervals."""
        return {"path": self.store.path, "runs": [line(run) for run in self.store.list()]}

    def one(self, name: str) -> dict[str, Any]:
        """One run: its info, its scores, and scores of groups of samples."""
        run = self.run(name)
        return {
            **line(run),
            "info": to_builtins(run.info, enc_hook=str),
            "signatures": {key: one.signature for key, one in run.summary.items()},
            "statuses": {key: dict(one.counts) for key, one in run.summary.items()},
            "groups": list(groups_of([run], [0], run.info.dataset)),
            "kinds": counted([run]),
        }


def line(run: Any) -> dict[str, Any]:
    """One run as a row of the table."""
    info = run.info
    return {
        "run": info.run_id,
        "model": info.model,
        "dataset": data_name(info),
        "config": info.config,
        "split": info.split,
        "created": info.created_at,
        "samples": info.num_samples,
        "hash": info.dataset_hash,
        "tags": list(info.tags),
        "rules": list(info.rules),
        "scores": scores(run.summary),
    }


def scores(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The value of each metric, with its interval."""
    return {
        key: {
            "value": one.value,
            "n": one.n,
            "low": None if one.interval is None else one.interval.low,
            "high": None if one.interval is None else one.interval.high,
            "unparsed": one.unparsed_rate,
            "share": one.binary,
            "higher": one.higher_is_better,
        }
        for key, one in summary.items()
    }
