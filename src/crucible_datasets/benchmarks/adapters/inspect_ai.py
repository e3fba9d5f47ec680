"""Samples of inspect_ai → samples, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from crucible_datasets.benchmarks.adapters.chat import picture
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.benchmarks.types.messages import Message, Part
from crucible_datasets.exceptions import InvalidRecordError

# Fields that only inspect_ai has are in the metadata, under this key.
_KEPT = "inspect"
_ONLY_THERE = ("sandbox", "files", "setup")


def is_inspect_sample(value: Any) -> bool:
    """Whether a value is a sample of inspect_ai. If inspect_ai is not imported, none can exist."""
    return type(value).__name__ == "Sample" and type(value).__module__.split(".")[0] == "inspect_ai"


def from_inspect(sample: Any, id: str | int | None = None) -> Sample:
    """The sample of an inspect_ai sample; `id` is used if it has none."""
    number = sample.id if sample.id is not None else id
    if number is None:
        raise InvalidRecordError("Sample", "the sample of inspect_ai has no id, and none was given")
    said = sample.input if isinstance(sample.input, str) else [_message(one) for one in sample.input]
    kept = sample.model_dump(include=set(_ONLY_THERE), exclude_none=True)
    metadata = {**(sample.metadata or {}), **({_KEPT: kept} if kept else {})}
    return Sample(number, said, sample.target, sample.choices, metadata)


def _message(message: Any) -> Message:
    calls = [_without_none(asdict(call)) for call in getattr(message, "tool_calls", None) or ()]
    said = message.content if isinstance(message.content, str) else [_part(part) for part in message.content]
    return Message(message.role, said, None, calls or None, getattr(message, "tool_call_id", None))


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _part(part: Any) -> Part:
    if part.type == "text":
        return Part("text", part.text)
    if part.type == "image":
        return Part("image", image=picture(part.image))
    raise InvalidRecordError("Part", f"a part of type {part.type!r} of inspect_ai has no place in a message")


def to_inspect(sample: Sample) -> Any:
    """The sample as one of inspect_ai."""
    from inspect_ai.dataset import Sample as InspectSample

    metadata = {key: value for key, value in sample.metadata.items() if key != _KEPT}
    kept = _without_none(sample.metadata.get(_KEPT) or {})
    if "sandbox" in kept:
        sandbox = _without_none(kept["sandbox"])
        kept["sandbox"] = (sandbox["type"], sandbox["config"]) if "config" in sandbox else sandbox["type"]
    said = sample.input if isinstance(sample.input, str) else [_inspect_message(one) for one in sample.input]
    return InspectSample(
        input=said,
        target=sample.target,
        choices=sample.choices,
        id=sample.id,
        metadata=metadata or None,
        **kept,
    )


def _inspect_message(message: Message) -> Any:
    from inspect_ai import model

    kinds = {
        "system": model.ChatMessageSystem,
        "user": model.ChatMessageUser,
        "assistant": model.ChatMessageAssistant,
        "tool": model.ChatMessageTool,
    }
    if message.role not in kinds:
        raise InvalidRecordError("Message", f"inspect_ai has no role {message.role!r}; it has {', '.join(kinds)}")
    content = message.content if isinstance(message.content, str) else [_inspect_part(one) for one in message.content]
    more = {"tool_calls": message.tool_calls, "tool_call_id": message.tool_call_id}
    return kinds[message.role](content=content, **_without_none(more))


def _inspect_part(part: Part) -> Any:
    from inspect_ai.model import ContentImage, ContentText

    return ContentText(text=part.text or "") if part.image is None else ContentImage(image=part.image.url)


def to_inspect_dataset(samples: Iterable[Sample], name: str | None = None) -> Any:
    """Samples as a dataset of inspect_ai, for its tasks."""
    from inspect_ai.dataset import MemoryDataset

    return MemoryDataset([to_inspect(sample) for sample in samples], name=name or getattr(samples, "name", None))
