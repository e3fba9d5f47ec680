"""HTML: the report as one self-contained page."""

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
    """Write the page, with at most `max_samples` samples of together `max_bytes`."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(html_report(results, title, max_samples, max_bytes))


EXPORT = Export("html", (".html", ".htm"), write)
