"""Styles: every form of an answer, plain and in surroundings, for answers of each type.

A form, a mark or a surrounding belongs to one of two halves, by a checksum of its text. Rules are developed on the
half "development"; the half "report" has none of its parts, and only its rates are looked at.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from tests.evaluation.gallery import forms, further

HALVES = ("development", "report")
OPTIONS = ("Paris", "Rome", "Oslo", "Bern")
# Per type: pairs of an answer and another one.
ANSWERS = {
    "number": (("38", "40"), ("1,234", "1,324"), ("7", "3"), ("-5", "5"), ("12.5", "125"), ("100", "96")),
    "letter": (("A", "C"), ("B", "D"), ("C", "B"), ("D", "A")),
    "option": (("B", "D"), ("C", "A")),
    "text": (("Paris", "Rome"), ("No", "Yes"), ("New York", "Boston"), ("12 March 1999", "13 March 1999")),
    "formula": ((r"\frac{1}{2}", "2"), ("x^2+1", "x^2"), (r"2\sqrt{3}", "3"), ("[2,5)", "[2,5]")),
}
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


class Style(NamedTuple):
    """One way to write an answer."""

    name: str
    type: str
    thought: str
    lead: str
    form: str
    mark: str
    tail: str
    says: bool  # whether an answer is stated

    def written(self, answer: str, wrong: str) -> str:
        """What a model writes that means `answer`."""
        text = self.thought + self.lead + self.form + self.tail
        options = dict(zip("ABCD", OPTIONS, strict=True))
        parts = {
            "⟨x⟩": self.mark.replace("⟨⟩", answer),
            "⟨bare⟩": answer,
            "⟨wrong⟩": wrong,
            "⟨option⟩": options.get(answer, ""),
            "⟨full⟩": answer.translate(_FULL_WIDTH),
            "⟨low⟩": answer.lower(),
        }
        for name, part in parts.items():
            text = text.replace(name, part)
        return text


class Case(NamedTuple):
    """A text in a style, and the answer that a careful person reads in it; None if it states none."""

    style: Style
    text: str
    answer: str | None
    target: str


def half_of(part: str) -> str:
    """The half that a form, a mark or a surrounding belongs to; what is plain belongs to both."""
    return HALVES[zlib.crc32(part.encode()) % 2]


def _in_half(parts: tuple[str, ...], half: str) -> list[str]:
    return [part for part in parts if part in ("", "\n", "⟨⟩") or half_of(part) == half]


def styles(kind: str, half: str) -> Iterator[Style]:
    """The styles of a half for answers of a type: every form plain, and in three surroundings."""
    own = {
        "number": (forms.NUMBERS + further.NUMBERS, forms.SILENT_OF_NUMBERS + further.SILENT_OF_NUMBERS),
        "letter": (forms.LETTERS + further.LETTERS, forms.SILENT_OF_LETTERS + further.SILENT_OF_LETTERS),
        "option": (forms.OPTIONS + further.OPTIONS, ()),
        "text": (forms.TEXTS + further.TEXTS, ()),
        "formula": ((), ()),
    }[kind]
    stated = own[0] if kind == "option" else forms.STATED + further.STATED + own[0] + forms.RETRACTED
    silent = () if kind == "option" else forms.SILENT + further.SILENT + own[1]
    if kind == "formula":  # two values may be the answer
        silent = tuple(form for form in silent if "⟩ or ⟨" not in form or "sure" in form or "either" in form)
    for says, texts in ((True, stated), (False, silent)):
        for form in _in_half(texts, half):
            yield from _of_form(form, kind, half, says)
    for form in _in_half(forms.ENDLESS, half):
        yield Style(f"{kind}: {form}", kind, "", "", form, "⟨⟩", "", False)


def _of_form(form: str, kind: str, half: str, says: bool) -> Iterator[Style]:
    chance = random.Random(f"{kind} {form}")
    ends = form.rstrip()[-1:] in (".", "!") and form.strip(". ") != ""
    for number in range(4):
        thought = chance.choice(_in_half(forms.THOUGHTS, half)) if number in (1, 3) else ""
        lead = chance.choice(_in_half(forms.LEADS, half)) if number in (2, 3) else ""
        mark = chance.choice(_marks(kind, half)) if number else "⟨⟩"
        tail = chance.choice(_in_half(forms.TAILS, half)) if number and (says or ends) else ""
        if thought.count("</think>") and thought.startswith("The"):
            lead = lead.lstrip()
        if _is_odd(form, lead, tail):
            lead = tail = ""
        name = " + ".join(part.strip() for part in (thought, lead, form, mark, tail) if part.strip() not in ("", "⟨⟩"))
        yield Style(f"{kind}: {name}", kind, thought, lead, form, mark, tail, says)


def _is_odd(form: str, lead: str, tail: str) -> bool:
    """Whether nobody would write this form there: a repeated question is at the beginning, a cut at the end."""
    begins = form.startswith(("Q:", "Question:"))
    is_cut = form == "<answer>⟨bare⟩"
    return (begins and bool(lead)) or (is_cut and bool(tail))


def _marks(kind: str, half: str) -> list[str]:
    marks = _in_half(forms.MARKS, half)
    if kind == "formula":
        return ["⟨⟩", "$⟨⟩$", r"\(⟨⟩\)"]
    return [mark for mark in marks if kind in ("number", "letter") or mark not in ("$⟨⟩$", r"\(⟨⟩\)")]


def cases(kind: str, half: str) -> Iterator[Case]:
    """Every style with the answers of its type in turn."""
    answers = ANSWERS[kind]
    for number, style in enumerate(styles(kind, half)):
        answer, wrong = answers[number % len(answers)]
        if kind == "number" and "." in answer and "⟨bare⟩.0" in style.form:
            answer, wrong = answers[0]
        yield Case(style, style.written(answer, wrong), answer if style.says else None, answer)
