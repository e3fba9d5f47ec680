"""Numbers, equal within a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import RIGHT, WRONG, Outcome
from crucible_datasets.evaluation.rules.boxed import LONGEST
from crucible_datasets.evaluation.rules.numbers import with_plain_fractions, written
from crucible_datasets.evaluation.rules.parts import normalized
from crucible_datasets.exceptions import UnusablePairError

# A minus separated from its number counts only behind `=`; elsewhere it may be a dash or a list marker.
_NUMBER = re.compile(
    r"""(?P<bound> [<≤≥≠±]\s? | \s>\s? )?
        (?P<number> (?<![\w.]) (?: (?:(?<==)|(?<==\s))-\s | [-+]? ) [$€£]? [-+]?
            (?: \d{1,3}(?:,\d{3}){1,100}(?![\d,]) (?:\.\d{1,400})? | \d{1,400}(?:\.\d{0,400})? | \.\d{1,400} )
            (?:[eE][-+]?\d{1,3})? (?:\s?/\s?\d{1,400})? )
        (?P<percent> \s?% )? (?!\.?\d)""",
    re.VERBOSE,
)
Reading = tuple[Fraction, bool] | None  # a number, and whether it is a percentage; None if there is not one
_DROPPED = str.maketrans("", "", ", $€£\n\t\u2009\u00a0")


def number_in(text: str) -> Reading:
    """The one number of a text and whether it is a percentage; None when there is none, or several that differ."""
    if len(text) > LONGEST:
        return None
    found = {(_value(match), match["percent"] is not None) for match in _first(" " + text.replace("−", "-"))}
    if len(found) != 1:
        return None
    ((value, is_percentage),) = found
    return None if value is None else (value, is_percentage)


# What only looks like a plain number: other bases, roots, powers, imaginary numbers, a dash that may be no sign.
_NOT_PLAIN = re.compile(r"\b0[xXbBoO][0-9a-fA-F]|√|\d\s?[⁰¹²³⁴-⁹^]|\d[ij]\b|(?:^|\n)\s*[-–—−]\s+[$€£]?\.?\d")
_SIGN = re.compile(r"(?<![\w)\]])\s?[–—‒﹣－](?=[$€£]?\.?\d)")
_WORTH = re.compile(r"(\d[\d,]{0,100}(?:\.\d{1,100})?)\s?(thousand|million|billion|trillion|k|M|bn)\b")
_WORTHS = {
    "k": 10**3,
    "thousand": 10**3,
    "M": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
    "trillion": 10**12,
}


def spelt_number_in(text: str) -> Reading:
    """Like `number_in`, with words for thousands, mixed fractions, digits of any script and dashes as signs."""
    text = with_plain_fractions(normalized(text[: LONGEST + 1]))
    if _NOT_PLAIN.search(text):
        return None
    worth = _WORTH.sub(lambda match: written(Fraction(match[1].replace(",", "")) * _WORTHS[match[2]]), text)
    return number_in(_SIGN.sub(" -", worth))


def _first(text: str) -> list[re.Match[str]]:
    """The first matches, enough to know whether there is more than one number."""
    return [match for match, _ in zip(_NUMBER.finditer(text), range(64), strict=False)]


def _value(match: re.Match[str]) -> Fraction | None:
    """The number; None for a bound, since `<5` is not 5."""
    over, _, under = match["number"].translate(_DROPPED).replace("--", "").partition("/")
    try:
        return None if match["bound"] else Fraction(over.rstrip(".")) / Fraction(under or 1)
    except (ValueError, ZeroDivisionError):
        return None


_SPELLINGS = (
    *((name, "relative") for name in ("tolerance", "rel_tol", "rtol")),
    *((name, "absolute") for name in ("abs_tol", "atol")),
)


@metric("numeric", version=1, binary=True, aliases=("number", "numerical"), spellings=_SPELLINGS)
def numeric_as_written(prediction: Any, target: Any, *, relative: float = 1e-6, absolute: float = 0.0) -> Outcome:
    """1 when both are the same number; "5 million" is read as 5, "3½" as 3, "–5" and "- 5" as 5."""
    return _judged(_number(prediction, number_in), _number(target, number_in), target, relative, absolute)


@metric(version=2, binary=True, aliases=("number", "numerical"), spellings=_SPELLINGS)
def numeric(prediction: Any, target: Any, *, relative: float = 1e-6, absolute: float = 0.0) -> Outcome:
    """1 when both are the same number within `relative` times the target, or within `absolute`.

    Texts may contain currency signs, thousands separators, fractions, exponents and words such as million, but only one
    number; a text with none or several is unparsed, and so is one whose sign or notation is in doubt (`- 5`, `0x10`).
    A percentage equals its number and its hundredth; two percentages are compared as numbers.

    >>> numeric("$1,234.50 in total", 1234.5).value, numeric("2 1/4", "2.25").value, numeric("12 %", 0.12).value
    (1.0, 1.0, 1.0)
    """
    return _judged(_number(prediction, spelt_number_in), _number(target, spelt_number_in), target, relative, absolute)


def _judged(found: Reading, right: Reading, target: Any, relative: float, absolute: float) -> Outcome:
    if right is None:
        raise UnusablePairError("target", target, "it is not one number.")
    if found is None:
        return Outcome(0.0, status="unparsed")
    close = any(_close(a, b, relative, absolute) for a, b in _readings(found, right))
    return RIGHT if close else WRONG


def _number(value: Any, number_in: Callable[[str], Reading]) -> Reading:
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, bool) or not hasattr(value, "__float__") or not math.isfinite(value):
        return None
    return Fraction(value if isinstance(value, int) else float(value)), False


def _readings(found: tuple[Fraction, bool], right: tuple[Fraction, bool]) -> Iterator[tuple[Fraction, Fraction]]:
    """The pairs of numbers to compare; if only one is a percentage, also its hundredth."""
    yield found[0], right[0]
    if found[1] != right[1]:
        yield (found[0] / 100, right[0]) if found[1] else (found[0], right[0] / 100)


def _close(found: Fraction, right: Fraction, relative: float, absolute: float) -> bool:
    return abs(found - right) <= max(Fraction(relative) * abs(right), Fraction(absolute))
