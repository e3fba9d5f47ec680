"""What a model said, out of the shapes in which chat models and pipelines answer."""

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
_AROUND = ("response", "body")  # of a line of a batch: {"custom_id": …, "response": {"body": {"choices": …}}}


# Of what clients give: OpenAI's, Anthropic's, vLLM's.
_PARTS = ("choices", "outputs", "message", "content", "text", "output_text")
_PLAIN = (str, bytes, int, float, Mapping, type(None))


def as_mapping(given: Any) -> Any:
    """An object that a client gives for a reply, a message or a part of one as the mapping it stands for.

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
    """The text of a message or of a reply of a chat model, one for each of its choices; else the mapping as it is.

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
    """The words of a message; None where it has none, as one that only calls a tool."""
    message = turn["message"] if isinstance(turn.get("message"), Mapping) else turn
    found = [_words(message[name]) for name in _SAID_IN if name in message]
    texts = [text for text in found if isinstance(text, str)]
    return texts[0] if texts else None if None in found else otherwise


def _words(content: Any) -> Any:
    """A text, or the texts among the parts of a message, which may also have thoughts and calls of tools."""
    if not isinstance(content, list):
        return content
    texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else content
