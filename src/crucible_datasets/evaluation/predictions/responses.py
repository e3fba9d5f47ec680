"""What models returned: the texts in replies of APIs, clients and pipelines, and why there is none.

Known are the replies of OpenAI (chat, completions, responses, batches), Anthropic, Gemini, Bedrock, Cohere, Ollama,
vLLM, TGI and the pipelines of transformers, as dicts and as the objects of their clients.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TEXTS = (
    "prediction",
    "predictions",
    "predicted",
    "completion",
    "completions",
    "response",
    "responses",
    "output",
    "outputs",
    "generation",
    "generations",
    "generated_text",
    "model_output",
    "model_response",
    "model_answer",
    "predicted_answer",
    "pred",
    "preds",
)
_TEXT_FIELDS = ("content", "parts", "text", "output_text", *TEXTS)
_ENVELOPES = ("response", "body", "result")  # of a line of a batch: {"custom_id": …, "response": {"body": {…}}}
_CHOICES = ("choices", "candidates")
_FINISH_REASONS = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason", "reason")
_FINISH_FIELDS = ("details", "incomplete_details", "response_metadata")
_FEEDBACKS = ("promptFeedback", "prompt_feedback")
_BLOCKS = ("blockReason", "block_reason")
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
_REFUSALS = {
    *("refusal", "content_filter", "content_filtered", "guardrail_intervened", "safety", "image_safety", "spii"),
    *("prohibited_content", "blocklist", "recitation"),
}
_BROKEN_OFF = {"error", "failed", "abort", "aborted", "cancelled", "timeout"}
# Of the parts of a content: a list of these is one answer.
_PARTS = {
    *("text", "output_text", "thinking", "redacted_thinking", "reasoning", "refusal", "tool_use", "server_tool_use"),
    *("message", "function_call"),
}
_PARTS_OF_GEMINI = {"thought", "functionCall", "function_call"}
# Of the objects of clients, all that is looked at.
_FIELDS = (
    *(*_CHOICES, "outputs", "output", "message", *_TEXT_FIELDS, *_ENVELOPES, *_FINISH_REASONS, *_FINISH_FIELDS),
    *(*_FEEDBACKS, *_BLOCKS, "type", "thought", "refusal", "error", "status_code"),
)
_OF_NO_REPLY = {"type", "reason", "body", "result", "details", *_BLOCKS}  # these alone make no reply or message
_PLAIN = (str, bytes, int, float, type(None))


@dataclass(frozen=True)
class Failure:
    """Takes the place of an answer that cannot be scored: its status, the reason, and what there is of its text."""

    status: str
    reason: str
    text: str | None = None

    @property
    def is_reply(self) -> bool:
        """Whether the model has answered: asked again, it would do the same."""
        return self.status in ("refused", "truncated")

    @property
    def is_outage(self) -> bool:
        """Whether the failure says nothing about the model."""
        return self.status in ("error", "timeout")


def as_mapping(value: Any) -> Any:
    """A response object, message or content part of a client library, as a mapping.

    >>> from types import SimpleNamespace as Reply
    >>> as_mapping(Reply(choices=[Reply(message=Reply(role="assistant", content="4"))]))
    {'choices': [{'message': {'content': '4'}}]}
    """
    if isinstance(value, tuple):
        return value[0] if _has_logprob(value) else [as_mapping(item) for item in value]
    if isinstance(value, list):
        return [as_mapping(item) for item in value]
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, _PLAIN):
        return value
    if not isinstance(value, Mapping):
        fields = _dumped(value)
        if fields is None:
            fields = _attributes(value)
            return fields if fields.keys() - _OF_NO_REPLY else value
        value = fields
    return {name: _within(item) if name in _FIELDS else item for name, item in value.items()}


def _dumped(value: Any) -> dict[str, Any] | None:
    """The fields of a pydantic object, as those of most clients are; None for other objects."""
    if isinstance(value, type) or not hasattr(type(value), "model_dump"):
        return None
    try:
        fields = value.model_dump(warnings=False)  # clients build replies without checking them
    except Exception:  # noqa: BLE001 - of a class of its own, or with fields that nothing can dump
        return None
    return fields if isinstance(fields, dict) else None


def _attributes(value: Any) -> dict[str, Any]:
    """The fields of an object that replies have, and what is within them."""
    found = {name: _attribute(value, name) for name in _FIELDS}
    fields = {name: _within(item) for name, item in found.items() if item is not None}
    fields = {name: item for name, item in fields.items() if isinstance(item, (*_PLAIN, Mapping, list))}
    fields |= {name: None for name in _CHOICES if found[name] is None and name in getattr(value, "__dict__", ())}
    if isinstance(outputs := fields.pop("outputs", None), list):
        fields["choices"] = outputs
    return fields


def _within(item: Any) -> Any:
    """A field of a reply as plain values; of an object in it, whatever fields replies have."""
    fields = as_mapping(item)
    return fields if isinstance(fields, (*_PLAIN, Mapping, list)) else _attributes(item) or item


def _has_logprob(value: tuple[Any, ...]) -> bool:
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], (int, float))


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property of a client that raises, as `text` of a blocked reply does
        return None


def said(value: Mapping[str, Any]) -> Any:
    """The text of a message or response of a chat model, one per choice; other mappings unchanged.

    >>> said({"choices": [{"message": {"role": "assistant", "content": "4"}}]}), said({"text": "4"})
    (['4'], '4')
    >>> said({"answer": "4", "confidence": 0.8})
    {'answer': '4', 'confidence': 0.8}
    >>> said({"content": [{"type": "tool_use", "name": "add", "input": {}}], "stop_reason": "tool_use"})
    Failure(status='missing', reason='the reply holds no text: tool_use', text=None)
    >>> said({"error": {"message": "slow down", "code": 429}})
    Failure(status='error', reason='slow down', text=None)
    """
    if "answer" in value:
        return value
    reply = value
    while True:
        if (failure := _outage(reply)) is not None:
            return failure
        inner = next((reply[name] for name in _ENVELOPES if isinstance(reply.get(name), Mapping)), None)
        if inner is None:
            break
        reply = inner
    choices = next((reply[name] for name in _CHOICES if name in reply), ...)
    if choices is ...:
        is_known = _is_reply(reply) or any(name in reply for name in _FEEDBACKS)
        return _reading(reply) if is_known else value
    turns = [choice for choice in (choices if isinstance(choices, list) else ()) if isinstance(choice, Mapping)]
    if not turns:
        blocked = _blocked(reply)
        status = "refused" if blocked else "missing"
        return Failure(status, f"the reply holds no answer{f': {blocked}' if blocked else ''}")
    return [_reading(turn) for turn in turns]


def is_content(values: list[Any]) -> bool:
    """Whether a list is the content of one message, in parts, rather than several answers."""
    parts = [value for value in values if isinstance(value, Mapping)]
    if not parts or len(parts) < len(values):
        return False
    return all(part.get("type") in _PARTS for part in parts) or any(part.keys() & _PARTS_OF_GEMINI for part in parts)


def are_numbers_by_name(value: Mapping[str, Any]) -> bool:
    """Whether a mapping is a confidence, or numbers such as two rewards or the probabilities of classes."""
    numbers = [isinstance(item, (int, float, type(None))) for item in value.values()]
    return "confidence" in value or (bool(numbers) and all(numbers))


def unfamiliar(value: Mapping[str, Any]) -> Failure:
    """The failure for a mapping that is neither a reply of a known form nor a prediction."""
    names = ", ".join(map(repr, value)) or "no field"
    return Failure("error", f"a reply of an unknown form, with {names}: return its text")


def _outage(reply: Mapping[str, Any]) -> Failure | None:
    """The failure that an error body describes."""
    error, status = reply.get("error"), reply.get("status_code")
    if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    if error and isinstance(error, (Mapping, str)):
        return Failure("error", str(error if isinstance(error, str) else error.get("message") or dict(error)))
    if isinstance(status, int) and status >= 400:
        return Failure("error", f"status {status}")
    return None


def _is_reply(reply: Mapping[str, Any]) -> bool:
    message = _message(reply)
    return any(name in message for name in ("refusal", *_TEXT_FIELDS))


def _message(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in ("output", "message", "content"):
        if isinstance(turn.get(name), Mapping):
            turn = turn[name]
    return turn


def _reading(turn: Mapping[str, Any]) -> str | Failure | Any:
    """The text of a choice or message, or why there is none."""
    message, finish = _message(turn), _finish(turn)
    contents = [message[name] for name in _TEXT_FIELDS if name in message]
    texts = [text for content in contents if isinstance(text := _text(content), str)]
    refusal = _refusal(message, contents)
    if refusal is not None and not any(texts):
        return Failure("refused", refusal, refusal)
    if blocked := _blocked(turn):
        return Failure("refused", f"the prompt was blocked: {blocked}")
    if finish in _BROKEN_OFF:
        return Failure("error", f"the reply ended by {finish}", texts[0] if texts else None)
    if finish in _REFUSALS:
        return Failure("refused", f"the reply ended by {finish}", texts[0] if texts else None)
    if finish in _CUT_OFF:
        return Failure("truncated", f"the reply ended by {finish}", texts[0] if texts else None)
    if texts:
        return texts[0]
    others = [content for content in contents if content is not None and not isinstance(content, (list, Mapping))]
    if others:  # a number, say
        return others[0]
    kinds = dict.fromkeys(str(part.get("type")) for content in contents for part in _parts(content) if "type" in part)
    return Failure("missing", f"the reply holds no text{': ' + ', '.join(kinds) if kinds else ''}")


def _blocked(reply: Mapping[str, Any]) -> str:
    """Why a prompt was not answered, in lower case."""
    feedbacks = [reply[name] for name in _FEEDBACKS if isinstance(reply.get(name), Mapping)]
    reasons = [feedback[name] for feedback in feedbacks for name in _BLOCKS if isinstance(feedback.get(name), str)]
    return reasons[0].lower() if reasons else ""


def _finish(turn: Mapping[str, Any]) -> str:
    """Why a reply ended, in lower case."""
    inner = [turn[name] for name in _FINISH_FIELDS if isinstance(turn.get(name), Mapping)]
    reasons = [fields[name] for fields in (turn, *inner) for name in _FINISH_REASONS if name in fields]
    return next((reason.lower() for reason in reasons if isinstance(reason, str)), "")


def _refusal(message: Mapping[str, Any], contents: list[Any]) -> str | None:
    refusals = [message.get("refusal"), *(part.get("refusal") for content in contents for part in _parts(content))]
    return next((refusal for refusal in refusals if isinstance(refusal, str) and refusal), None)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """The parts of a content, with those of the messages in it."""
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    return [inner for part in parts for inner in [part, *_parts(part.get("content"))]]


def _text(content: Any) -> Any:
    """The text of a content: of its parts without thoughts and tool calls, or of the last message in it."""
    if not isinstance(content, list):
        return content
    messages = [part for part in content if isinstance(part, Mapping) and "content" in part]
    if messages:
        return _text(messages[-1]["content"])
    parts = [part for part in _parts(content) if not part.get("thought")]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None
