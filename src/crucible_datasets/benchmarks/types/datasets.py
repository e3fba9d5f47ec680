"""Typed records → a dataset with their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.types import Comparison, Message, Part, Record
from crucible_datasets.benchmarks.types.schemas import features_of, plain
from crucible_datasets.exceptions import ArgumentTypeError

_MORE = ("name", "tool_calls", "tool_call_id")


def dataset_of(records: Iterable[Record]) -> Dataset:
    """A dataset of records of one type, such as `benchmark.comparisons()`; their `from_dict` reads its rows again.

    Prompts and responses that are texts become messages, so that all rows have the columns of `features_of`.
    """
    listed = [_in_messages(record) for record in records]
    kinds = {type(record) for record in listed}
    if len(kinds) != 1:
        raise ArgumentTypeError("records", sorted(kind.__name__ for kind in kinds), "give records of one type.")
    messages = [message for record in listed for message in _messages(record)]
    parts = any(not isinstance(message.content, str) for message in messages)
    if parts:
        listed = [_in_parts(record) for record in listed]
    # The schema has no columns for tool calls and names, so with those, types are inferred.
    has_plain_messages = not any(getattr(message, name) is not None for message in messages for name in _MORE)
    features = features_of(kinds.pop(), parts) if has_plain_messages else None
    return Dataset.from_list([plain(record) for record in listed], features=features, on_mixed_types="use_json")


def _in_messages(record: Any) -> Any:
    if isinstance(record, Comparison):
        return record.replace(
            prompt=_said(record.prompt, "user"),
            response_a=_said(record.response_a, "assistant"),
            response_b=_said(record.response_b, "assistant"),
        )
    inside = getattr(record, "comparison", None)
    return record if inside is None else record.replace(comparison=_in_messages(inside))


def _said(words: str | list[Message], role: str) -> list[Message]:
    return [Message(role, words)] if isinstance(words, str) else words


def _messages(value: Any) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
    elif isinstance(value, Record):
        for name in value.__struct_fields__:
            if name != "metadata":
                yield from _messages(getattr(value, name))
    elif isinstance(value, list):
        for one in value:
            yield from _messages(one)


def _in_parts(value: Any) -> Any:
    """The same with the content of every message as a part."""
    if isinstance(value, Message):
        return value if isinstance(value.content, list) else value.replace(content=[Part("text", value.content)])
    if isinstance(value, Record):
        names = [name for name in value.__struct_fields__ if name != "metadata"]
        return value.replace(**{name: _in_parts(getattr(value, name)) for name in names})
    return [_in_parts(one) for one in value] if isinstance(value, list) else value
