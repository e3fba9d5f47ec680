"""The tables of the mirror, and conditions as SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.results.filters import Condition, as_expression

_COLUMNS = {
    "runs": "run_id model dataset split revision dataset_hash created_at num_samples has_samples entry",
    "tags": "run_id tag",
    "scores": "run_id metric name value low high stderr n unparsed_rate",
    "samples": "run_id id epoch metric value status extracted prediction",
}
_KINDS = dict.fromkeys(("value", "low", "high", "stderr", "unparsed_rate"), "DOUBLE PRECISION") | dict.fromkeys(
    ("num_samples", "has_samples", "n", "epoch"), "BIGINT"
)
_KEYS = {"runs": "run_id", "tags": "run_id, tag", "scores": "run_id, metric", "samples": "run_id, id, epoch, metric"}


def _table(name: str, text: str) -> str:
    columns = ", ".join(f"{column} {_KINDS.get(column, text)}" for column in _COLUMNS[name].split())
    return f"CREATE TABLE IF NOT EXISTS crucible_{name} ({columns}, PRIMARY KEY ({_KEYS[name]}))"


def _insert(name: str) -> str:
    columns = _COLUMNS[name].split()
    return f"INSERT INTO crucible_{name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608


def tables(text: str) -> list[str]:
    """The statements that create the tables, given the type of texts."""
    return [
        *(_table(name, text) for name in _COLUMNS),
        "CREATE INDEX IF NOT EXISTS crucible_runs_by_model ON crucible_runs (model, dataset)",
        "CREATE INDEX IF NOT EXISTS crucible_scores_by_name ON crucible_scores (name, value)",
    ]


INSERTS = {name: _insert(name) for name in _COLUMNS}


def where(asked: Condition, pattern: Callable[[str], str], limit: int | None) -> tuple[str, list[Any]]:
    """The query for the runs that match a condition, and its values."""
    parts: list[str] = []
    values: list[Any] = []
    for column, names in asked.names.items():
        parts.append("(" + " OR ".join([pattern(column)] * len(names) or ["1 = 0"]) + ")")
        values += map(as_expression, names)
    for sign, moment in ((">=", asked.since), ("<", asked.until)):
        if moment is not None:
            parts.append(f"created_at {sign} ?")
            values.append(moment)
    for tag in asked.tags:
        parts.append("run_id IN (SELECT run_id FROM crucible_tags WHERE tag = ?)")
        values.append(tag)
    for metric, (low, high) in asked.scores.items():
        limits = [f"value {sign} ?" for sign, end in ((">=", low), ("<=", high)) if end is not None]
        inside = " AND ".join(["(metric = ? OR name = ?)", "value IS NOT NULL", *limits])
        parts.append(f"run_id IN (SELECT run_id FROM crucible_scores WHERE {inside})")  # noqa: S608
        values += [metric, metric, *(end for end in (low, high) if end is not None)]
    chosen = f" WHERE {' AND '.join(parts)}" if parts else ""
    last = "" if limit is None else f" LIMIT {int(limit)}"
    return f"SELECT entry FROM crucible_runs{chosen} ORDER BY created_at DESC, run_id DESC{last}", values  # noqa: S608
