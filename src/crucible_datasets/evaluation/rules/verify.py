r"""The answer for math-verify: the box, else the last formula, else the last number."""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import last_boxed

_PAIRS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_LAST_NUMBER_REVERSED = re.compile(r"[0-9](?:[0-9.,/]*[0-9])?[.$]?-?")
_PERCENT = re.compile(r"\s?\\?%")


@rule("math/verify", version="0.9.0")
def verify(text: str) -> Reading | None:
    r"""The content of the last `\boxed{…}`, else of the last formula between dollars or brackets, else a number."""
    boxed = last_boxed(text)
    if boxed.status != "unparsed":
        return boxed
    formulas = [found for pair in _PAIRS if (found := _last_between(text, *pair)) is not None]
    if formulas:
        return Reading(max(formulas)[1])
    number = _LAST_NUMBER_REVERSED.search(text[::-1])
    if number is None:
        return None
    percent = _PERCENT.match(text, len(text) - number.start())
    return Reading(number[0][::-1] + (percent[0] if percent else ""))


def _last_between(text: str, opening: str, closing: str) -> tuple[int, str] | None:
    """The end position of the last formula with these delimiters, and the formula."""
    end = text.rfind(closing)
    start = text.rfind(opening, 0, end) if end > 0 else -1
    if start < 0:
        return None
    formula = text[start + len(opening) : end].strip()
    return (end + len(closing), formula) if formula else None
