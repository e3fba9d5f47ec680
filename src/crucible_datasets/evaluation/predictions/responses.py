"""Texts in the responses of chat models and pipelines."""

from __future__ import annotations

from collections.abc import Mapping
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
_SAID_IN = ("content", "text", "output_text", *TEXTS)
_AROUND = ("response", "body")  # in a line of a batch file: {"custom_id": …, "response": {"body": {"choices": …}}}


# Fields of the objects of clients: OpenAI's, Anthropic's, vLLM's.
_PARTS = ("choices", "outputs", "message", "content", "text", "output_text")
_PLAIN = (str, bytes, int, float, Mapping, type(None))


def as_mapping(given: Any) -> Any:
    """A response object, message or content part of a client library, as a mapping.

    >>> from types import SimpleNamespace as Reply
    >>> as_mapping(Reply(choices=[Reply(message=Reply(role="assistant", content="4"))]))
    {'choices': [{'message': {'content': '4'}}]}
    """
    if isinstance(given, list):
        return [as_mapping(one) for one in given]
    if isinstance(given, _PLAIN):
        return given
    parts = {name: as_mapping(getattr(given, name)) for name in _PARTS if hasattr(given, name)}
    if isinstance(outputs := parts.pop("outputs", None), list):
        parts["choices"] = outputs
    return parts or given


def said(given: Mapping[str, Any]) -> Any:
    """The text of a message or response of a chat model, one per choice; other mappings unchanged.

    >>> said({"choices": [{"message": {"role": "assistant", "content": "4"}}]}), said({"text": "4"})
    (['4'], '4')
    >>> said({"answer": "4", "confidence": 0.8})
    {'answer': '4', 'confidence': 0.8}
    """
    if "answer" in given:
        return given
    inner = given
    for name in _AROUND:
        inner = inner[name] if isinstance(inner.get(name), Mapping) else inner
    choices = inner.get("choices")
    if isinstance(choices, list) and choices and all(isinstance(one, Mapping) for one in choices):
        texts = [_text(one, one) for one in choices]
        return given if any(isinstance(text, Mapping) for text in texts) else texts
    return _text(inner, given)


def _text(turn: Mapping[str, Any], otherwise: Any) -> Any:
    """The text of a message; None if it has none, as a tool call."""
    message = turn["message"] if isinstance(turn.get("message"), Mapping) else turn
    found = [_words(message[name]) for name in _SAID_IN if name in message]
    texts = [text for text in found if isinstance(text, str)]
    return texts[0] if texts else None if None in found else otherwise


def _words(content: Any) -> Any:
    """The text of a content, which may be a list of parts with thoughts and tool calls among them."""
    if not isinstance(content, list):
        return content
    texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else content
