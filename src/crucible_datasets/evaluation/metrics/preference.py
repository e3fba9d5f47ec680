"""Preferences: which of two responses is better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import ArgumentError, UnusablePairError

_LABELS = {
    **dict.fromkeys(("a", "model_a", "chosen", "response_a", "1", "first", "[[a]]"), "A"),
    **dict.fromkeys(("b", "model_b", "rejected", "response_b", "2", "second", "[[b]]"), "B"),
    **dict.fromkeys(("tie", "c", "both", "both_bad", "tie (bothbad)", "equal", "draw", "[[c]]"), "tie"),
}
_ROLES = ("chosen", "rejected")
_REWARDS = (("A", "B"), ("a", "b"), _ROLES)  # names of rewards
_OTHER = {"A": "B", "B": "A", "tie": "B"}
_TIES = ("half", "wrong", "exclude")
_FACTS: dict[str, Any] = {
    "numbers_are_one": True,
    "mappings": True,
    "numbers_by_name": True,
    "aliases": ("preference", "pairwise_accuracy"),
}


@metric("preference_accuracy", version=1, **_FACTS)
def preference_by_position(prediction: Any, target: Any, *, ties: str = "half", margin: float = 0.0) -> Outcome:
    """As version 2, but `chosen` is always the first response, wherever the chosen text stands."""
    return _compared(prediction, target, ties, margin, lambda right: {"chosen": "A", "rejected": "B"})


@metric(version=2, **_FACTS)
def preference_accuracy(prediction: Any, target: Any, *, ties: str = "half", margin: float = 0.0) -> Outcome:
    """1 when the prediction prefers the response that the target prefers; a tie on one side only counts a half.

    A prediction is a label (A, B, tie, chosen, rejected, model_a, model_b) or the two rewards, which tie when they
    differ by no more than `margin`. `chosen` is the response that the target prefers, wherever it stands.
    `ties="wrong"` counts a tie on one side as 0; `ties="exclude"` leaves out pairs whose target is a tie. `detail` has
    both labels: `preference_report` counts ties separately.

    >>> preference_accuracy([0.7, 0.2], "A").value, preference_accuracy("tie", "B").value
    (1.0, 0.5)
    >>> preference_accuracy({"chosen": 0.7, "rejected": 0.2}, "B").value
    1.0
    """
    return _compared(
        prediction, target, ties, margin, lambda right: {"chosen": _OTHER[_OTHER[right]], "rejected": _OTHER[right]}
    )


def _compared(
    prediction: Any, target: Any, ties: str, margin: float, labels_of_roles: Callable[[str], Mapping[str, str]]
) -> Outcome:
    if ties not in _TIES:
        raise ArgumentError("ties", ties, f"pass one of {', '.join(_TIES)}.")
    right = _label(target, margin, _LABELS)
    if right is None:
        raise UnusablePairError("target", target, "it is none of A, B and tie.")
    label = _label(prediction, margin, {**_LABELS, **labels_of_roles(right)})
    left_out = right == "tie" and ties == "exclude"
    if label is None:
        return Outcome(None if left_out else 0.0, status="unparsed")
    detail = {"prediction": label, "target": right}
    if left_out:
        return Outcome(None, label, detail=detail)
    one_tie = ties == "half" and label != right and "tie" in (label, right)
    return Outcome(0.5 if one_tie else float(label == right), label, detail=detail)


def _label(value: Any, margin: float, labels: Mapping[str, str]) -> str | None:
    """A, B or tie, from a label or from two rewards."""
    if isinstance(value, str):
        return labels.get(value.strip().strip(".*").lower())
    names = ("A", "B")
    if isinstance(value, Mapping):
        names = next((pair for pair in _REWARDS if pair[0] in value), names)
        value = [value.get(name) for name in names]
    if not isinstance(value, Sequence) or len(value) != 2 or None in value:
        return None
    first, second = (float(reward) for reward in value)
    if first != first or second != second:
        return None
    if first == second or abs(first - second) <= margin:
        return "tie"
    return labels[(names[0] if first > second else names[1]).lower()]


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
