"""The comparisons of a page: all pairs of runs over the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crucible_datasets.evaluation.comparing.comparison import compare
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.exceptions import IncomparableRunsError

_HOW = "The difference is that of “model” minus “against”, on the samples that both answered."


def comparison_rows(
    results: Sequence[EvaluationResult], groups: Sequence[Sequence[int]]
) -> tuple[list[dict[str, Any]], str]:
    """Differences with intervals and p-values, and a note on the method, or why there are none."""
    several = [results[run] for group in groups if len(group) > 1 for run in group]
    if not several:
        return [], ""
    try:
        table = compare(*several)
    except IncomparableRunsError as error:
        return [], f"Not compared: {error}"
    tests = ", ".join(dict.fromkeys(row.test for row in table))
    is_corrected = len(table) > 1 and table.correction != "none"
    corrected = f", p values adjusted by {table.correction} over {len(table)} rows" if is_corrected else ""
    return [_row(row) for row in table], f"{_HOW} {100 * table.level:g} % intervals; {tests}{corrected}."


def _row(row: Any) -> dict[str, Any]:
    ends = {} if row.interval is None else {"low": row.interval.low, "high": row.interval.high}
    return {
        "dataset": row.benchmark,
        "metric": row.metric,
        "a": row.second,
        "b": row.first,
        "difference": row.difference,
        "p": row.p_value,
        "p_adjusted": row.p_adjusted,
        "n": row.n,
        **ends,
    }
