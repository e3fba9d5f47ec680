"""Numbers in text: how models write them, in one canonical form."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

_WORTH = {"k": 1_000, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_SIGN = r"(?:(?<![\w)\]])[-−–+]\s?)?"
_DIGITS = (
    r"(?:\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:[,’']\d{3}){1,100}(?!\d|,\d)(?:\.\d{1,100})?|\d{1,3}(?:\s\d{3}){1,100}(?!\d)(?:\.\d{1,100})?"
    r"|\d{1,100}(?:\.\d{1,100})?(?!,\d{1,2}(?!\d))|\d{1,100},\d{1,2}(?!\d)|\.\d{1,100})"
)
#: A number with its sign, currency, fraction, unit of thousands and percent sign.
NUMBER = re.compile(
    rf"""{_SIGN}(?:[$€£¥₹]|US\$|USD\s|Rs\.?\s)?\s?[-−–]?(?P<digits>(?<![\d.])(?<!\d:){_DIGITS})(?:\s?/\s?(?P<under>\d{{1,100}})(?![\d/]))?
        (?:\s?(?P<worth>thousand|million|billion|trillion|k)\b)?(?!\d|[.,:]\d|[eE][-+]?\d|(?:st|nd|rd|th)\b|[xyzn]\b)""",
    re.VERBOSE,
)


_MIXED = re.compile(r"(?<![\d.,/])(\d{1,50})\s{1,3}(\d{1,50})/(\d{1,50})(?![\d/])")
_VULGAR = re.compile("[¼-¾⅐-⅞]")


def with_plain_fractions(text: str) -> str:
    """A text in which 2 1/2 and 2½ are 5/2."""
    text = _VULGAR.sub(lambda match: " " + unicodedata.normalize("NFKC", match[0]).replace("⁄", "/"), text)
    return _MIXED.sub(lambda match: f"{int(match[1]) * int(match[3]) + int(match[2])}/{match[3]}", text)


def only_number(text: str) -> str | None:
    """The only number of a text, which may occur several times."""
    numbers: dict[str, str | None] = {}
    for match in NUMBER.finditer(text):
        if match[0] not in numbers:
            numbers[match[0]] = canonical(match)
            if len({*numbers.values()}) > 1:
                return None
    return next(iter(numbers.values()), None)


def canonical(match: re.Match[str]) -> str | None:
    """The number of a match: without separators and needless zeros, as a decimal if it has an end."""
    digits = match["digits"]
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    value = Fraction(re.sub(r"[,’'\s]", "", digits)) * _WORTH.get(match["worth"] or "", 1)
    if match["under"]:
        if not int(match["under"]):
            return None
        value /= int(match["under"])
    before = match.string[match.start() : match.start("digits")]
    return written(-value if re.search("[-−–]", before) else value)


def written(value: Fraction) -> str:
    """A number as a decimal if it has an end, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value * 10**places)).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
