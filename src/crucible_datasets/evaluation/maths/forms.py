r"""Preparation of texts for math-verify: bare formulas are put between dollars."""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.boxed import last_boxed

_MARKS = ("\\boxed", "\\fbox", "$", "\\(", "\\[")
_COMMAND = re.compile(r"\\(?:text|mathrm|mbox|textbf|begin|end)\{[^{}]*\}|\\[A-Za-z]+")
# A single capital letter is a choice, not a variable; words must not become products of variables.
_WORDS = re.compile(r"[A-Z]|[A-Za-z]{2,}(?: [A-Za-z]+)+")
_PROSE = re.compile(r"[A-Za-z]{3,}")


def answer_in(text: str) -> str:
    r"""The answer alone: the content of the box, else the text without surrounding dollars and full stop."""
    boxed = last_boxed(text)
    answer = (text if boxed.text is None else boxed.text).strip()
    if len(answer) > 2 and answer[0] == answer[-1] == "$" and "$" not in answer[1:-1]:
        answer = answer[1:-1].strip()
    return answer[:-1].rstrip() if answer.endswith(".") else answer


_WRAPPED_LETTER = re.compile(
    r"[\s({$]*(?:\\(?:text(?:bf|it|rm|sf)?|math(?:rm|bf|sf|it)|mbox)\s?\{)?[\s(]*([A-Z])[\s).]*\}?[\s)}$.]*"
)
_WRAPPED_WORD = re.compile(r"\\(?:text(?:bf|it|rm)?|mathrm|mbox)\{\s*([A-Za-z]{2,}(?:[ '-][A-Za-z]+)*)\s*\.?\}\.?")
_LAYOUT = re.compile(r"\\[!,;:]|\{(?=,\})|(?<=\{,)\}")


def plain_answer(text: str) -> str:
    r"""The answer alone, without full stops inside and outside of its marks, and without the layout of numbers.

    >>> plain_answer(r"$\text{even}$."), plain_answer(r"\$32,\!348"), plain_answer(r"\boxed{\text{(C)}}")
    ('even', '32,348', 'C')
    """
    text = text.replace("\\boxed {", "\\boxed{").strip()
    for _ in range(4):  # a full stop may stand inside of the box, of the dollars, and behind them
        before, text = text, answer_in(text)
        if text == before:
            break
    if letter := _WRAPPED_LETTER.fullmatch(text):
        return letter[1]
    if word := _WRAPPED_WORD.fullmatch(text):
        return word[1]
    number = _LAYOUT.sub("", text).replace("{,}", ",").removeprefix("\\$").strip()
    return number if re.fullmatch(r"-?[\d,]+(?:\.\d+)?", number) else text


def for_math_verify(text: str) -> str:
    r"""`\frac12` becomes `$\frac12$`; sentences, and texts with marked formulas, are unchanged.

    >>> for_math_verify("x + 1"), for_math_verify("The sum is 12.")
    ('$x + 1$', 'The sum is 12.')
    """
    if any(mark in text for mark in _MARKS):
        return text
    words = _PROSE.findall(_COMMAND.sub(" ", text[:2000]))
    prose = "\n" in text.strip() or len(words) > 1 or _WORDS.fullmatch(text.strip())
    return text if prose else f"${text.strip()}$"
