r"""The formula that a solution states: in a box, as the answer, or alone in its last sentence."""

from __future__ import annotations

import re
from typing import Final

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.final_answer import answer_text, before_answer, implied_text
from crucible_datasets.evaluation.rules.gsm8k import implied_number
from crucible_datasets.evaluation.rules.statements import Kind, is_denied, is_nothing, last_sentence, stated

_LONGEST = 1000  # characters of an answer
_FORMULA = r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]"
_AT_HEAD = re.compile(rf"[\s:*_\"'“‘]*(?:{_FORMULA})")
_ANYWHERE = re.compile(_FORMULA)
_PROSE = re.compile(r"[^\W\d_]{3,}")
_COMMAND = re.compile(r"\\(?:text|mathrm|mbox|textbf|begin|end|operatorname)\s?\{[^{}]*\}|\\[A-Za-z]+")
_MEANING = re.compile(r"[^\W_]|[∅∞]")
_DELIMITERS = re.compile(r"[\s$\\\[\]]*\Z")
_ENDS = re.compile(r"\A(?:\\[,;:! ]|[\s~;])+|(?:\\[,;:! ]|[\s~]|(?<!\\)\\\Z)+\Z")
_WEAK = re.compile(r"\b(?:we|i)\s(?:get|obtain|conclude|find)(?:\sthat)?\b:?\s*(?=[$\\\d(\[{-])", re.IGNORECASE)


def _inside(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _content(text: str) -> str | None:
    """The formula of a box, a tag or a field, without dollars and a full stop."""
    text = _ENDS.sub("", text)
    text = text[:-1].strip() if text.endswith(".") else text
    whole = _AT_HEAD.fullmatch(text)
    text = (_inside(whole) if whole and text.count("$") < 3 else text).strip()
    is_answer = (
        text
        and len(text) <= _LONGEST
        and not is_nothing(_spelt(text))
        and _MEANING.search(text)
        and not text.startswith(("\\boxed", "\\fbox"))
    )
    return text if is_answer else None


def _spelt(text: str) -> str:
    return re.sub(r"\\(?:text|mathrm|mbox|textbf)\s?\{([^{}]*)\}", r"\1", text)


def _of_claim(claim: str) -> str | None:
    """The formula that a claim begins with, else its words up to the end of the sentence."""
    formula = _AT_HEAD.match(claim[:_LONGEST])
    if formula:
        return _content(_inside(formula))
    answer = answer_text(claim)
    return _content(answer) if answer else answer


def _implied(lines: list[str]) -> str | None:
    """A line that is a formula, else the only formula, or the last number, of the last sentence."""
    lines = [line for line in lines if not _DELIMITERS.match(line)]
    if not lines:
        return None
    for line in dict.fromkeys((lines[-1], lines[0])):
        words = _PROSE.findall(_COMMAND.sub(" ", line))
        if not words or (len(lines) == 1 and len(line.split()) <= 2 and implied_text([line])):
            if is_denied(line) or is_nothing(_spelt(line)):
                return None
            return None if line.rstrip().endswith(("=", "+", "?", ":", "…", "...")) else _content(line)
    sentence = last_sentence(lines)
    formulas = [_inside(formula) for formula in _ANYWHERE.finditer(sentence)]
    if is_denied(_ANYWHERE.sub(" ", sentence)) or len(formulas) > 1:
        return None
    return _content(formulas[0]) if formulas else implied_number(lines)


FORMULA: Final = Kind(_content, _of_claim, before_answer, _implied, _WEAK)


@rule("math/stated", version=1)
def stated_formula(text: str) -> Reading:
    r"""The formula that a solution states: in its last box, as the answer, or alone in its last sentence."""
    return stated(text, FORMULA)
