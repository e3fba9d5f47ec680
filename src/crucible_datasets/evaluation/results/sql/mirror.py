"""`SqlMirror`: the runs of a store in a database, with the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from crucible_datasets.evaluation.results.encoding import encode, text
from crucible_datasets.evaluation.results.filters import condition
from crucible_datasets.evaluation.results.runfile import StoredRun, batches
from crucible_datasets.evaluation.results.sql.databases import Database, Writer, database
from crucible_datasets.evaluation.results.sql.statements import INSERTS, tables, where
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.progress import bar

if TYPE_CHECKING:
    from crucible_datasets.evaluation.results.store import ResultStore

Names = str | Iterable[str] | None
Runs = list[StoredRun]
Rows = list[tuple[Any, ...]]


class SqlMirror:
    """Tables `crucible_runs`, `crucible_scores`, `crucible_tags` and `crucible_samples` in a database."""

    def __init__(self, url: str) -> None:
        """Connect to `postgresql://…`, `sqlite:///file.db` or a file, and create the tables."""
        self._database = database(url)
        with self._database.writing() as writer:
            for statement in tables(self._database.text):
                writer.do(statement)

    def __enter__(self) -> SqlMirror:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqlMirror({self._database.place!r})"

    @property
    def place(self) -> str:
        """The location of the database: a file, or a URL without password."""
        return self._database.place

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def sync(self, store: ResultStore, samples: bool = False) -> tuple[int, int]:
        """Add runs that are only in the store, and remove those that are only in the database; the number of each.

        With `samples`, every sample gets a row as well.
        """
        return synced(self._database, store, samples)

    def list(self) -> Runs:
        """Every run, newest first."""
        return self.query()

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
        """The runs that match, newest first, as `ResultStore.query`."""
        names = {"model": model, "dataset": dataset, "split": split, "revision": revision, "dataset_hash": dataset_hash}
        asked = condition(names=names, scores=scores, since=since, until=until, tags=tags)
        asked.refuse_unknown_metrics({key for (key,) in self.sql("SELECT DISTINCT metric FROM crucible_scores")})
        statement, values = where(asked, self._database.pattern, limit)
        return [msgspec.json.decode(row[0], type=StoredRun) for row in self._database.read(statement, values)]

    def sql(self, statement: str, *values: Any) -> Rows:
        """The rows of any query, with `?` for values."""
        return self._database.read(statement, values)


def synced(mirror: Database, store: ResultStore, samples: bool) -> tuple[int, int]:
    """Synchronize a database with a store, in one transaction per run."""
    runs = {run.info.run_id: run for run in store.list()}
    rows = mirror.read("SELECT run_id, has_samples, entry FROM crucible_runs")
    known = {run_id: (bool(has_samples), entry) for run_id, has_samples, entry in rows}
    gone = [run_id for run_id in known if run_id not in runs]
    new = [run_id for run_id, run in runs.items() if not _is_mirrored(run, samples, *known.get(run_id, (False, "")))]
    with bar(total=len(new), desc="Mirroring", unit=" runs") as progress:
        for run_id in gone:
            with mirror.writing() as writer:
                _remove(writer, run_id)
        for run_id in new:
            with mirror.writing() as writer:
                _remove(writer, run_id)
                _add(writer, runs[run_id], samples)
                if samples:
                    _add_samples(writer, store, runs[run_id])
            progress.update(1)
    return len([run_id for run_id in new if run_id not in known]), len(gone)


def _is_mirrored(run: StoredRun, samples: bool, has_samples: bool, entry: str) -> bool:
    """Whether the database has the run as it is now: one that was resumed has other scores."""
    return entry == encode(run).decode() and (has_samples or not samples)


def _remove(writer: Writer, run_id: str) -> None:
    for table in ("crucible_samples", "crucible_scores", "crucible_tags", "crucible_runs"):
        writer.do(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608  the names are above


def _add(writer: Writer, run: StoredRun, samples: bool) -> None:
    info = run.info
    facts = (info.model, info.dataset, info.split, info.revision, info.dataset_hash, info.created_at, info.num_samples)
    writer.do(INSERTS["runs"], (info.run_id, *facts, int(samples), encode(run).decode()))
    writer.many(INSERTS["tags"], [(info.run_id, tag) for tag in dict.fromkeys(info.tags)])
    writer.many(INSERTS["scores"], [_score(info.run_id, key, one) for key, one in run.summary.items()])


def _score(run_id: str, key: str, one: Any) -> tuple[Any, ...]:
    low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
    return run_id, key, key.rpartition("@")[0], one.value, low, high, one.stderr, one.n, one.unparsed_rate


def _add_samples(writer: Writer, store: ResultStore, run: StoredRun) -> None:
    for batch in batches(store.load(run.info.run_id).samples):
        rows = [
            (
                run.info.run_id,
                sample.id,
                sample.epoch,
                key,
                one.value,
                one.status,
                one.extracted,
                _words(sample),
            )
            for sample in batch
            for key, one in sample.outcomes.items()
        ]
        writer.many(INSERTS["samples"], [tuple(map(_without_zero, row)) for row in rows])


def _words(sample: SampleResult) -> str | None:
    return sample.prediction if isinstance(sample.prediction, str) else text(sample.prediction)


def _without_zero(value: Any) -> Any:
    """The value without NUL characters, which PostgreSQL does not support in texts."""
    return value.replace("\0", "�") if isinstance(value, str) else value
