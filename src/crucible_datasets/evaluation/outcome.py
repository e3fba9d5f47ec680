"""`Outcome`: the result of one metric for one prediction.

`value` counts in the mean; None does not count. `status` distinguishes wrong answers from those that could not be
scored:

    ok         the answer was read and judged
    unparsed   the rule found no answer in the text (value 0)
    empty      the text was empty (value 0)
    truncated  the text ends within the answer or the thinking, or at the limit of tokens (value 0)
    refused    the model or a filter declined to answer (value 0)
    error      the model or the metric failed (value None), or the rule (value 0); the reason is in `detail`
    timeout    the model (value None), or scoring, took longer than allowed
    missing    there was no prediction (value None)

Outcomes are frozen, so equal ones are shared: a million correct answers are one object.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

STATUSES: Final = ("ok", "unparsed", "empty", "truncated", "refused", "error", "timeout", "missing")


class Outcome(Struct, frozen=True, gc=False):
    """The result of one metric for one prediction: `value`, the `extracted` answer, `status`, `detail`."""

    value: float | None
    extracted: str | None = None
    status: str = "ok"
    detail: dict[str, Any] | None = None

    @property
    def parsed(self) -> bool:
        """Whether there was an answer to score."""
        return self.status == "ok"

    @property
    def failed(self) -> bool:
        """Whether there is no verdict because of an outage: of the model, the metric or a judge."""
        return self.value is None and self.status in ("error", "timeout")


RIGHT: Final = Outcome(1.0)
WRONG: Final = Outcome(0.0)
EMPTY: Final = Outcome(0.0, status="empty")
MISSING: Final = Outcome(None, status="missing")
