"""Messages in the formats of the providers of chat models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from crucible_datasets.benchmarks.types.messages import Message, Part, Picture
from crucible_datasets.exceptions import InvalidRecordError

Json = dict[str, Any]


def to_openai(messages: Sequence[Message]) -> list[Json]:
    """`[{"role", "content"}]`; images are `image_url` parts."""
    return [_openai_message(message) for message in messages]


def _openai_message(message: Message) -> Json:
    content = message.content if isinstance(message.content, str) else [_openai_part(part) for part in message.content]
    more = {name: getattr(message, name) for name in ("name", "tool_calls", "tool_call_id")}
    return {
        "role": message.role,
        "content": content,
        **{name: value for name, value in more.items() if value is not None},
    }


def _openai_part(part: Part) -> Json:
    if part.image is None:
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": _sent(part.image).url}}


def to_anthropic(messages: Sequence[Message]) -> Json:
    """`{"system", "messages"}`: the system prompt is separate; tool results are messages of the user."""
    turns = [message for message in messages if message.role != "system"]
    return {**_system(messages, "system", lambda text: text), "messages": list(map(_anthropic_message, turns))}


def _anthropic_message(message: Message) -> Json:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.text}
        return {"role": "user", "content": [result]}
    _refuse_other_roles(message, "anthropic")
    if isinstance(message.content, str) and not message.tool_calls:
        return {"role": message.role, "content": message.content}
    blocks = [_anthropic_part(part) for part in _parts(message)]
    return {"role": message.role, "content": blocks + [_tool_use(call) for call in message.tool_calls or ()]}


def _anthropic_part(part: Part) -> Json:
    if part.image is None:
        return {"type": "text", "text": part.text}
    picture = _sent(part.image)
    if picture.bytes is None:
        return {"type": "image", "source": {"type": "url", "url": picture.url}}
    source = {"type": "base64", "media_type": picture.mime_type, "data": picture.base64}
    return {"type": "image", "source": source}


def _tool_use(call: Json) -> Json:
    name, arguments = _called(call)
    return {"type": "tool_use", "id": call.get("id"), "name": name, "input": arguments}


def to_gemini(messages: Sequence[Message]) -> Json:
    """`{"system_instruction", "contents"}`: the assistant has the role `model`, and all content is parts."""
    turns = [message for message in messages if message.role != "system"]
    system = _system(messages, "system_instruction", lambda text: {"parts": [{"text": text}]})
    return {**system, "contents": list(map(_gemini_message, turns))}


def _gemini_message(message: Message) -> Json:
    if message.role == "tool":
        answer = {"name": message.name or message.tool_call_id, "response": {"result": message.text}}
        return {"role": "user", "parts": [{"function_response": answer}]}
    _refuse_other_roles(message, "gemini")
    parts = [_gemini_part(part) for part in _parts(message)]
    calls = [dict(zip(("name", "args"), _called(call), strict=True)) for call in message.tool_calls or ()]
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [*parts, *({"function_call": call} for call in calls)]}


def _gemini_part(part: Part) -> Json:
    if part.image is None:
        return {"text": part.text}
    picture = _sent(part.image)
    if picture.bytes is None:
        return {"file_data": {"file_uri": picture.url}}
    return {"inline_data": {"mime_type": picture.mime_type, "data": picture.base64}}


def _system(messages: Sequence[Message], key: str, form: Callable[[str], Any]) -> Json:
    prompts = [message.text for message in messages if message.role == "system"]
    return {key: form("\n\n".join(prompts))} if prompts else {}


def _parts(message: Message) -> list[Part]:
    if not isinstance(message.content, str):
        return message.content
    return [Part("text", message.content)] if message.content else []


def _called(call: Json) -> tuple[str, Any]:
    """The name and the arguments of a tool call in the formats of OpenAI and inspect_ai."""
    function = call.get("function")
    if isinstance(function, dict):
        arguments = function.get("arguments") or {}
        return function["name"], json.loads(arguments) if isinstance(arguments, str) else arguments
    return str(function or call.get("name")), call.get("arguments") or {}


def _refuse_other_roles(message: Message, provider: str) -> None:
    if message.role not in ("user", "assistant"):
        raise InvalidRecordError("Message", f"{provider} has no role {message.role!r}; it has user and assistant")


def _sent(picture: Picture) -> Picture:
    """The image, if it can be sent; local files that a dataset names are never read."""
    if picture.bytes is None and not picture.url.startswith(("https://", "http://", "gs://")):
        reason = f"{picture.path!r} is neither bytes nor a URL; read the file into `bytes` to send it"
        raise InvalidRecordError("Picture", reason)
    return picture


PROVIDERS: dict[str, Callable[[Sequence[Message]], Any]] = {
    "openai": to_openai,
    "anthropic": to_anthropic,
    "gemini": to_gemini,
}
