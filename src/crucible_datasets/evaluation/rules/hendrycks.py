r"""The official rule of the MATH benchmark: the last box, normalized for comparison as text."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import last_boxed

_REMOVED = ("\\left", "\\right", "^{\\circ}", "^\\circ", "\\$")


def strip_string(text: str) -> str:
    r"""A LaTeX answer without what does not change its value: `\dfrac34 ^\circ` becomes `\frac{3}{4}`."""
    text = text.replace("\n", "").replace("\\!", "").replace("\\\\", "\\")
    text = text.replace("tfrac", "frac").replace("dfrac", "frac")
    for part in _REMOVED:
        text = text.replace(part, "")
    text = text.partition("\\text{ ")[0].replace("\\%", "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    text = "0" + text if text.startswith(".") else text
    text = _braced_roots(_without_left_side(text)).replace(" ", "")
    text = _braced_fractions(text)
    return "\\frac{1}{2}" if text == "0.5" else _slash_as_fraction(text)


def _without_left_side(text: str) -> str:
    """`k = 5` is 5; a longer left side may be part of the answer."""
    sides = text.split("=", 2)
    return sides[1] if len(sides) == 2 and len(sides[0]) <= 2 else text


def _braced_roots(text: str) -> str:
    first, *others = text.split("\\sqrt")
    return first + "".join("\\sqrt" + (_braced(root) if root[:1] not in ("", "{") else root) for root in others)


def _braced(text: str) -> str:
    return f"{{{text[0]}}}{text[1:]}"


def _braced_fractions(text: str) -> str:
    first, *others = text.split("\\frac")
    if any(len(part) < 2 and part != "{" for part in others):
        return text
    return first + "".join("\\frac" + (part if part[0] == "{" else _braced_terms(part)) for part in others)


def _braced_terms(part: str) -> str:
    """`12` and `1{2}` are `{1}{2}`."""
    return f"{{{part[0]}}}{part[1:] if part[1] == '{' else _braced(part[1:])}"


def _slash_as_fraction(text: str) -> str:
    over, slash, under = text.partition("/")
    if not slash or not _is_integer(over) or not _is_integer(under):
        return text
    return f"\\frac{{{over}}}{{{under}}}"


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    plain = digits.isascii() and digits.isdigit()
    return plain and (digits == "0" or not digits.startswith("0")) and text != "-0"


@rule("math/hendrycks", version=1, target=strip_string)
def hendrycks(text: str) -> Reading:
    r"""The last `\boxed{…}` or `\fbox{…}`, normalised as the MATH benchmark does before it compares texts."""
    found = last_boxed(text, escapes=False)
    return found if found.text is None else Reading(strip_string(found.text))
