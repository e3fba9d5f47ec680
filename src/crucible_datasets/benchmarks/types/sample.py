"""One question of a dataset, and the rubric for its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from crucible_datasets.benchmarks.types.messages import Message, Record


class Rubric(Record, frozen=True):
    """Criteria for responses, and the meaning of each score."""

    criteria: str
    scores: dict[int, str] = msgspec.field(default_factory=dict)
    reference_answer: str | None = None

    @property
    def range(self) -> tuple[int, int] | None:
        """The lowest and the highest score."""
        return (min(self.scores), max(self.scores)) if self.scores else None


class Sample(Record, frozen=True):
    """One question of a benchmark: input, target, choices and metadata."""

    id: str | int
    input: str | list[Message]
    target: str | list[str] = ""
    choices: list[str] | None = None
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        given: Any = self  # the constructor does not check types
        if not given.input:
            self._refuse("the input is empty")
        if not isinstance(given.id, (str, int)):
            self._refuse(f"`id` is a text or a number, not {given.id!r:.60}")
        if not isinstance(given.input, (str, list)):
            self._refuse(f"`input` is a text or messages, not {given.input!r:.60}")
        if not isinstance(given.target, (str, list)):
            self._refuse(f"`target` is a text or a list of texts, not {given.target!r:.60}")

    @property
    def input_text(self) -> str:
        """The text of the input; several messages are joined by empty lines."""
        return self.input if isinstance(self.input, str) else "\n\n".join(message.text for message in self.input)

    @property
    def messages(self) -> list[Message]:
        """The input as messages; a text is a message of the user."""
        return [Message("user", self.input)] if isinstance(self.input, str) else self.input

    @property
    def rubric(self) -> Rubric | None:
        """The rubric in the metadata, if there is one."""
        found = self.metadata.get("rubric")
        return found if found is None or isinstance(found, Rubric) else Rubric.from_dict(found)

    @property
    def targets(self) -> list[str]:
        """The correct answers as a list."""
        return [self.target] if isinstance(self.target, str) else self.target
