"""Samples as conversations and comparisons."""

from __future__ import annotations

from typing import Any

import msgspec

from crucible_datasets.benchmarks.types import Comparison, Conversation, LabeledComparison, Message, Sample
from crucible_datasets.exceptions import DatasetsError, InvalidRecordError

_LABELS = {"A": "a", "B": "b", "0": "a", "1": "b"}


def conversation_of(sample: Sample) -> Conversation:
    """The messages of the input, and the first target as the answer to them."""
    answer = next(iter(sample.targets), "")
    said = [Message("assistant", answer)] if answer else []
    return Conversation([*sample.messages, *said], sample.metadata)


def comparison_of(sample: Sample, name: str) -> LabeledComparison:
    """The two choices of a sample as responses, and the one that its target names.

    `metadata.conversation_a` and `conversation_b`, if present, have all messages, of which the choices are the last
    ones; `metadata.margin` is the margin of the preference.
    """
    try:
        return _compared(sample)
    except (DatasetsError, msgspec.ValidationError) as error:
        raise InvalidRecordError(f"{name}, sample {sample.id!r}", f"not a comparison: {error}") from error


def _compared(sample: Sample) -> LabeledComparison:
    if sample.choices is None or len(sample.choices) != 2 or not isinstance(sample.target, str):
        raise InvalidRecordError("Sample", "a comparison has two choices and one target: A, B or tie")
    first, second = sample.choices
    known = [_messages(sample.metadata.get(key)) for key in ("conversation_a", "conversation_b")]
    if known[0] and known[1] and known[0][-1].text == second != known[1][-1].text:
        known.reverse()  # the choices have been swapped
    comparison = Comparison(
        sample.input, _response(sample, first, known[0]), _response(sample, second, known[1]), sample.metadata
    )
    margin = sample.metadata.get("margin")
    label = _LABELS.get(sample.target, sample.target)
    return LabeledComparison.from_label(comparison, label, None if margin is None else abs(float(margin)))


def _messages(value: Any) -> list[Message] | None:
    return None if value is None else msgspec.convert(value, list[Message])


def _response(sample: Sample, text: str, messages: list[Message] | None) -> str | list[Message]:
    """The messages after the prompt if there are several, else the text."""
    prompt = sample.messages
    if (
        messages is None
        or messages[: len(prompt)] != prompt
        or messages[-1].text != text
        or len(messages) == len(prompt) + 1
    ):
        return text
    return messages[len(prompt) :]
