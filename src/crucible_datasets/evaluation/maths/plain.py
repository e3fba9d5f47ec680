r"""The fast path: answers that are numbers, words, or LaTeX that differs only in layout.

The result is True or False only where math-verify agrees, and None otherwise. It decides most answers, at a
thousandth of the cost.

>>> same_plainly("1,000", "1000"), same_plainly("3/4", "0.75"), same_plainly("3", "4")
(True, True, False)
>>> same_plainly("x^2 + 1", "1 + x^2") is None
True
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from crucible_datasets.evaluation.rules.hendrycks import strip_string

_LONGEST = 1000  # characters; longer numbers are not answers, and take long to parse
_NUMBER = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?")
_FRACTION = re.compile(r"(-?)(?:([0-9]{1,18})/([0-9]{1,18})|\\[dt]?frac\{(-?[0-9]{1,18})\}\{([0-9]{1,18})\})")
_WORD = re.compile(r"[A-Za-z]{2,}(?:[ '-][A-Za-z]+)*")
_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{([^{}]*)\}")
# What the clean-up must not join: 1 2 and 12, `5\text{ or }6` and 5.
_NO_LAYOUT = re.compile(r"[0-9]\s+[0-9]|\\text\{ [^{}]*(?:[{0-9]|\}.*[A-Za-z0-9])")
# Decimals are compared to six places. With a larger difference they differ, whatever the rounding.
_APART = Fraction(1, 100_000)


def same_plainly(target: str, answer: str) -> bool | None:
    """Whether both are equal; None if that needs a computer algebra system."""
    if target == answer:
        return True
    if max(len(target), len(answer)) > _LONGEST:
        return None
    first, second = number_in(target), number_in(answer)
    if first is not None and second is not None:
        return _same_numbers(first, second)
    if word_in(target) is not None:
        return word_in(target) == word_in(answer)
    return True if _same_but_for_layout(target, answer) else None


def _same_but_for_layout(target: str, answer: str) -> bool:
    if _NO_LAYOUT.search(target) or _NO_LAYOUT.search(answer):
        return False
    unknowns = {text.partition("=")[0].strip() for text in (target, answer) if "=" in text}
    return len(unknowns) < 2 and strip_string(target) == strip_string(answer)


def number_in(text: str) -> Fraction | None:
    """The value of a text that is an integer, a decimal or a fraction of integers."""
    if len(text) == 1 and not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("⁄", "/")  # ½
    if _NUMBER.fullmatch(text) and text not in ("", "-"):
        return Fraction(text.replace(",", ""))
    found = _FRACTION.fullmatch(text)
    if not found:
        return None
    sign, over, under, latex_over, latex_under = found.groups()
    below = int(under or latex_under)
    return None if below == 0 else Fraction(int(sign + "1") * int(over or latex_over), below)


def word_in(text: str) -> str | None:
    """The text if it consists of words. As a formula, letters would be multiplied, and Monday equal any anagram."""
    inside = _TEXT.fullmatch(text)
    found = _WORD.fullmatch((inside[1] if inside else text).strip().rstrip("."))
    return None if found is None else found[0].casefold()


def _same_numbers(first: Fraction, second: Fraction) -> bool | None:
    if first == second:
        return True
    if first.denominator == second.denominator == 1 or abs(first - second) > _APART:
        return False
    return None
