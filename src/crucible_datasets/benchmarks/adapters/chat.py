"""Chats in all common formats → `Conversation`: ShareGPT, OpenAI, transcripts, pairs of prompt and response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.benchmarks.adapters.parts import content
from crucible_datasets.benchmarks.adapters.transcripts import from_transcript, is_transcript, role_of
from crucible_datasets.benchmarks.types.messages import Conversation, Message
from crucible_datasets.exceptions import InvalidRecordError

_LISTS = ("messages", "conversations", "conversation", "chat", "dialog", "contents")
_PROMPTS = ("prompt", "instruction", "question", "query")
_RESPONSES = ("response", "completion", "output", "answer")
_SHAREGPT = {"user": "human", "assistant": "gpt"}


def message(value: Any) -> Message:
    """One message: `role` and `content` (OpenAI), `from` and `value` (ShareGPT), or `role` and `parts` (Gemini)."""
    if type(value) is dict and len(value) == 2:  # the common case, several times faster than the rest
        role, said = value.get("role"), value.get("content")
        if type(said) is str and role in ("user", "assistant", "system"):
            return Message(role, said)
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise InvalidRecordError("Message", f"a message is a dict, not {type(value).__name__}: {value!r:.60}")
    role = _first(value, ("role", "from"), "who speaks")
    calls = value.get("tool_calls") or None
    # In OpenAI's format, a message with only tool calls has no content.
    said = (
        "" if calls and value.get("content") is None else _first(value, ("content", "value", "parts"), "what is said")
    )
    if not isinstance(role, str) or not isinstance(said, (str, list)):
        raise InvalidRecordError("Message", f"role {role!r:.40} and content {said!r:.40} are not a name and words")
    return Message(role_of(role), content(said), value.get("name"), calls, value.get("tool_call_id"))


def _first(value: Mapping[str, Any], keys: tuple[str, ...], meaning: str) -> Any:
    for key in keys:
        if value.get(key) is not None:
            return value[key]
    found = ", ".join(map(str, value)) or "nothing"
    raise InvalidRecordError("Message", f"{' or '.join(keys)} must say {meaning}; the message has {found}")


def conversation(value: Any, **metadata: Any) -> Conversation:
    """The conversation in a value of any common format.

    A list of messages (ShareGPT or OpenAI); a list of texts, alternating between user and assistant; a transcript; a
    dict with a list of messages, or with a prompt and a response. Any other text is a message of the user.
    """
    found = value if isinstance(value, Conversation) else Conversation(_messages(value))
    return found.replace(metadata={**found.metadata, **metadata}) if metadata else found


def _messages(value: Any) -> list[Message]:
    if type(value) is list and value and type(value[0]) is dict:
        return list(map(message, value))
    if isinstance(value, str):
        return from_transcript(value).messages if is_transcript(value) else [Message("user", value)]
    if isinstance(value, Message):
        return [value]
    if isinstance(value, Mapping):
        return _in_record(value)
    if isinstance(value, Iterable):
        items = list(value)
        return _in_turn(items) if items and all(isinstance(item, str) for item in items) else list(map(message, items))
    raise InvalidRecordError("Conversation", f"{type(value).__name__} has no known shape of a chat")


def _in_turn(texts: list[str]) -> list[Message]:
    return [Message(("user", "assistant")[place % 2], text) for place, text in enumerate(texts)]


def _in_record(record: Mapping[str, Any]) -> list[Message]:
    for key in _LISTS:
        if record.get(key) is not None:
            return _under(record, _messages(record[key]))
    prompt = next((record[key] for key in _PROMPTS if record.get(key) is not None), None)
    if prompt is None:
        found = ", ".join(map(str, record)) or "nothing"
        wanted = ", ".join((*_LISTS, *_PROMPTS))
        raise InvalidRecordError("Conversation", f"none of {wanted} is there; the record has {found}")
    response = next((record[key] for key in _RESPONSES if record.get(key) is not None), None)
    more = record.get("input") if "instruction" in record else None  # Alpaca: the input of the instruction
    return from_pair(f"{prompt}\n\n{more}" if more else prompt, response, record.get("system")).messages


def _under(record: Mapping[str, Any], messages: list[Message]) -> list[Message]:
    """The messages after the system prompt of the record, unless they have their own."""
    system = record.get("system") or record.get("system_prompt")
    if not isinstance(system, str) or any(message.role == "system" for message in messages):
        return messages
    return [Message("system", system), *messages]


def from_openai(messages: Iterable[Any]) -> Conversation:
    """The conversation in a list of `{"role", "content"}`, whose content may be parts."""
    return Conversation(list(map(message, messages)))


def from_sharegpt(turns: Iterable[Any]) -> Conversation:
    """The conversation in a list of `{"from", "value"}`."""
    return Conversation(list(map(message, turns)))


def from_pair(prompt: Any, response: str | None = None, system: str | None = None) -> Conversation:
    """The conversation of a prompt, which may be a list of messages, and a response."""
    said = [Message("user", prompt)] if isinstance(prompt, str) else _messages(prompt)
    first = [Message("system", system)] if system else []
    last = [] if response is None else [Message("assistant", response)]
    return Conversation([*first, *said, *last])


def to_sharegpt(conversation: Conversation) -> list[dict[str, str]]:
    """The messages as `{"from", "value"}`; the format has no images."""
    messages = conversation.messages
    return [{"from": _SHAREGPT.get(message.role, message.role), "value": message.text} for message in messages]
