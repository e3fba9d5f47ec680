"""The types as columns: features, Arrow schemas, JSON Schemas."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from crucible_datasets.benchmarks.types import (
    Comparison,
    Conversation,
    LabeledComparison,
    Message,
    Part,
    Picture,
    Record,
    Rubric,
    Sample,
)
from crucible_datasets.features import Features, Image, Json, List, Value

_TEXT = Value("string")
_PART = {"type": _TEXT, "text": _TEXT, "image": Image()}


def message_features(parts: bool = False) -> dict[str, Any]:
    """The columns of a message, with text or with parts."""
    return {"role": _TEXT, "content": List(_PART) if parts else _TEXT}


def sample_features(
    *,
    id: Any = None,
    messages: bool = False,
    parts: bool = False,
    targets: bool = False,
    metadata: Any = None,
) -> Features:
    """The columns of samples whose input is a text, or messages, or messages in parts.

    `targets` is for samples with several correct answers; `metadata` has the types of metadata.
    """
    input_type = List(message_features(parts)) if messages or parts else _TEXT
    return Features(
        {
            "id": id or _TEXT,
            "input": input_type,
            "target": List(_TEXT) if targets else _TEXT,
            "choices": List(_TEXT),
            "metadata": dict(metadata) if metadata else Json(),
        }
    )


def features_of(kind: type[Record], parts: bool = False) -> Features:
    """The columns of any of the types; messages have text unless `parts` is true."""
    message_type = List(message_features(parts))
    compared = {"prompt": message_type, "response_a": message_type, "response_b": message_type, "metadata": Json()}
    known: dict[type[Record], dict[str, Any]] = {
        Picture: {"bytes": Value("binary"), "path": _TEXT},
        Part: _PART,
        Message: message_features(parts),
        Conversation: {"messages": message_type, "metadata": Json()},
        Comparison: compared,
        LabeledComparison: {"comparison": compared, "preferred": _TEXT, "margin": Value("float64")},
        Rubric: {"criteria": _TEXT, "scores": Json(), "reference_answer": _TEXT},
        Sample: sample_features(parts=parts, messages=True),
    }
    return Features(known[kind])


def arrow_schema(kind: type[Record], parts: bool = False) -> pa.Schema:
    """The Arrow schema of any of the types."""
    return features_of(kind, parts).arrow_schema


def row_of(sample: Sample) -> dict[str, Any]:
    """The five columns of a sample."""
    given = sample.input if isinstance(sample.input, str) else [message_row(message) for message in sample.input]
    return {
        "id": sample.id,
        "input": given,
        "target": sample.target,
        "choices": sample.choices,
        "metadata": plain(sample.metadata),
    }


def message_row(message: Message) -> dict[str, Any]:
    """A message as a dict: role, content, and other fields if present."""
    row: dict[str, Any] = {"role": message.role, "content": message.content}
    if not isinstance(message.content, str):
        row["content"] = [_part_row(part) for part in message.content]
    for name in ("name", "tool_calls", "tool_call_id"):
        if (value := getattr(message, name)) is not None:
            row[name] = value
    return row


def _part_row(part: Part) -> dict[str, Any]:
    picture = part.image
    image = None if picture is None else {"bytes": picture.bytes, "path": picture.path}
    return {"type": part.type, "text": part.text, "image": image}


def plain(value: Any) -> Any:
    """The value with typed records in it as dicts."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Message):
        return message_row(value)
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
