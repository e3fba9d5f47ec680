"""GSM8K: the final number of a solution.

The official rule and two rules of the lm-evaluation-harness, which extract different numbers from the same text, so
scores must name their rule. A number that is part of a fraction gets a remark: for "#### 1/2", one rule extracts 1,
the other 2.
"""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.base import Reading, rule

_AFTER_HASHES = re.compile(r"#### (-?[0-9.,]+)")
# The last match of `(-?[$0-9.,]{2,})|(-?[0-9]+)`, found from the end, in time independent of the text before it.
_LAST_REVERSED = re.compile(r"[$0-9.,](?:[$0-9.,]+|(?<=[0-9]))-?")
_UNDER = re.compile(r" ?/ ?[0-9]")
_OVER = re.compile(r"[0-9] ?/ ?\Z")


def _without_commas(target: str) -> str:
    found = _AFTER_HASHES.search(target)
    return (found[1] if found else target.strip()).replace(",", "")


def _without_marks(target: str) -> str:
    number = target.rpartition("#### ")[2].strip().replace(",", "").replace("$", "")
    return number.removesuffix(".")


@rule("gsm8k/official", version=1, target=_without_commas)
def official(text: str) -> Reading | None:
    """The number behind the first `#### `, without commas."""
    found = _AFTER_HASHES.search(text)
    return None if found is None else _noted(found[1].replace(",", ""), text, found.start(1), found.end())


@rule("gsm8k/lm-eval-strict", version=3, target=_without_marks, aliases=("gsm8k/strict",))
def strict(text: str) -> Reading | None:
    """The number behind the first `#### `, without commas, dollar signs and a full stop."""
    found = _AFTER_HASHES.search(text)
    return None if found is None else _noted(_without_marks(found[1]), text, found.start(1), found.end())


@rule("gsm8k/lm-eval-flexible", version=3, target=_without_marks, aliases=("gsm8k/flexible",))
def flexible(text: str) -> Reading | None:
    """The last number of the text, without commas, dollar signs and a full stop."""
    found = _LAST_REVERSED.search(text[::-1])
    if found is None:
        return None
    start, end = len(text) - found.end(), len(text) - found.start()
    return _noted(_without_marks(text[start:end]), text, start, end)


def _noted(number: str, text: str, start: int, end: int) -> Reading:
    """The number, with a remark if it is the numerator or the denominator of a fraction."""
    fraction = _UNDER.match(text, end) or _OVER.search(text[max(0, start - 4) : start])
    return Reading(number, note="part of a fraction" if fraction else None)
