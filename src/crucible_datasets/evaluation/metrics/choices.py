"""Multiple choice: an option may be given by letter, index or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.metrics.normal import words
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.rules.boxed import LONGEST
from crucible_datasets.evaluation.rules.choice import Letters, letter
from crucible_datasets.evaluation.rules.statements import stated
from crucible_datasets.exceptions import UnusablePairError

_LETTER = re.compile(r"[\s(\[*]{0,4}([A-Za-z])[)\].:*]{0,4}\s{0,4}\Z")
_INDEX = re.compile(r"\s{0,4}(\d{1,4})\s{0,4}\Z")


@metric("multiple_choice", version=1, binary=True, aliases=("mcq", "choice"))
def multiple_choice_by_letter(
    prediction: Any, target: Any, *, choices: Sequence[str] | None = None, sample: Any = None
) -> Outcome:
    """1 when the prediction names the option that the target names; sentences are read by `choice/letter@1`."""
    return _judged(prediction, target, _options(choices, sample), lambda text, options: letter(text))


@metric(version=2, binary=True, aliases=("mcq", "choice"))
def multiple_choice(
    prediction: Any, target: Any, *, choices: Sequence[str] | None = None, sample: Any = None
) -> Outcome:
    """1 when the prediction names the option that the target names: by letter, by index from 0, or by its text.

    The options are those of the sample, or `choices`. Sentences are read by the rule `choice/letter@2`, which knows the
    options; a prediction that names no option is unparsed. Without a target no option is correct.

    >>> multiple_choice("The answer is (B).", 1).value, multiple_choice("Paris", "A", choices=["Paris", "Rome"]).value
    (1.0, 1.0)
    """
    return _judged(prediction, target, _options(choices, sample), _stated)


def _stated(text: str, options: list[str]) -> str | None:
    return stated(text, Letters(options).kind()).text


def _options(choices: Sequence[str] | None, sample: Any) -> list[str]:
    return list(choices if choices is not None else getattr(sample, "choices", None) or ())


def _judged(prediction: Any, target: Any, options: list[str], read: Callable[[str, list[str]], Any]) -> Outcome:
    right = _named(target, options)
    if right is None and target not in ("", None):
        raise UnusablePairError("target", target, f"it names none of {len(options)} choices by letter, index or text.")
    found = _named(prediction, options)
    if found is None and isinstance(prediction, str):
        named = read(prediction, options)
        found = _within(ord(named) - ord("A"), options) if isinstance(named, str) else None
    if found is None:
        return Outcome(0.0, status="unparsed")
    return Outcome(float(found == right), extracted=_shown(found))


def _named(given: Any, options: list[str]) -> int | None:
    """The index of the option that is named."""
    if isinstance(given, int) and not isinstance(given, bool):
        return _within(given, options)
    if not isinstance(given, str):
        return None
    # Letters come before texts, since samples give targets as letters, even if an option is "A" (blood groups). Texts
    # come before indices, since an option that is a number is usually named by its value.
    by_letter = _LETTER.match(given)
    if by_letter and (index := _within(ord(by_letter[1].upper()) - ord("A"), options)) is not None:
        return index
    forms = [words(option) for option in options]
    if len(given) <= LONGEST and (form := words(given)) in forms:
        return forms.index(form)
    by_number = _INDEX.match(given)
    return _within(int(by_number[1]), options) if by_number else None


def _within(index: int, options: list[str]) -> int | None:
    """The index if there is such an option; without known options, any from A to Z."""
    return index if 0 <= index < (len(options) or 26) else None


def _shown(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index)
