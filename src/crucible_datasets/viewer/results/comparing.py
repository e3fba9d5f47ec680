"""Comparison of runs: differences with uncertainty, groups of samples, samples that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crucible_datasets.evaluation import EvaluationResult
from crucible_datasets.evaluation.report.grouping import groups_of
from crucible_datasets.evaluation.report.pairing import comparison_rows
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.results.judging import counted
from crucible_datasets.viewer.results.runs import line


def compared(runs: Sequence[EvaluationResult], metric: str | None = None) -> dict[str, Any]:
    """The data of the comparison page; the first run is the baseline."""
    if len(runs) < 2:
        raise ArgumentError("runs", [run.info.run_id for run in runs], "name two runs or more.")
    rows, note = comparison_rows(runs, [list(range(len(runs)))])
    return {
        "runs": [line(run) for run in runs],
        "differences": rows,
        "note": note,
        "groups": list(groups_of(runs, list(range(len(runs))), runs[0].info.dataset)),
        "kinds": counted(runs, metric),
    }
