"""What one metric says about one prediction.

`value` counts in the mean; None does not count. `status` tells a wrong answer from one that could not be judged:

    ok         the answer was read and judged
    unparsed   the rule found no answer in the text (value 0)
    empty      there was no text, where some was expected (value 0)
    truncated  the text ends in the midst of the answer or of the thinking (value 0)
    error      the metric itself failed (value None), or the rule did (value 0); the reason is in `detail`
    timeout    judging took longer than allowed
    missing    there was no prediction (value None)

An outcome is frozen, so equal ones are shared: a million right answers are one object.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

STATUSES: Final = ("ok", "unparsed", "empty", "truncated", "error", "timeout", "missing")


class Outcome(Struct, frozen=True, gc=False):
    """One metric's judgement of one prediction: `value`, what was `extracted` from the text, `status`, `detail`."""

    value: float | None
    extracted: str | None = None
    status: str = "ok"
    detail: dict[str, Any] | None = None

    @property
    def parsed(self) -> bool:
        """Whether there was an answer to judge."""
        return self.status == "ok"


RIGHT: Final = Outcome(1.0)
WRONG: Final = Outcome(0.0)
EMPTY: Final = Outcome(0.0, status="empty")
MISSING: Final = Outcome(None, status="missing")
