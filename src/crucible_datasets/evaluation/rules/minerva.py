r"""The rule of Minerva (Lewkowycz et al. 2022, appendix D): the answer in the closing sentence, normalized."""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import LONGEST

_OPENING = "Final Answer: The final answer is"
_CLOSING = " I hope it is correct."

# The replacements of the paper, in its order.
_SUBSTITUTIONS = (
    ("an ", ""),
    ("a ", ""),
    (".$", "$"),
    ("\\$", ""),
    ("\\ ", ""),
    (" ", ""),
    ("mbox", "text"),
    (",\\text{and}", ","),
    ("\\text{and}", ","),
    ("\\text{m}", "\\text{}"),
)
_REMOVED = (
    *("square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue"),
    *("points", "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges"),
    *("students", "childrentickets", "multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2"),
    *("\\text{}^3", "\\text{\n}", "\\text{}", "\\mathrm{th}", "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"'),
    "\\dots",
)
_BARE_FRACTION = re.compile(r"frac([^{])(.)")
_BARE_ROOT = re.compile(r"sqrt([^{])")


def normalize_final_answer(answer: str) -> str:
    """The right-hand side, without units and layout, fractions and roots in braces."""
    answer = answer.rpartition("=")[2]
    for part, instead in _SUBSTITUTIONS:
        answer = answer.replace(part, instead)
    for part in _REMOVED:
        answer = answer.replace(part, "")
    answer = _between_dollars(answer)
    for command in ("\\text{", "\\textbf{", "\\overline{"):
        answer = _unwrapped(answer, command)
    answer = _without_box(answer)
    answer = _BARE_ROOT.sub(r"sqrt{\1}", _BARE_FRACTION.sub(r"frac{\1}{\2}", answer)).replace("$", "")
    digits = answer.replace(",", "")
    return digits if digits.isdigit() else answer


def _between_dollars(answer: str) -> str:
    start = answer.find("$")
    end = answer.find("$", start + 1)
    return answer[start : end + 1] if 0 <= start < end else answer


def _unwrapped(answer: str, command: str) -> str:
    r"""`\text{cm}` is `cm`, up to the first closing brace."""
    kept, at = [], 0
    while (start := answer.find(command, at)) >= 0 and (end := answer.find("}", start)) >= 0:
        kept += [answer[at:start], answer[start + len(command) : end]]
        at = end + 1
    return "".join([*kept, answer[at:]])


def _without_box(answer: str) -> str:
    start, end = answer.find("\\boxed{"), answer.rfind("}")
    return answer[:start] + answer[start + 7 : end] + answer[end + 1 :] if 0 <= start < end else answer


@rule("math/minerva", version=1, target=normalize_final_answer)
def minerva(text: str) -> Reading | None:
    """The X of 'Final Answer: The final answer is X. I hope it is correct.', simplified as the paper says."""
    # Generation often stops within the closing sentence, so its end may be missing.
    text, at = text + _CLOSING[1:], 0
    while (at := text.find(_OPENING, at)) >= 0:
        start = at + len(_OPENING)
        at = line_end = (
            text.find("\n", start) if "\n" in text[start : start + LONGEST] else min(len(text), start + LONGEST)
        )
        end = text.find(_CLOSING, start + 1, line_end)
        if end >= 0:
            return Reading(normalize_final_answer(text[start : end - 1].strip()))
    return None
