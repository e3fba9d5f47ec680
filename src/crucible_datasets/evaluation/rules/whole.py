"""The whole text is the answer: for metrics that look for it themselves, and behind rules that may find nothing."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import rule


@rule("whole", version=1)
def whole(text: str) -> str:
    """The text itself, without space around it."""
    return text.strip()
