"""Code in the output of a model."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_FENCE = "```"
_BLOCKS = 64  # blocks that are searched, from the last
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
    """Whether a text has a top-level definition before any line that only fits into a function body."""
    before = text[: len(text) - len(text.lstrip())]
    is_indented = bool(before.rpartition("\n")[2])
    return not is_indented and _defines(text)


def _defines(text: str) -> bool:
    return any(text.startswith(word) or f"\n{word}" in text for word in _DEFINING)


@rule("code/fenced", version=1)
def fenced(text: str) -> Reading:
    """The last fenced block that defines something, else the last block; without blocks, the whole text."""
    parts = text.split(_FENCE)
    if len(parts) == 1:
        return Reading(text)
    if len(parts) % 2 == 0:  # the last fence is not closed
        return TRUNCATED
    blocks = [_code(part) for part in parts[1::2][-_BLOCKS:]]
    # After a function there is often another block with an example or its output.
    return Reading(next(filter(_defines, reversed(blocks)), blocks[-1]))


def _code(block: str) -> str:
    """A block without the line with its language."""
    first_line, newline, code = block.partition("\n")
    return code if newline else first_line
