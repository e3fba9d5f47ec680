"""Preferences: which of two responses is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import ArgumentError, UnusablePairError

_LABELS = {
    **dict.fromkeys(("a", "model_a", "chosen", "response_a", "1", "first", "[[a]]"), "A"),
    **dict.fromkeys(("b", "model_b", "rejected", "response_b", "2", "second", "[[b]]"), "B"),
    **dict.fromkeys(("tie", "c", "both", "both_bad", "tie (bothbad)", "equal", "draw", "[[c]]"), "tie"),
}
_REWARDS = (("A", "B"), ("a", "b"), ("chosen", "rejected"))  # names of rewards
_TIES = ("half", "wrong", "exclude")


@metric(version=1, numbers_are_one=True, mappings=True, aliases=("preference", "pairwise_accuracy"))
def preference_accuracy(prediction: Any, target: Any, *, ties: str = "half", margin: float = 0.0) -> Outcome:
    """1 when the prediction prefers the response that the target prefers; a tie on one side only counts a half.

    A prediction is a label (A, B, tie, chosen, rejected, model_a, model_b) or the two rewards, which tie when they
    differ by no more than `margin`. `ties="wrong"` counts a tie on one side as 0; `ties="exclude"` leaves out pairs
    whose target is a tie. `detail` has both labels: `preference_report` counts ties separately.

    >>> preference_accuracy([0.7, 0.2], "A").value, preference_accuracy("tie", "B").value
    (1.0, 0.5)
    """
    if ties not in _TIES:
        raise ArgumentError("ties", ties, f"pass one of {', '.join(_TIES)}.")
    right = _label(target, margin)
    if right is None:
        raise UnusablePairError("target", target, "it is none of A, B and tie.")
    found = _label(prediction, margin)
    left_out = right == "tie" and ties == "exclude"
    if found is None:
        return Outcome(None if left_out else 0.0, status="unparsed")
    detail = {"prediction": found, "target": right}
    if left_out:
        return Outcome(None, found, detail=detail)
    one_tie = ties == "half" and found != right and "tie" in (found, right)
    return Outcome(0.5 if one_tie else float(found == right), found, detail=detail)


def _label(given: Any, margin: float) -> str | None:
    """A, B or tie, from a label or from two rewards."""
    if isinstance(given, str):
        return _LABELS.get(given.strip().strip(".*").lower())
    if isinstance(given, Mapping):
        names = next((pair for pair in _REWARDS if pair[0] in given), ("", ""))
        given = [given.get(name) for name in names]
    if not isinstance(given, Sequence) or len(given) != 2 or None in given:
        return None
    first, second = (float(reward) for reward in given)
    if first != first or second != second:
        return None
    return "tie" if first == second or abs(first - second) <= margin else "A" if first > second else "B"


def preference_report(outcomes: Iterable[Outcome]) -> dict[str, float | int | None]:
    """Accuracy over the pairs without ties, and the numbers of ties in targets and predictions."""
    details = [outcome.detail for outcome in outcomes if outcome.detail and "target" in outcome.detail]
    labels = [(detail["prediction"], detail["target"]) for detail in details]
    decided = [(found, right) for found, right in labels if "tie" not in (found, right)]
    tied = [found for found, right in labels if right == "tie"]
    return {
        "pairs": len(labels),
        "decided": len(decided),
        "accuracy": sum(found == right for found, right in decided) / len(decided) if decided else None,
        "target_ties": len(tied),
        "predicted_ties": sum(found == "tie" for found, _ in labels),
        "agreed_ties": tied.count("tie"),
    }
