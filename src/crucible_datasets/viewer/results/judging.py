"""The outcome of every sample: correct or wrong in each run, and changes from the first run to the last.

A sample without a value in the first or the last run is uncounted, as in `ResultStore.diff`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isnan

from crucible_datasets.evaluation import EvaluationResult

KINDS = ("all", "fixed", "broken", "both_right", "both_wrong", "uncounted", "differing", "unparsed")
_BECAME = {(False, True): "fixed", (True, False): "broken", (True, True): "both_right", (False, False): "both_wrong"}


def judged(runs: Sequence[EvaluationResult], metric: str | None = None) -> Iterator[tuple[str, set[str]]]:
    """Every sample with its kinds. A single run is both first and last."""
    rights = [_rights(run, metric) for run in runs]
    unread = set().union(*(_unparsed(run, metric) for run in runs))
    for one in dict.fromkeys(name for right in rights for name in right):
        found = [right[one] for right in rights if one in right]
        known = [right for right in found if right is not None]
        kinds = {"all"} | ({"unparsed"} if one in unread else set())
        if len(set(known)) > 1:
            kinds.add("differing")
        if len(found) == len(runs):
            kinds.add("uncounted" if None in (found[0], found[-1]) else _BECAME[bool(found[0]), bool(found[-1])])
        yield one, kinds


def counted(runs: Sequence[EvaluationResult], metric: str | None = None) -> dict[str, int]:
    """The number of samples of each kind."""
    return dict(Counter(kind for _, kinds in judged(runs, metric) for kind in kinds))


def _rights(run: EvaluationResult, metric: str | None) -> dict[str, bool | None]:
    """Whether samples are correct; None if they have no value."""
    key = run.key(metric)
    higher = run.summary[key].higher_is_better
    return {
        one: None if isnan(value) else (value >= 1.0 if higher else value <= 0.0)
        for one, value in zip(run.ids, run.values(key).tolist(), strict=True)
    }


def _unparsed(run: EvaluationResult, metric: str | None) -> set[str]:
    outcomes = run.samples.outcomes(run.key(metric))
    return {one for one, outcome in zip(run.samples.ids(), outcomes, strict=True) if outcome.status == "unparsed"}
