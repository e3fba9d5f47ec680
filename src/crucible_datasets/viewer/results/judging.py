"""What became of every sample: right or wrong in each run, and from the first run to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from crucible_datasets.evaluation import EvaluationResult

KINDS = ("all", "fixed", "broken", "both_right", "both_wrong", "differing", "unparsed")
_BECAME = {(False, True): "fixed", (True, False): "broken", (True, True): "both_right", (False, False): "both_wrong"}


def judged(runs: Sequence[EvaluationResult], metric: str | None = None) -> Iterator[tuple[str, set[str]]]:
    """Every sample with the kinds it is of. A run alone is its own first and last."""
    rights = [_rights(run, metric) for run in runs]
    unread = set().union(*(_unparsed(run, metric) for run in runs))
    for one in dict.fromkeys(name for right in rights for name in right):
        found = [right[one] for right in rights if one in right]
        kinds = {"all"} | ({"unparsed"} if one in unread else set())
        if len(set(found)) > 1:
            kinds.add("differing")
        if len(found) == len(runs):
            kinds.add(_BECAME[found[0], found[-1]])
        yield one, kinds


def counted(runs: Sequence[EvaluationResult], metric: str | None = None) -> dict[str, int]:
    """How many samples are of which kind."""
    return dict(Counter(kind for _, kinds in judged(runs, metric) for kind in kinds))


def _rights(run: EvaluationResult, metric: str | None) -> dict[str, bool]:
    key = run.key(metric)
    higher = run.summary[key].higher_is_better
    values = run.values(key).tolist()
    return {one: (value >= 1.0 if higher else value <= 0.0) for one, value in zip(run.ids, values, strict=True)}


def _unparsed(run: EvaluationResult, metric: str | None) -> set[str]:
    outcomes = run.samples.outcomes(run.key(metric))
    return {one for one, outcome in zip(run.samples.ids(), outcomes, strict=True) if outcome.status == "unparsed"}
