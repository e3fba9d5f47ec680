"""Two responses to one prompt, and which of them is better."""

from __future__ import annotations

from typing import Any, Literal, Self

import msgspec

from crucible_datasets.benchmarks.types.messages import Conversation, Message, Record
from crucible_datasets.exceptions import UnknownEntryError

Words = str | list[Message]
Side = Literal["a", "b", "tie"]

LABELS: dict[str, Side] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "chosen": "a",
    "rejected": "b",
    "model_a": "a",
    "model_b": "b",
    "response_a": "a",
    "response_b": "b",
    "both_bad": "tie",
    "both_good": "tie",
    "tie (bothbad)": "tie",
}
_SCORES: dict[str, float] = {"a": 1.0, "b": 0.0, "tie": 0.5}
_OTHER: dict[Side, Side] = {"a": "b", "b": "a", "tie": "tie"}


class Comparison(Record, frozen=True):
    """A prompt and two responses to it, each a text or messages."""

    prompt: Words
    response_a: Words
    response_b: Words
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def conversation_a(self) -> Conversation:
        """The prompt and the first response."""
        return Conversation([*_messages(self.prompt, "user"), *_messages(self.response_a, "assistant")])

    @property
    def conversation_b(self) -> Conversation:
        """The prompt and the second response."""
        return Conversation([*_messages(self.prompt, "user"), *_messages(self.response_b, "assistant")])

    def swapped(self) -> Comparison:
        """The same with the responses in the other order."""
        return self.replace(response_a=self.response_b, response_b=self.response_a)


class LabeledComparison(Record, frozen=True):
    """A comparison, and which response is preferred, by how much."""

    comparison: Comparison
    preferred: Side
    margin: float | None = None

    def __post_init__(self) -> None:
        if self.preferred not in _SCORES:
            self._refuse(f"`preferred` is 'a', 'b' or 'tie', not {self.preferred!r}")
        if self.margin is not None and (not self.margin >= 0 or (self.preferred == "tie" and self.margin)):
            self._refuse(f"`margin` says how much better the preferred one is, and a tie has none: {self.margin}")

    @classmethod
    def from_label(cls, comparison: Comparison, label: str, margin: float | None = None) -> Self:
        """From any common label, case-insensitive: a, b, tie, chosen, rejected, model_a, model_b, both_bad."""
        word = str(label).strip().lower()
        if word not in LABELS:
            raise UnknownEntryError("label", label, LABELS)
        return cls(comparison, LABELS[word], margin)

    @classmethod
    def from_margin(cls, comparison: Comparison, margin: float) -> Self:
        """From a signed margin: positive if `a` is better, negative if `b` is better, 0 for a tie."""
        return cls(comparison, "a" if margin > 0 else "b" if margin < 0 else "tie", float(abs(margin)))

    @property
    def is_tie(self) -> bool:
        """Whether neither is preferred."""
        return self.preferred == "tie"

    @property
    def signed_margin(self) -> float | None:
        """By how much `a` is better than `b`; None if unknown."""
        return (
            0.0 if self.is_tie else None if self.margin is None else self.margin * (1 if self.preferred == "a" else -1)
        )

    def is_preferred(self, side: str) -> bool:
        """Whether this side, given by any label, is the preferred one."""
        return LABELS.get(side.strip().lower()) == self.preferred

    def to_score(self) -> float:
        """1.0 when `a` is preferred, 0.0 when `b` is, 0.5 for a tie."""
        return _SCORES[self.preferred]

    def swapped(self) -> LabeledComparison:
        """The same judgement with the responses in the other order."""
        return self.replace(comparison=self.comparison.swapped(), preferred=_OTHER[self.preferred])

    @property
    def chosen(self) -> Words | None:
        """The preferred response; None for a tie."""
        return {"a": self.comparison.response_a, "b": self.comparison.response_b}.get(self.preferred)

    @property
    def rejected(self) -> Words | None:
        """The response that is not preferred; None for a tie."""
        return {"b": self.comparison.response_a, "a": self.comparison.response_b}.get(self.preferred)


def _messages(words: Words, role: str) -> list[Message]:
    return [Message(role, words)] if isinstance(words, str) else words
