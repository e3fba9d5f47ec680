"""Code in what a model wrote."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_FENCE = "```"
_DEFINING = ("def ", "class ", "async def ")


@rule("humaneval", version=1)
def humaneval(text: str) -> str:
    r"""The completion up to the first line that begins something new: class, def, #, if or print at its start."""
    found = (text.find(stop) for stop in STOPS)
    return text[: min((at for at in found if at >= 0), default=len(text))]


@rule("code/completion", version=1)
def completion(text: str) -> Reading:
    """A fenced block; else a whole program, if the text begins one; else the completion as `humaneval@1` reads it."""
    if _FENCE in text:
        return fenced(text)
    return Reading(text if _is_program(text) else humaneval(text))


def _is_program(text: str) -> bool:
    """Whether a text defines something at its left edge, before anything that only a function's body can hold."""
    before = text[: len(text) - len(text.lstrip())]
    is_indented = bool(before.rpartition("\n")[2])
    return not is_indented and any(text.startswith(word) or f"\n{word}" in text for word in _DEFINING)


@rule("code/fenced", version=1)
def fenced(text: str) -> Reading:
    """What stands in the last fenced block; the whole text where there is none."""
    parts = text.split(_FENCE)
    if len(parts) == 1:
        return Reading(text)
    if len(parts) % 2 == 0:  # the last fence was opened and not closed
        return TRUNCATED
    first_line, newline, code = parts[-2].partition("\n")
    return Reading(code if newline else first_line)
