"""DROP: the normal form of its evaluation script, in which a number keeps its point."""

from __future__ import annotations

import re
import string

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import LONGEST

_ARTICLES = frozenset(("a", "an", "the"))
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_HYPHEN = re.compile(r"-(?!\.?\d)")
_NUMBER = re.compile(r"[-+]?(?:\d{1,50}(?:\.\d{0,50})?|\.\d{1,50})")


def drop_tokens(text: str) -> list[str]:
    """The words of an answer: lower case, without articles and punctuation; numbers as decimals."""
    words = [part for word in text[:LONGEST].lower().split() for part in _HYPHEN.split(word)]
    tokens = map(_normal, words)
    return [token for token in tokens if token and token not in _ARTICLES]


def _normal(token: str) -> str:
    number = token.strip("$€£%()[]\"',;:!?").rstrip(".").replace(",", "")
    return str(float(number)) if _NUMBER.fullmatch(number) else token.translate(_PUNCTUATION)


def is_number(token: str) -> bool:
    """Whether a token of `drop_tokens` is a number."""
    return bool(_NUMBER.fullmatch(token))


def drop_form(text: str) -> str:
    """The tokens of an answer, joined by single spaces."""
    return " ".join(drop_tokens(text))


@rule("drop", version=1, target=drop_form, may_be_blank=True)
def drop(text: str) -> Reading | None:
    """The whole text in lower case, without punctuation and articles; numbers as decimals, so that 12.5 is not 125."""
    return Reading(drop_form(text)) if len(text) <= LONGEST else None
