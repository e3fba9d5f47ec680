"""The letter of a multiple choice answer.

Quantifiers are bounded and candidates are tried from the end of the text, so that a million spaces or a
hundred thousand times the word "answer" cost little.
"""

from __future__ import annotations

import re
import string

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import last_boxed

_PUNCTUATION = str.maketrans("", "", string.punctuation + " ")
_TRIES = 10_000  # occurrences of the word "answer" that are tried
_LINE = 200  # characters of a line with one letter and punctuation
_PRO = re.compile(r"answer is \(?([ABCDEFGHIJ])\)?")
_INSPECT = re.compile(r"answer[ \t]{0,8}:[\s*_$(\[{]{0,16}([a-z0-9 ,]{1,64})", re.IGNORECASE)
# "A or B" states no letter; "B, A is wrong" and "B, I think" state B.
_ALONE_IN_ITS_PLACE = r"""(?! [)\]}.*"'$`]{0,4} \s{0,3} (?:[,/&]|or\b|and\b) \s{0,3} (?:or\s|and\s)? [(\[*"'`]{0,3}
        (?-i:[A-HJ-Z]) (?![\w'’]|\s{1,3}(?:is|was|would|does|has|can)\b) )"""
_NAMED = rf"""[\s:*_=]{{0,12}} (?:option\s|choice\s)?
        [(\[{{*"'$`]{{0,3}} (?:\\\()? (?:\\(?:text|mathrm|textbf|boxed)\{{)?
        (?: (?P<upper>(?-i:[A-Z])) (?![\w'’]) {_ALONE_IN_ITS_PLACE}
          | (?P<lower>[a-z]) (?=[)\]}}.*"'$`\\]{{0,4}}[ \t]{{0,4}}(?:\n|\Z)) )"""
# "Answer B" may only mention B; it states B if punctuation or the end of the line follows.
_STATED = re.compile(
    rf"""answer\b (?P<said> \s{{1,4}}is\b | [\s*_]{{0,8}}[:=] )? {_NAMED}
        (?(said) | (?= [)\]}}.:*"'$`] | [ \t]{{0,4}}(?:\n|\Z) ))""",
    re.IGNORECASE | re.VERBOSE,
)
_CHOSEN = tuple(
    (word, re.compile(rf"{word}\s{{1,4}}is\b {_NAMED}", re.IGNORECASE | re.VERBOSE)) for word in ("option", "choice")
)
_ALONE = re.compile(r"[\s(\[{*_\"'$`]{0,8}(?:[Oo]ption\s|[Cc]hoice\s)?[(*]{0,3}([A-Za-z])[)\]}.:*_\"'$`]{0,6}\s{0,8}\Z")
_LEADING = re.compile(r"\s{0,8}[(\[*]{0,3}(?:([A-Z])[).:\]*]|([a-z])[)\]])[)*:.\]]{0,3}(?:\s|\Z)")


@rule("mmlu/letter", version=1)
def mmlu_letter(text: str) -> str | None:
    """The first line when it is one letter from A to J, whatever its case and punctuation."""
    line = text.lstrip().partition("\n")[0][:_LINE].translate(_PUNCTUATION).upper()
    return line if len(line) == 1 and "A" <= line <= "J" else None


@rule("mmlu_pro", version="3.1")
def mmlu_pro(text: str) -> str | None:
    """The letter of the first 'answer is (X)', from A to J."""
    found = _PRO.search(text)
    return found[1] if found else None


@rule("choice/inspect", version=1)
def inspect(text: str) -> str | None:
    """The letter of the last 'ANSWER: X', preferably at the start of a line, if it is a single letter."""
    found = _last(_INSPECT, text, at_line_start=True) or _last(_INSPECT, text)
    answer = found[1].strip(" ,") if found else ""
    return answer.upper() if len(answer) == 1 and answer.isalpha() else None


@rule("choice/letter", version=1)
def letter(text: str) -> Reading | str | None:
    """The letter that a text states: boxed, as "the answer", alone, at its beginning, or alone in its last line."""
    boxed = last_boxed(text)
    if boxed.text is not None and (found := _ALONE.match(_unwrapped(boxed.text))):
        return found[1].upper()
    for word, pattern in (("answer", _STATED), *_CHOSEN):
        if stated := _last(pattern, text, word):
            return (stated["upper"] or stated["lower"]).upper()
    stripped = text.strip()
    head = "" if _repeats_the_options(stripped) else stripped
    for place, pattern in ((stripped, _ALONE), (head, _LEADING), (stripped.rpartition("\n")[2], _ALONE)):
        if found := pattern.match(place):
            return next(group for group in found.groups() if group).upper()
    return boxed if boxed.status == "truncated" else None


def _repeats_the_options(text: str) -> bool:
    """Whether a text begins by repeating the options A and B on separate lines: then A is not its answer."""
    first, _, rest = text.partition("\n")
    letters = [found[1] for line in (first, rest.lstrip()[:_LINE]) if (found := _LEADING.match(line))]
    return letters == ["A", "B"]


def _unwrapped(boxed: str) -> str:
    for command in ("\\text{", "\\mathrm{", "\\textbf{"):
        if boxed.startswith(command):
            return boxed[len(command) :]
    return boxed


def _last(
    pattern: re.Pattern[str], text: str, word: str = "answer", at_line_start: bool = False
) -> re.Match[str] | None:
    """The match at the last possible occurrence of `word`, or at the last line that begins with it."""
    # `lower` would shift positions in non-ASCII text: the lower case of İ has two characters.
    lowered = text.lower() if text.isascii() else text.replace(word.upper(), word).replace(word.capitalize(), word)
    wanted, before = (f"\n{word}", 1) if at_line_start else (word, 0)
    at = len(lowered)
    for _ in range(_TRIES):
        at = lowered.rfind(wanted, 0, at)
        if at < 0:
            break
        if found := pattern.match(text, at + before):
            return found
    return pattern.match(text) if at_line_start else None
