"""Calibration: whether answers with a confidence of 80 % are correct in 80 % of cases.

A prediction is a confidence, with a target that says whether the answer was correct; or an answer with its
confidence; or a probability for every class.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.metrics.exact import exact_match
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import ArgumentError, UnusablePairError

_CONFIDENCE = re.compile(r"\s*[0-9.]{1,32}\s?%?\s*\Z")
_UNSTATED = Outcome(None, status="unparsed")


class _Belief(NamedTuple):
    confidence: float
    correct: bool
    brier: float


def _ece(outcomes: Sequence[Outcome], *, bins: int = 10) -> float:
    """The gap between confidence and accuracy in every bin of equal width, weighted by the bin's size."""
    if bins < 1:
        raise ArgumentError("bins", bins, "pass a positive number.")
    sums = [[0.0, 0.0] for _ in range(bins)]
    beliefs = [outcome.detail for outcome in outcomes if outcome.detail and "confidence" in outcome.detail]
    for belief in beliefs:
        bin = sums[_bin(belief["confidence"], bins)]
        bin[0] += belief["confidence"]
        bin[1] += belief["correct"]
    return sum(abs(stated - right) for stated, right in sums) / len(beliefs) if beliefs else 0.0


def _bin(confidence: float, bins: int) -> int:
    """The bin of a confidence; a border belongs to the lower bin, as usual: [0, 0.1], (0.1, 0.2] …"""
    place = max(0, math.ceil(confidence * bins) - 1)
    # In floating point, 0.07 * 100 > 7.
    return place - 1 if place and confidence <= place / bins else place


@metric(
    version=1,
    higher_is_better=False,
    all_targets=True,
    mappings=True,
    numbers_by_name=True,
    reduce=_ece,
    aliases=("expected_calibration_error",),
)
def ece(prediction: Any, target: Any) -> Outcome:
    """Expected calibration error, over bins of equal width; of one pair, the distance of the confidence from 0 or 1.

    >>> round(ece(0.8, True).value, 3), round(ece(0.8, False).value, 3)
    (0.2, 0.8)
    """
    belief = _belief(prediction, target)
    return _UNSTATED if belief is None else _outcome(abs(belief.confidence - belief.correct), belief)


@metric(
    version=1,
    higher_is_better=False,
    all_targets=True,
    mappings=True,
    numbers_by_name=True,
    aliases=("brier_score",),
)
def brier(prediction: Any, target: Any) -> Outcome:
    """Brier score: the squared error of a confidence; of probabilities of classes, the sum of the squared errors.

    >>> round(brier(0.8, True).value, 3), round(brier([0.7, 0.2, 0.1], 0).value, 3)
    (0.04, 0.14)
    """
    belief = _belief(prediction, target)
    return _UNSTATED if belief is None else _outcome(belief.brier, belief)


def _outcome(value: float, belief: _Belief) -> Outcome:
    return Outcome(value, detail={"confidence": belief.confidence, "correct": belief.correct})


def _belief(prediction: Any, target: Any) -> _Belief | None:
    """The confidence and whether the answer is correct; None if a text states no confidence."""
    if isinstance(prediction, Mapping) and "confidence" in prediction:
        correct = exact_match(prediction.get("answer"), target).value == 1.0
        return _stated(_probability(prediction["confidence"]), correct)
    if isinstance(prediction, Mapping):
        return _over_classes({str(label): _probability(p) for label, p in prediction.items()}, str(target))
    if isinstance(prediction, Sequence) and not isinstance(prediction, str):
        return _over_classes({str(at): _probability(p) for at, p in enumerate(prediction)}, str(_index(target)))
    if target not in (0, 1):
        raise UnusablePairError("target", target, "a bare confidence needs a target that is true or false.")
    if isinstance(prediction, str) and not _CONFIDENCE.match(prediction):
        return None
    return _stated(_probability(prediction), bool(target))


def _stated(confidence: float, correct: bool) -> _Belief:
    return _Belief(confidence, correct, (confidence - correct) ** 2)


def _over_classes(probabilities: dict[str, float], right: str) -> _Belief:
    if right not in probabilities:
        raise UnusablePairError("target", right, f"it is none of the classes {', '.join(probabilities)}.")
    guess = max(probabilities, key=probabilities.__getitem__)
    error = sum((p - (label == right)) ** 2 for label, p in probabilities.items())
    return _Belief(probabilities[guess], guess == right, error)


def _index(target: Any) -> Any:
    """The index of the target class; a letter counts from A."""
    is_letter = isinstance(target, str) and len(target) == 1 and target.isascii() and target.isalpha()
    return ord(target.upper()) - ord("A") if is_letter else target


def _probability(given: Any) -> float:
    text = str(given).strip()
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError as error:
        raise UnusablePairError(
            "prediction", given, "a confidence is a number from 0 to 1, or a percentage."
        ) from error
    if not 0 <= value <= 1:
        raise UnusablePairError("prediction", given, "a confidence is a number from 0 to 1, or a percentage.")
    return value
