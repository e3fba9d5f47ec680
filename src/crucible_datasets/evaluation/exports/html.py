"""HTML: the report, one page that needs nothing else and runs nothing but its own script."""

from __future__ import annotations

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.report.page import html_report
from crucible_datasets.evaluation.report.samples import Limits
from crucible_datasets.evaluation.runs.record import EvaluationResult


def write(
    results: list[EvaluationResult],
    path: str,
    *,
    title: str | None = None,
    max_samples: int = Limits().samples,
    max_bytes: int = Limits().bytes,
) -> None:
    """Write the page; at most so many samples, and so many bytes of them, are in it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(html_report(results, title, max_samples, max_bytes))


EXPORT = Export("html", (".html", ".htm"), write)
