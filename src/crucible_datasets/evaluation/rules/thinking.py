"""Removal of thinking: a separate step, so that results record whether it was applied."""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

_TAG = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)


@rule("strip_thinking", version=1, aliases=("strip_think",))
def strip_thinking(text: str) -> Reading:
    """The text without `<think>…</think>`; a closing tag alone ends thinking that began in the prompt."""
    first, *parts = _TAG.split(text)
    kept = [first]
    thinking = False
    for tag, part in zip(parts[::2], parts[1::2], strict=True):
        if tag[1] != "/":
            thinking = True
            continue
        if not thinking:
            kept.clear()
        thinking = False
        kept.append(part)
    answer = _without_blank_lines("".join(kept)) if parts else text
    is_blank = not answer or answer.isspace()
    return TRUNCATED if thinking and is_blank else Reading(answer, "empty" if is_blank else "ok")


def _without_blank_lines(text: str) -> str:
    """The text without leading and trailing blank lines; the first line keeps its indentation, for code."""
    stripped = text.lstrip()
    before = text[: len(text) - len(stripped)]
    return (before.rpartition("\n")[2] if "\n" in before else "") + stripped.rstrip()
