"""Chats in all common formats → `Conversation`: ShareGPT, OpenAI, transcripts, pairs of prompt and response."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.benchmarks.types.messages import Conversation, Message, Part, Picture
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


_TEXTS = ("text", "input_text", "output_text")
_PICTURES = ("image", "image_url", "input_image")


def content(value: Any) -> str | list[Part]:
    """The content of a message: a text unchanged, a list as parts."""
    return value if isinstance(value, str) else [part(item) for item in value]


def part(value: Any) -> Part:
    """One part: a text, or a dict in the format of OpenAI, Anthropic, Gemini, or a chat dataset."""
    if isinstance(value, Part):
        return value
    if isinstance(value, str):
        return Part("text", value)
    if not isinstance(value, Mapping):
        raise InvalidRecordError("Part", f"a piece of a message is a text or a dict, not {type(value).__name__}")
    given = {key: item for key, item in value.items() if item is not None}
    kind = given.get("type") or ("text" if "text" in given else "image")
    if kind in _TEXTS:
        return Part("text", _needed(given, "text"))
    if kind in _PICTURES:
        return Part("image", image=_picture_in(given))
    raise InvalidRecordError("Part", f"type {kind!r} is not known; known are {', '.join((*_TEXTS, *_PICTURES))}")


def picture(value: Any) -> Picture:
    """An image from bytes, a path, a URL, a `data:` URL, a Pillow image, or a dict with one of them."""
    if isinstance(value, Picture):
        return value
    if isinstance(value, str):
        return _from_data_url(value) if value.startswith("data:") else Picture(path=value)
    if isinstance(value, Mapping):
        return _picture_in({key: item for key, item in value.items() if item is not None})
    from crucible_datasets.features import Image

    return Picture(**Image().encode_example(value))


def _picture_in(given: dict[str, Any]) -> Picture:
    if "bytes" in given:
        return Picture(given["bytes"], given.get("path"))
    for key in ("image", "image_url", "source", "inline_data", "file_data", "url", "path", "file_uri"):
        if key in given:
            return picture(given[key])
    for key in ("data", "base64"):
        if key in given:
            return Picture(_decoded(given[key]))
    raise InvalidRecordError("Part", f"no picture among {', '.join(given) or 'nothing'}")


def _from_data_url(url: str) -> Picture:
    head, comma, data = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise InvalidRecordError("Picture", f"{url[:40]!r} is not a data URL with base64")
    return Picture(_decoded(data))


def _decoded(data: str | bytes) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRecordError("Picture", f"the data is not base64: {error}") from error


def _needed(given: dict[str, Any], key: str) -> str:
    if not isinstance(given.get(key), str):
        raise InvalidRecordError("Part", f"a part of type {given.get('type', 'text')!r} needs `{key}`")
    return str(given[key])


ROLES = {
    "human": "user",
    "prompter": "user",
    "h": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "assistant": "assistant",
    "a": "assistant",
    "system": "system",
}
# A marker is at the beginning of a paragraph. Markers of one letter count only if the text begins with one, since an
# answer may have a paragraph that begins with "A:".
_MARKERS = (
    re.compile(r"(?:\A\s*|\r?\n\r?\n)(Human|Assistant|System):"),
    re.compile(r"(?:\A\s*|\r?\n\r?\n)([HA]):"),
    re.compile(r"(?:\A|\n?)<extra_id_[01]>(User|Assistant|System)\n"),
)
# If no paragraph begins with a marker, lines may.
_LINES = re.compile(r"(?:\A\s*|\n)(Human|Assistant|System):")
_ANSWERED = "\n<extra_id_1>Assistant\n"  # prompts of HelpSteer2 begin with the user's text, without a marker


def role_of(name: str) -> str:
    """The standard role of a speaker: system, user or assistant; unknown names are unchanged."""
    return ROLES.get(name.strip().lower(), name)


def from_transcript(text: str) -> Conversation:
    r"""The conversation in a transcript such as those of HH-RLHF.

    >>> from_transcript("\n\nHuman: Hi!\n\nAssistant: Hello.").last_message.content
    'Hello.'
    """
    text = f"<extra_id_1>User\n{text}" if _ANSWERED in text and not text.startswith("<extra_id_") else text
    marker = next((marker for marker in _MARKERS if marker.match(text)), None)
    if marker is None:
        reason = "a transcript begins with 'Human:' or 'Assistant:', or with 'H:' or 'A:'"
        raise InvalidRecordError("Conversation", f"{reason}; this one begins with {text[:40]!r}")
    _, *pieces = marker.split(text)
    if len(pieces) == 2 and _LINES.match(text):
        _, *pieces = _LINES.split(text)
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    return Conversation([Message(role_of(speaker), said.strip()) for speaker, said in pairs])


def is_transcript(text: str) -> bool:
    """Whether a text begins like a transcript."""
    return _ANSWERED in text or any(marker.match(text) for marker in _MARKERS)


def to_transcript(conversation: Conversation) -> str:
    """The conversation as one text, in the format of HH-RLHF."""
    names = {"user": "Human", "assistant": "Assistant", "system": "System"}
    said = ((names.get(message.role, message.role), message.text) for message in conversation.messages)
    return "".join(f"\n\n{name}: {text}" for name, text in said)
