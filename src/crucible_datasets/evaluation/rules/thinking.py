"""Thinking is not the answer: a step of its own, so that a score says whether it was taken."""

from __future__ import annotations

import re

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

_TAG = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)


@rule("strip_thinking", version=1)
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
    answer = "".join(kept).strip()
    return TRUNCATED if thinking and not answer else Reading(answer, "ok" if answer else "empty")
