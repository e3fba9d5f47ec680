"""Two or more runs side by side: differences with their uncertainty, parts of the samples, samples that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from crucible_datasets.evaluation import EvaluationResult
from crucible_datasets.evaluation.report.grouping import groups_of
from crucible_datasets.evaluation.report.pairing import comparison_rows
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.results.runs import line

KINDS = ("all", "fixed", "broken", "both_right", "both_wrong", "differing", "unparsed")


def compared(runs: Sequence[EvaluationResult]) -> dict[str, Any]:
    """What a page of a comparison tells; the first run is what the others are compared with."""
    if len(runs) < 2:
        raise ArgumentError("runs", [run.info.run_id for run in runs], "name two runs or more.")
    rows, note = comparison_rows(runs, [list(range(len(runs)))])
    return {
        "runs": [line(run) for run in runs],
        "differences": rows,
        "note": note,
        "groups": list(groups_of(runs, list(range(len(runs))), runs[0].info.dataset)),
        "kinds": dict(Counter(kind for _, kinds in judged(runs) for kind in kinds)),
    }


def judged(runs: Sequence[EvaluationResult], metric: str | None = None) -> Iterator[tuple[str, set[str]]]:
    """Every sample with the kinds it is of: what became of it from the first run to the last."""
    rights = [_rights(run, metric) for run in runs]
    unread = [_unparsed(run, metric) for run in runs]
    for one in dict.fromkeys(name for right in rights for name in right):
        found = [right[one] for right in rights if one in right]
        kinds = {"all"} | ({"unparsed"} if any(one in each for each in unread) else set())
        if len(set(found)) > 1:
            kinds.add("differing")
        if len(runs) > 1 and len(found) == len(runs):
            first, last = found[0], found[-1]
            kinds.add(
                "fixed"
                if last and not first
                else "broken"
                if first and not last
                else "both_right"
                if last
                else "both_wrong"
            )
        elif len(runs) == 1:
            kinds.add("both_right" if found[0] else "both_wrong")
        yield one, kinds


def _rights(run: EvaluationResult, metric: str | None) -> dict[str, bool]:
    key = run.key(metric)
    higher = run.summary[key].higher_is_better
    values = run.values(key).tolist()
    return {one: (value >= 1.0 if higher else value <= 0.0) for one, value in zip(run.ids, values, strict=True)}


def _unparsed(run: EvaluationResult, metric: str | None) -> set[str]:
    outcomes = run.samples.outcomes(run.key(metric))
    return {one for one, outcome in zip(run.samples.ids(), outcomes, strict=True) if outcome.status == "unparsed"}
