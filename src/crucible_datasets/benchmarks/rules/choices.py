"""Multiple choice. The target is the letter of the correct option."""

from __future__ import annotations

import hashlib
import string
from typing import Annotated

import msgspec

from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule

LETTERS = string.ascii_uppercase
Options = Annotated[list[str], msgspec.Meta(min_length=2, max_length=len(LETTERS))]


class Labelled(msgspec.Struct):
    """Options with labels, as in ARC."""

    text: Options
    label: list[str]


class Judged(msgspec.Struct):
    """Options with 1 for the correct ones, as in TruthfulQA."""

    choices: Options
    labels: list[int]


@rule("choices/answer")
def answer(question: str, choices: Options, answer: int | str, context: str = "") -> Fields:
    """A question, its options, and the correct one as number, letter or digit; a context comes before the question.

    >>> answer("2 + 2 = ?", ["3", "4"], 1)
    {'input': '2 + 2 = ?', 'target': 'B', 'choices': ['3', '4']}
    """
    asked = f"{context}\n\n{question}" if context else question
    return {"input": asked, "target": _letter(answer, len(choices)), "choices": choices}


def _letter(answer: int | str, number: int) -> str:
    if isinstance(answer, str):
        shown = answer.strip().upper()
        place = (
            LETTERS.index(shown) if len(shown) == 1 and shown in LETTERS else int(shown) if shown.isdecimal() else -1
        )
    else:
        place = answer
    if not 0 <= place < number:
        raise Unfit("answer", f"{answer!r} is none of {number} options")
    return LETTERS[place]


@rule("choices/labelled")
def labelled(question: str, choices: Labelled, answer: str) -> Fields:
    """Options with labels, and the label of the correct one; some questions of ARC have the labels 1 to 4."""
    if len(choices.label) != len(choices.text):
        raise Unfit("choices", f"{len(choices.text)} options have {len(choices.label)} labels")
    if answer not in choices.label:
        raise Unfit("answer", f"{answer!r} is none of the labels {', '.join(choices.label)}")
    return {"input": question, "target": LETTERS[choices.label.index(answer)], "choices": choices.text}


@rule("choices/blank")
def blank(sentence: str, option1: str, option2: str, answer: str) -> Fields:
    """A sentence with a blank, two words for it, and "1" or "2", as in WinoGrande."""
    if answer not in ("1", "2"):
        raise Unfit("answer", f"it is '1' or '2', not {answer!r}")
    return {"input": sentence, "target": LETTERS[int(answer) - 1], "choices": [option1, option2]}


@rule("choices/judged")
def judged(question: str, targets: Judged) -> Fields:
    """Options of which exactly one is correct, ordered by digest, since in the data the correct one comes first."""
    if len(targets.labels) != len(targets.choices) or sum(targets.labels) != 1:
        raise Unfit("targets", "exactly one option must be marked as right")
    return in_own_order(question, targets.choices, targets.labels.index(1))


@rule("choices/right_and_wrong")
def right_and_wrong(question: str, right: str, wrong: list[str]) -> Fields:
    """The correct option and the wrong ones, ordered by digest."""
    if not wrong:
        raise Unfit("wrong", "there is no wrong option")
    return in_own_order(question, [right, *wrong], 0)


def in_own_order(question: str, options: list[str], right: int) -> Fields:
    """Options ordered by digest: a fixed order in which no position is correct more often than another."""
    order = sorted(range(len(options)), key=lambda place: digest(question, options[place], str(place)))
    return {
        "input": question,
        "target": LETTERS[order.index(right)],
        "choices": [options[place] for place in order],
    }


def digest(*texts: str) -> bytes:
    """A hash of texts that is the same on every machine."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()
