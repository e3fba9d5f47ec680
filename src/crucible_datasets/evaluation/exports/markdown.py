"""Markdown: a table of runs and scores, with all names escaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.escaping import for_markdown
from crucible_datasets.evaluation.exports.rows import Row, rows_of
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.runs.shown import name_at
from crucible_datasets.exceptions import ArgumentError

_HEADS = ("model", "dataset", "metric", "value", "interval", "n", "unparsed", "among parsed", "rules")
_SORTS: dict[str, Callable[[Row], Any]] = {
    "value": lambda row: (row["value"] is None, -(row["value"] or 0.0)),
    "model": lambda row: row["model"],
    "dataset": lambda row: row["dataset"],
    "created_at": lambda row: row["created_at"],
}
_GROUPS = ("dataset", "model", "metric")


def write(
    results: list[EvaluationResult],
    path: str,
    *,
    title: str = "Results",
    sort_by: str = "value",
    group_by: str | None = "dataset",
) -> None:
    """Write a heading and a table, or one table for each dataset, model or metric."""
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(page(results, title=title, sort_by=sort_by, group_by=group_by))


def page(results: list[EvaluationResult], *, title: str, sort_by: str, group_by: str | None) -> str:
    """The whole text."""
    for name, value, known in (("sort_by", sort_by, list(_SORTS)), ("group_by", group_by, [*_GROUPS, None])):
        if value not in known:
            raise ArgumentError(name, value, f"expected one of {', '.join(map(str, known))}.")
    named = ({**row, "dataset": name_at(row["dataset"], row["revision"])} for row in rows_of(results, "runs"))
    rows = sorted(named, key=_SORTS[sort_by])
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row[group_by]) if group_by else "", []).append(row)
    parts = [f"# {for_markdown(title)}"]
    for name, members in groups.items():
        parts += ([f"## {for_markdown(name)}"] if group_by else []) + [_table(members)]
    return "\n\n".join(parts) + "\n"


def _table(rows: list[Row]) -> str:
    lines = [_HEADS, ["---"] * len(_HEADS), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row) -> list[str]:
    interval = "–" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"
    numbers = [
        _number(row["value"]),
        interval,
        str(row["n"]),
        f"{row['unparsed_rate']:.1%}",
        _number(row["value_parsed"]),
    ]
    return [*(for_markdown(str(row[name])) for name in _HEADS[:3]), *numbers, for_markdown(row["rules"]) or "–"]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


EXPORT = Export("markdown", (".md", ".markdown"), write, ("md",))
