"""The whole text as the answer: for metrics that search it, and as a fallback of other rules."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import rule


@rule("whole", version=1)
def whole(text: str) -> str:
    """The text itself, without space around it."""
    return text.strip()
