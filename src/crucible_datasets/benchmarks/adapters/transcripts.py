"""Conversations written as one text: `Human: … Assistant: …`."""

from __future__ import annotations

import re

from crucible_datasets.benchmarks.types.messages import Conversation, Message
from crucible_datasets.exceptions import InvalidRecordError

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
