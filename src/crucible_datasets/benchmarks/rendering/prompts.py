"""`Prompt`: from sample to prompt, as messages or as one text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from crucible_datasets.benchmarks.rendering.examples import FewShot
from crucible_datasets.benchmarks.rendering.layouts import Layout
from crucible_datasets.benchmarks.rendering.providers import PROVIDERS
from crucible_datasets.benchmarks.rendering.templates import Template
from crucible_datasets.benchmarks.types import Message, Part, Sample
from crucible_datasets.exceptions import InvalidRecordError, UnknownEntryError
from crucible_datasets.forking import cached_property

_PLAIN = "{input}"
_CHOICES = "{input}\n\n{choices}"


@dataclass(frozen=True)
class Prompt:
    """A template for the question, one for the answers of examples, and a system prompt.

    The default is the input, followed by its choices if it has any. If the input is several messages, the template
    applies to the last one of the user, and `system` replaces the system prompt. Examples are messages of user and
    assistant (`style="turns"`), or part of the message of the question (`style="text"`), separated by `between`, with
    `before_answer` before their answers.
    """

    template: str | None = None
    answer: str = "{target}"
    system: str | None = None
    examples: FewShot | None = None
    layout: Layout = "A."
    style: Literal["turns", "text"] = "turns"
    between: str = "\n\n"
    before_answer: str = "\n"

    def messages(self, sample: Sample) -> list[Message]:
        """The messages for a chat model."""
        first = [Message("system", self.system)] if self.system is not None else []
        if self.style == "text":
            return [*first, Message("user", self._with_examples(sample))]
        own = self._input_messages(sample)
        own_system = [message for message in own if message.role == "system"]
        return [*(first or own_system), *self._turns(sample), *(message for message in own if message.role != "system")]

    def text(self, sample: Sample) -> str:
        """One text, for a completion model."""
        system = [] if self.system is None else [self.system]
        return self.between.join([*system, self._with_examples(sample)])

    def request(self, sample: Sample, provider: str = "openai") -> Any:
        """The messages in the format of a provider: openai, anthropic or gemini."""
        if provider not in PROVIDERS:
            raise UnknownEntryError("provider", provider, PROVIDERS)
        return PROVIDERS[provider](self.messages(sample))

    def _turns(self, sample: Sample) -> list[Message]:
        examples = self.examples.examples(sample) if self.examples else []
        return [
            message
            for example in examples
            for message in (*self._input_messages(example), Message("assistant", self._answer.text(example)))
            if message.role != "system"
        ]

    def _with_examples(self, sample: Sample) -> str:
        examples = self.examples.examples(sample) if self.examples else []
        solved = [f"{self._question(example)}{self.before_answer}{self._answer.text(example)}" for example in examples]
        return self.between.join([*solved, self._question(sample)])

    def _question(self, sample: Sample) -> str:
        if any(message.images for message in sample.messages):
            raise InvalidRecordError(
                "Prompt", f"sample {sample.id!r} has pictures, which no text can hold; use messages"
            )
        return self._template(sample).text(sample)

    def _input_messages(self, sample: Sample) -> list[Message]:
        if isinstance(sample.input, str):
            return [Message("user", self._question(sample))]
        last = max((place for place, one in enumerate(sample.input) if one.role == "user"), default=None)
        if last is None or self._template(sample).pattern == _PLAIN:
            return sample.input
        return [*sample.input[:last], self._changed(sample.input[last], sample), *sample.input[last + 1 :]]

    def _changed(self, message: Message, sample: Sample) -> Message:
        text = self._template(sample).text(sample, input=message.text)
        if isinstance(message.content, str):
            return message.replace(content=text)
        pictures = [part for part in message.content if part.image is not None]
        return message.replace(content=[*pictures, Part("text", text)])

    def _template(self, sample: Sample) -> Template:
        return self._given or Template(_CHOICES if sample.choices else _PLAIN, self.layout)

    @cached_property
    def _given(self) -> Template | None:
        return None if self.template is None else Template(self.template, self.layout)

    @cached_property
    def _answer(self) -> Template:
        return Template(self.answer, self.layout)
