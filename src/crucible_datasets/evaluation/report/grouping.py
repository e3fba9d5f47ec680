"""Scores by groups of samples, for metadata fields with few distinct values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary

_LOOKED_AT = 200
_MOST_FIELDS = 6
_MOST_GROUPS = 60


def groups_of(results: Sequence[EvaluationResult], runs: Sequence[int], name: str) -> Iterator[dict[str, Any]]:
    """For each such field: its groups, with the score of every run under the first metric."""
    first = results[runs[0]]
    if not first.summary:
        return
    key = first.key()
    sharing = [run for run in runs if key in results[run].summary]
    for field in islice(_fields(first), _MOST_FIELDS):
        groups = _groups(results, sharing, field, key)
        yield {"field": field, "dataset": name, "metric": key, "runs": sharing, "groups": groups}


def _fields(result: EvaluationResult) -> Iterator[str]:
    seen: dict[str, None] = {}
    for sample in islice(result.samples, _LOOKED_AT):
        for name, value in (sample.metadata or {}).items():
            if isinstance(value, (str, bool, int)):
                seen.setdefault(name)
    for name in seen:
        values = result.column(f"metadata.{name}")
        different = {value for value in values if isinstance(value, (str, bool, int))}
        if 1 < len(different) <= min(_MOST_GROUPS, len(values) // 2):
            yield name


def _groups(results: Sequence[EvaluationResult], runs: Sequence[int], field: str, key: str) -> list[dict[str, Any]]:
    rows: dict[Any, dict[str, Any]] = {}
    for run in runs:
        for group, summaries in results[run].by(f"metadata.{field}").items():
            row = rows.setdefault(group, {"name": str(group), "n": summaries[key].n, "scores": {}})
            row["scores"][str(run)] = _score(summaries[key])
    return sorted(rows.values(), key=lambda row: str(row["name"]))


def _score(summary: MetricSummary) -> dict[str, Any]:
    inside = summary.interval
    ends = {} if inside is None else {"low": inside.low, "high": inside.high}
    return {"value": summary.value, **ends}
