"""Metrics that search the text of a prediction."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.metrics.normal import words
from crucible_datasets.evaluation.outcome import RIGHT, WRONG, Outcome
from crucible_datasets.exceptions import UnusablePairError


@metric(version=1, binary=True, aliases=("includes", "include"))
def contains(
    prediction: Any, target: Any, *, ignore_case: bool = True, normalize: bool = False, whole_words: bool = False
) -> Outcome:
    """1 when the prediction contains the target.

    With `normalize`, both are normalized as by exact_match; with `whole_words`, 5 is not in 15. An empty target is
    only contained in an empty prediction.

    >>> contains("It is Paris, of course", "paris").value, contains("15", "5", whole_words=True).value
    (1.0, 0.0)
    """
    text, wanted = str(prediction), str(target)
    if normalize:
        text, wanted = words(text), words(wanted)
    elif ignore_case:
        text, wanted = text.lower(), wanted.lower()
    if not wanted.strip():
        return RIGHT if not text.strip() else WRONG
    found = _as_words(text, wanted) if whole_words else wanted in text
    return RIGHT if found else WRONG


def _as_words(text: str, wanted: str) -> bool:
    """Whether the target occurs between word boundaries."""
    at = text.find(wanted)
    while at >= 0:
        around = text[at - 1 : at] if at else "", text[at + len(wanted) : at + len(wanted) + 1]
        if not any(_joins(character) for character in around):
            return True
        at = text.find(wanted, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


@metric(version=1, binary=True, aliases=("pattern",))
def regex(
    prediction: Any, target: Any, *, full: bool = False, ignore_case: bool = False, multiline: bool = False
) -> Outcome:
    r"""1 when the target, a regular expression, is found in the prediction, or with `full` covers it.

    Its run time depends on the expression: nested repetitions may never end, so do not use untrusted expressions.

    >>> regex("Total: 42 apples", r"\b42\b").value
    1.0
    """
    flags = re.IGNORECASE * ignore_case | re.MULTILINE * multiline
    pattern = _compiled(str(target), flags)
    found = pattern.fullmatch(str(prediction)) if full else pattern.search(str(prediction))
    return Outcome(1.0, extracted=found[0]) if found else WRONG


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise UnusablePairError("target", pattern, f"it is no regular expression: {error}.") from error
