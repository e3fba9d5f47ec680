"""Exact match: equal texts after normalisation, equal numbers within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from crucible_datasets.evaluation.metrics.answers import no_text_in
from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.metrics.normal import (
    Form,
    form_of,
    leading_number,
    signed_words,
    signed_words_many,
    words,
    words_many,
)
from crucible_datasets.evaluation.outcome import RIGHT, WRONG, Outcome


def exact_match_1_many(
    predictions: list[Any],
    targets: list[Any],
    *,
    normalize: bool | str = True,
    ignore_case: bool = True,
    ignore_punctuation: bool = True,
    ascii_only: bool = False,
    tolerance: float = 0.01,
) -> list[Outcome]:
    """`exact_match@1` of many pairs."""
    return _many(predictions, targets, form_of(normalize, ignore_case, ignore_punctuation, ascii_only), tolerance)


def exact_match_many(
    predictions: list[Any],
    targets: list[Any],
    *,
    normalize: bool | str = True,
    ignore_case: bool = True,
    ignore_punctuation: bool = True,
    ascii_only: bool = False,
    tolerance: float = 0.01,
) -> list[Outcome]:
    """`exact_match` of many pairs."""
    form = _signed(form_of(normalize, ignore_case, ignore_punctuation, ascii_only))
    return _many(predictions, targets, form, tolerance)


def _signed(form: Form) -> Form:
    return signed_words if form is words else form


def _many(predictions: list[Any], targets: list[Any], form: Form, tolerance: float) -> list[Outcome]:
    pairs = list(zip(predictions, targets, strict=True))
    if not {*map(type, predictions), *map(type, targets)} <= {str}:
        return [RIGHT if _agree(*pair, form, tolerance) else WRONG for pair in pairs]
    differing = [at for at, (prediction, target) in enumerate(pairs) if prediction != target]
    forms = _FORMS_OF_MANY.get(form) or (lambda texts: [*map(form, texts)])
    found, right = forms([predictions[at] for at in differing]), forms([targets[at] for at in differing])
    outcomes = [RIGHT] * len(pairs)
    for at in [at for at, one, other in zip(differing, found, right, strict=True) if one != other]:
        outcomes[at] = WRONG
    return outcomes


_FORMS_OF_MANY: Final[dict[Form, Callable[[list[str]], list[str]]]] = {
    words: words_many,
    signed_words: signed_words_many,
}


@metric("exact_match", version=1, binary=True, mappings=True, many=exact_match_1_many, aliases=("em", "exact"))
def exact_match_1(
    prediction: Any,
    target: Any,
    *,
    normalize: bool | str = True,
    ignore_case: bool = True,
    ignore_punctuation: bool = True,
    ascii_only: bool = False,
    tolerance: float = 0.01,
) -> Outcome:
    """1 when prediction and target agree; the ends of intervals and a minus behind a word count as punctuation."""
    form = form_of(normalize, ignore_case, ignore_punctuation, ascii_only)
    return RIGHT if _agree(prediction, target, form, tolerance) else WRONG


@metric(version=2, binary=True, mappings=True, many=exact_match_many, aliases=("em", "exact"))
def exact_match(
    prediction: Any,
    target: Any,
    *,
    normalize: bool | str = True,
    ignore_case: bool = True,
    ignore_punctuation: bool = True,
    ascii_only: bool = False,
    tolerance: float = 0.01,
) -> Outcome:
    """1 when prediction and target agree: texts after normalisation, numbers within a tolerance, lists as sets.

    Texts are compared without case, extra white space and punctuation, except where that changes a number, an interval
    such as [1, 2) or a name such as C++ and Cl-. Two ints must be equal; if one number is a float, they may differ by
    `tolerance` relative to the target. A text compared with a number counts as the number it begins with, so "0.995"
    matches 1. Of mappings, the `answer` counts.

    >>> exact_match(" The  Answer!", "the answer").value, exact_match("3.5", "35").value, exact_match(99.5, 100.0).value
    (1.0, 0.0, 1.0)
    """
    form = _signed(form_of(normalize, ignore_case, ignore_punctuation, ascii_only))
    return RIGHT if _agree(prediction, target, form, tolerance) else WRONG


def _agree(prediction: Any, target: Any, form: Form, tolerance: float) -> bool:
    """Whether two values of any type are the same answer."""
    prediction, target = _answers(prediction, target)
    kinds: tuple[tuple[type | tuple[type, ...], Callable[..., bool]], ...] = (
        (bool, _same_flags),
        ((int, float), _same_numbers),
        (str, _same_texts),
        ((list, tuple, set, frozenset), _same_members),
    )
    for kind, same in kinds:
        if isinstance(target, kind):
            return same(prediction, target, form, tolerance)
    return bool(prediction == target)


def _answers(prediction: Any, target: Any) -> tuple[Any, Any]:
    """The `answer` of mappings, if both have one or the other side is not a mapping."""
    mappings = isinstance(prediction, dict), isinstance(target, dict)
    if mappings == (True, True) and not ("answer" in prediction and "answer" in target):
        return prediction, target
    if mappings == (True, False) and "answer" not in prediction:
        raise no_text_in(prediction, "exact_match")
    return (
        prediction.get("answer") if mappings[0] else prediction,
        target.get("answer") if mappings[1] else target,
    )


def _same_flags(prediction: Any, target: bool, form: Form, tolerance: float) -> bool:
    return form(prediction) == form(str(target)) if isinstance(prediction, str) else prediction is target


def _same_numbers(prediction: Any, target: float, form: Form, tolerance: float) -> bool:
    """Two ints exactly, others within the tolerance; a text counts as the number it begins with."""
    if isinstance(prediction, str):
        found = leading_number(prediction)
        return found is not None and _same_numbers(found, target, form, tolerance)
    if not isinstance(prediction, (int, float)) or isinstance(prediction, bool):
        return False
    if isinstance(prediction, int) and isinstance(target, int):
        return prediction == target
    if prediction == target or (prediction != prediction and target != target):  # nan equals nan
        return True
    try:
        return abs(prediction - target) <= tolerance * abs(target) < math.inf
    except OverflowError:  # an int too large for a float
        return False


def _same_texts(prediction: Any, target: str, form: Form, tolerance: float) -> bool:
    """Texts by their normal form; a float and a text by the number in the text."""
    if isinstance(prediction, float):
        found = leading_number(target)
        return found is not None and _same_numbers(prediction, float(found), form, tolerance)
    if isinstance(prediction, (list, tuple, set, frozenset, dict)) or prediction is None:
        return False
    return form(str(prediction)) == form(target)


def _same_members(prediction: Any, target: Any, form: Form, tolerance: float) -> bool:
    if not isinstance(prediction, (list, tuple, set, frozenset)):
        return any(_agree(prediction, one, form, tolerance) for one in target)
    return _set(prediction, form) == _set(target, form)


def _set(members: Any, form: Form) -> set[Any]:
    return {form(member) if isinstance(member, str) else repr(member) for member in members}
