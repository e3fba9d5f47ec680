"""Conversations: the last message of the assistant is the target, and everything before it the input."""

from __future__ import annotations

from typing import Any

import msgspec

from crucible_datasets.benchmarks.adapters.transcripts import from_transcript, role_of
from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule
from crucible_datasets.exceptions import InvalidRecordError

_TURN = "<extra_id_1>"  # separates the turns in prompts of HelpSteer2


class Turn(msgspec.Struct):
    """A message in OpenAI's format, which most datasets use."""

    role: str
    content: str


class Spoken(msgspec.Struct):
    """A message in ShareGPT's format."""

    speaker: str = msgspec.field(name="from")
    value: str


def message(role: str, content: str) -> dict[str, Any]:
    """A message of a sample, with a standard role."""
    return {"role": role_of(role), "content": content}


def spoken(role: str, transcript: str) -> list[dict[str, Any]]:
    """The messages of a transcript, such as `Human: … Assistant: …`."""
    try:
        return [message(one.role, one.text) for one in from_transcript(transcript).messages]
    except InvalidRecordError as error:
        raise Unfit(role, error.reason) from error


def asked(role: str, prompt: str) -> list[dict[str, Any]]:
    """The messages of a prompt: one, or several if turns are marked in it."""
    return spoken(role, prompt) if _TURN in prompt else [message("user", prompt)]


@rule("chat/messages", input="messages", metadata={"turn_count": "int64"})
def messages(messages: list[Turn]) -> Fields:
    """Messages with `role` and `content`."""
    return _answered("messages", [message(turn.role, turn.content) for turn in messages])


@rule("chat/sharegpt", input="messages", metadata={"turn_count": "int64"})
def sharegpt(conversations: list[Spoken]) -> Fields:
    """Messages with `from` and `value`."""
    return _answered("conversations", [message(turn.speaker, turn.value) for turn in conversations])


def _answered(role: str, said: list[dict[str, Any]]) -> Fields:
    place = max((at for at, one in enumerate(said) if one["role"] == "assistant"), default=0)
    if place == 0:
        raise Unfit(role, "the assistant answers nothing in it")
    turns = sum(one["role"] in ("user", "assistant") for one in said) // 2
    return {"input": said[:place], "target": said[place]["content"], "metadata": {"turn_count": turns}}


@rule("chat/rated", input="messages")
def rated(prompt: str, response: str, score: int | float) -> Fields:
    """A prompt and a response to it; the target is its score."""
    return {"input": [*asked("prompt", prompt), message("assistant", response)], "target": f"{score:g}"}


@rule(
    "chat/rubric",
    input="messages",
    metadata={
        "rubric": {
            "criteria": "string",
            "scores": {str(score): "string" for score in range(1, 6)},
            "reference_answer": "string",
        },
        "response": "string",
        "score": "string",
        "feedback": "string",
    },
)
def rubric(
    instruction: str,
    criteria: str,
    scores: list[str],
    reference: str,
    response: str | None = None,
    score: str | int | None = None,
    feedback: str | None = None,
) -> Fields:
    """An instruction, a reference answer, the rubric, and a response with score and feedback."""
    if len(scores) != 5:
        raise Unfit("scores", f"there are 5 scores, not {len(scores)}")
    meaning = {str(number): text for number, text in enumerate(scores, 1)}
    known = {"response": response, "score": None if score is None else str(score), "feedback": feedback}
    judged = {"criteria": criteria, "scores": meaning, "reference_answer": reference}
    metadata = {"rubric": judged, **known}
    return {"input": [message("user", instruction)], "target": reference, "metadata": metadata}
