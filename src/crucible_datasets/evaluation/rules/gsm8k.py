"""GSM8K: the final number of a solution.

The official rule and two rules of the lm-evaluation-harness, which extract different numbers from the same text, so
scores must name their rule. A number that is part of a fraction gets a remark: for "#### 1/2", one rule extracts 1,
the other 2.
"""

from __future__ import annotations

import re
from typing import Final

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.numbers import NUMBER, canonical, only_number, with_plain_fractions
from crucible_datasets.evaluation.rules.statements import (
    NONE,
    Kind,
    is_denied,
    is_nothing,
    is_unfinished,
    last_sentence,
    stated,
)

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


# ── what a solution states (`statements`)

_UNWRAPPED = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|sf|it)|mbox|boldsymbol|displaystyle|left|right)\b\s?")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{(\d{1,50})\}\s?\{(\d{1,50})\}")
_SPACE = re.compile(r"\\[,;!: ]|~|\^\{?\\circ\}?|\{(?=,\})|(?<=\{,)\}|(?<=,)\}(?=\d)|\{,\}")
_BEFORE = r"""(?:[\s:;=*_»⇒∴「『"'“‘`([{|>→➡✅≈~.…\ufe0f{}]|\$(?=[\sA-Za-z(\\])|一共|总共|共有?|大?约
    |\\(?:approx|sim|simeq|displaystyle)\b|about|approximately|exactly|only|just|simply|roughly
    |around
    |therefore|thus|hence|clearly|now|in\sfact|actually|really
    |indeed|then|also|probably|likely|most|definitely|certainly|equal\sto|equals?|is|the|an?|number|total|sum|value|amount|of|to|be|it|that|comes|out
    |la|el|le|die|der|das|[A-Za-z]\w{0,20}\s?(?==[^=])|\w{1,20}\s\w{1,20}\s?(?==[^=]))"""
_HEAD = re.compile(rf"(?i:{_BEFORE}){{0,24}}(?<![A-Za-z0-9.])(?=[-−–+$€£¥₹\d.UR])", re.VERBOSE)
_UNIT = re.compile(
    r"""(?![.):]\s+[^\W\d])[\s{})\]*_"'”’」』`$€£¥₹.!。|°%✓✅/]*(?:(?:per|a|an|each|every|in|of|/)?\s?[^\W\d]{1,20}[\s.)}\]"'”*!|/]*){0,5}(?:\([^()\d]{0,40}\))?(?:\^\{?[23]\}?)?[\s.})$]*\Z"""
)
_OPERATION = re.compile(r"\s?(?:[+/×÷^=]|\*(?=\s?[\w($\\])|\\(?:times|cdot|div)|[-−–]\s?(?=[\d$(]))")
_RANGE = re.compile(r"\s?(?:,\s|-|–|to|or|or\sabout|or\smaybe|or\sperhaps|or\spossibly|and|/|oder|ou|o|或)\s?[$€£]?\d")
_LIST_NUMBER = re.compile(
    r"\s{0,4}(?:step|part|case|day|chapter|section|version|exercise|paragraph|theorem|lemma|phase|round|figure|table|equation|line|question|problem|option|page)\s#?\d{1,4}\b:?|\s{0,4}\(?\d{1,2}[.):]\s{1,4}(?=\D)",
    re.IGNORECASE,
)
_UNSOLVED = re.compile(r"\d[xyzn]\b[^=]*\Z|\b[xyzn]\s?[-+*/×][^=]*\Z")
_LIST_END = re.compile(r"\s*\(?\d{1,2}[.)]\s*")  # the number of an item that was not written
_STEP = re.compile(r"\W*(?:step|part)\s\d", re.IGNORECASE)
_ABOUT_ITSELF = re.compile(
    r"\bI\s(?:can|have|am|will|could|need|would|cannot|used|answered)\b(?!\s\$?\d)|\b(?:this|the|your)\s(?:question|problem|prompt)\b"
)
_ABOUT_THE_ANSWER = re.compile(r"\W*(?:the|my)\sanswer\s+\S+\s[a-z]+s\s[a-z]", re.IGNORECASE)  # "The answer 5 makes no"
_CONCLUDING = re.compile(
    r"=|\b(?:so|therefore|thus|hence|total|altogether|left|remain|result|makes?|gives?|is|are|has|have|get|sum|needs?|costs?)\b",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    """A text without the commands and spaces of LaTeX."""
    text = (
        text.replace("\\$", "$")
        .replace("\\%", "%")
        .replace("{,}", ",")
        .replace("\\(", " ")
        .replace("\\)", " ")
        .replace("\\[", " ")
        .replace("\\]", " ")
    )
    return with_plain_fractions(_SPACE.sub("", _UNWRAPPED.sub("", _FRACTION.sub(r" \1/\2", text))))


def _content(text: str) -> str | None:
    """The number of a text that is a number with its unit."""
    plain = _plain(text).strip()
    head = _HEAD.match(plain)
    number = NUMBER.match(plain, head.end()) if head else None
    if number is None:
        return None
    if _UNIT.match(plain, number.end()):
        return canonical(number)
    return _result(plain) if _OPERATION.match(plain, number.end()) else None


def _of_claim(claim: str) -> str | None:
    """The number that a claim begins with, or the result of the calculation that it begins with."""
    plain = _plain(claim[:400])
    head = _HEAD.match(plain)
    number = NUMBER.match(plain, head.end()) if head else None
    if number is None:
        return _only_number(plain)
    if _RANGE.match(plain, number.end()):
        return NONE
    operation = _OPERATION.match(plain, number.end())
    if operation is None:
        return canonical(number)
    return _result(plain) or (canonical(number) if operation[0].endswith("=") else None)


def _only_number(claim: str) -> str | None:
    """The only number of the sentence that a claim begins with: "Ada has 38 apples"."""
    sentence = _LIST_NUMBER.sub(" ", re.split(r"(?<=[.!?])\s", claim, maxsplit=1)[0])
    if is_nothing(sentence) or is_denied(sentence) or is_unfinished(sentence) or not _CONCLUDING.search(sentence):
        return None
    return None if "=" in sentence else only_number(sentence)


def _result(calculation: str) -> str | None:
    """The number behind the last equals sign of the first sentence."""
    sentence = re.split(r"(?<=[.!?])\s", calculation, maxsplit=1)[0]
    before, equals, result = sentence.rpartition("=")
    return _of_claim(result) if equals and not _UNSOLVED.search(before) else None


def _before_answer(words: str) -> str | None:
    """The number that is said to be the answer."""
    plain = _plain(words[-200:]).rstrip(" *_\"'”`$)}")
    numbers = list(NUMBER.finditer(plain))
    return (
        canonical(numbers[-1])
        if len(numbers) == 1 and re.fullmatch(r"\s?(?:[A-Za-z]+\s?){0,3}", plain[numbers[-1].end() :])
        else None
    )


def implied_number(lines: list[str]) -> str | None:
    """The number of a line of its own, else the result, or the only number, of the last sentence."""
    for line in dict.fromkeys((lines[-1], lines[0])) if lines else ():
        if len(lines) > 1 and _LIST_END.fullmatch(line):
            continue
        if (number := _content(line)) is not None and not is_denied(line):
            return number
    if len(lines) > 1 and _LIST_END.fullmatch(lines[-1]):
        return None
    sentence = _LIST_NUMBER.sub(" ", _plain(last_sentence(lines)))
    if (
        is_denied(sentence)
        or is_unfinished(sentence)
        or _ABOUT_ITSELF.search(sentence)
        or _ABOUT_THE_ANSWER.match(sentence)
    ):
        return None
    is_ended = sentence.rstrip("*_)\"'”` ").endswith((".", "!", "。"))
    if not is_ended and (not _CONCLUDING.search(sentence) or (_STEP.match(lines[-1]) and "=" not in sentence)):
        return None
    sentence = sentence.replace(" equals ", " = ")
    if "=" in sentence:
        return _result(sentence.rstrip(".! "))
    return only_number(sentence)


_WEAK = re.compile(
    r"\b(?:(?:final|grand|overall)\s(?:result|total|value|amount)(?:\s\w{1,12}){0,3}?(?:\s(?:is|was|comes\sto)|[:=])"
    r"|i\sget|we\sget|i(?:'d|\swould|'ll|\swill)\s(?:say|answer)|it\s(?:is|should\sbe|must\sbe))\s*",
    re.IGNORECASE,
)


def _target(target: str) -> str:
    """The number of a target, which may be a whole solution."""
    return _content(target.rpartition("####")[2]) or target.strip()


SOLUTION: Final = Kind(_content, _of_claim, _before_answer, implied_number, _WEAK, hashes=True)


@rule("gsm8k/stated", version=1, target=_target)
def stated_number(text: str) -> Reading:
    """The number that a solution states: behind `####`, in a box, as the answer, or in its last sentence."""
    return stated(text, SOLUTION)
