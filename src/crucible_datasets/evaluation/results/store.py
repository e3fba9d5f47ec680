"""`ResultStore`: the facade over stored runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from crucible_datasets.evaluation.results import listing
from crucible_datasets.evaluation.results.differences import Differences, difference
from crucible_datasets.evaluation.results.finishing import complete, load_run
from crucible_datasets.evaluation.results.openrun import OpenRun, begin
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.results.rescoring import Rescored, rescored
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.evaluation.results.sql.mirror import SqlMirror
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo
from crucible_datasets.viewable import Viewable

Names = str | Iterable[str] | None
Runs = list[StoredRun]


class ResultStore(Viewable):
    """A folder of runs, to which any number of processes and machines can write."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open a store; the default path is `config.CRUCIBLE_RESULTS_DIR`."""
        self._places = Places(path)

    @property
    def path(self) -> str:
        """The folder of the store."""
        return self._places.root

    def __repr__(self) -> str:
        return f"ResultStore({self.path!r})"

    def __len__(self) -> int:
        return len(self.list())

    def __iter__(self) -> Iterator[str]:
        return (run.info.run_id for run in self.list())

    def __contains__(self, run_id: object) -> bool:
        return run_id in set(self)

    def open_run(self, info: RunInfo | None = None, *, resume: bool = False, **facts: Any) -> OpenRun:
        """Begin a run to which samples are appended; `facts` are fields of RunInfo, such as `model` and `dataset`."""
        described = listing.described(info, facts, resume)
        if resume:  # a process that was killed may have left it sealed
            complete(self._places, described.run_id)
        return begin(self._places, described, resume)

    def save(self, result: EvaluationResult) -> str:
        """Save a complete run; its run id."""
        return listing.save(self._places, result)

    def load(self, run_id: str) -> EvaluationResult:
        """A run by its id, or a unique beginning or end of it; of a run in progress, the samples so far."""
        return load_run(self._places, listing.named(self._places, run_id))

    def list(self) -> Runs:
        """Every finished run, newest first."""
        return self.query()

    def unfinished(self) -> Runs:
        """The unfinished runs."""
        return listing.unfinished(self._places)

    def query(
        self,
        model: Names = None,
        dataset: Names = None,
        *,
        split: Names = None,
        revision: Names = None,
        dataset_hash: Names = None,
        scores: Mapping[str, Any] | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
        tags: str | Iterable[str] = (),
        limit: int | None = None,
    ) -> Runs:
        """The finished runs that match, newest first. `scores={"exact_match": (0.5, None)}`; `until` is exclusive."""
        names = {"model": model, "dataset": dataset, "split": split, "revision": revision, "dataset_hash": dataset_hash}
        asked = listing.condition(names=names, scores=scores, since=since, until=until, tags=tags)
        return listing.chosen(self._places, asked, limit)

    def delete(self, run_id: str) -> bool:
        """Remove a run, finished or not; False if there is none."""
        return listing.delete(self._places, run_id)

    def rescore(
        self,
        run_id: str | EvaluationResult,
        metrics: Any = None,
        *,
        extract: Any = None,
        save: bool = True,
        new_run_id: str | None = None,
        **options: Any,
    ) -> Rescored:
        """Score the stored predictions of a run again, with other metrics or another rule, as a new run."""
        before = run_id if isinstance(run_id, EvaluationResult) else self.load(run_id)
        made = rescored(before, metrics, extract=extract, run_id=new_run_id, **options)
        return made if not save else made.kept(self.save(made.result))

    def diff(
        self,
        first: str | EvaluationResult,
        second: str | EvaluationResult,
        metric: str | None = None,
        right_from: float | None = None,
    ) -> Differences:
        """Two runs sample by sample: which samples were fixed, which broken, which are wrong in both."""
        one, other = (run if isinstance(run, EvaluationResult) else self.load(run) for run in (first, second))
        return difference(one, other, metric, right_from)

    def mirror(self, url: str | None = None, samples: bool = False) -> SqlMirror:
        """The runs as tables of a database, synchronized: SQLite in the store, or PostgreSQL by URL."""
        database = SqlMirror(url or self._places.mirror)
        database.sync(self, samples=samples)
        return database
