"""Two responses to one prompt: the target is A, B or tie.

If a dataset has a chosen and a rejected response without order, they are ordered by digest; otherwise a judge that
always answers A would always be correct.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from crucible_datasets.benchmarks.adapters.chat import from_transcript, role_of
from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule
from crucible_datasets.benchmarks.rules.choices import digest
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


_WINNERS = {"model_a": "A", "model_b": "B", "tie": "tie", "both_bad": "tie", "tie (bothbad)": "tie"}
_MESSAGES = [{"role": "string", "content": "string"}]
_PAIR: dict[str, Any] = {"margin": "float64"}
_TALKS: dict[str, Any] = {"conversation_a": _MESSAGES, "conversation_b": _MESSAGES, "margin": "float64"}

Said = list[dict[str, Any]]


class Piece(msgspec.Struct):
    """A part of a message of the arena; images are only referred to, and are not in the data."""

    type: str
    text: str | None = None


class Parts(msgspec.Struct):
    """A message of the arena."""

    role: str
    content: list[Piece]


@rule("preference/transcripts", input="messages", metadata=_TALKS)
def transcripts(chosen: str, rejected: str) -> Fields:
    """Two transcripts with `Human:` and `Assistant:`, of which the first was chosen."""
    return _chosen(spoken("chosen", chosen), spoken("rejected", rejected))


@rule("preference/conversations", input="messages", metadata=_TALKS)
def conversations(chosen: list[Turn], rejected: list[Turn]) -> Fields:
    """Two conversations, of which the first was chosen."""
    return _chosen(_said(chosen), _said(rejected))


@rule("preference/chosen", input="messages", metadata=_PAIR)
def chosen(
    prompt: str,
    chosen: str,
    rejected: str,
    chosen_score: float | None = None,
    rejected_score: float | None = None,
) -> Fields:
    """A prompt and two responses, of which the first was chosen; equal scores are a tie."""
    scored = chosen_score is not None and rejected_score is not None
    margin = chosen_score - rejected_score if scored else None  # type: ignore[operator]
    if margin is not None and margin < 0:
        raise Unfit("chosen_score", f"the chosen response has the lower score: {chosen_score} < {rejected_score}")
    responses, target = _in_own_order(prompt, chosen, rejected)
    return _compared(asked("prompt", prompt), responses, "tie" if margin == 0 else target, margin)


@rule("preference/scaled", input="messages", metadata=_PAIR)
def scaled(context: list[Turn], response1: str, response2: str, preference: int) -> Fields:
    """Two responses to a context, and a number: negative if the first is better, positive if the second is."""
    target = "A" if preference < 0 else "B" if preference > 0 else "tie"
    return _compared(_said(context), [response1, response2], target, float(abs(preference)))


@rule("preference/winner", input="messages", metadata={**_TALKS, "images": "int64"})
def winner(conversation_a: list[Parts], conversation_b: list[Parts], winner: str) -> Fields:
    """Two conversations with two models, and the winner."""
    if winner not in _WINNERS:
        raise Unfit("winner", f"{winner!r} is none of {', '.join(_WINNERS)}")
    first, second = ([message(one.role, _words(one)) for one in said] for said in (conversation_a, conversation_b))
    fields = _diverging(first, second, _WINNERS[winner], ("conversation_a", "conversation_b"))
    shown = sum(piece.type == "image" for one in conversation_a for piece in one.content)
    return {**fields, "metadata": {**fields["metadata"], "images": shown}}


def _words(one: Parts) -> str:
    return "\n".join(piece.text for piece in one.content if piece.text)


def _said(turns: list[Turn]) -> Said:
    return [message(turn.role, turn.content) for turn in turns]


def _chosen(better: Said, worse: Said) -> Fields:
    _, target = _in_own_order("", json.dumps(better), json.dumps(worse))
    if target == "A":
        return _diverging(better, worse, "A", ("chosen", "rejected"))
    return _diverging(worse, better, "B", ("rejected", "chosen"))


def _in_own_order(prompt: str, chosen: str, rejected: str) -> tuple[list[str], str]:
    if digest(prompt, chosen) <= digest(prompt, rejected):
        return [chosen, rejected], "A"
    return [rejected, chosen], "B"


def _diverging(first: Said, second: Said, target: str, roles: tuple[str, str]) -> Fields:
    """Conversations with a common beginning, which is the prompt; the last message of each is the response."""
    for role, said in zip(roles, (first, second), strict=True):
        if len(said) < 2 or said[-1]["role"] != "assistant":
            raise Unfit(role, "a conversation ends with what the assistant answers")
    shared = next(
        (place for place, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    shared = min(shared, len(first) - 1, len(second) - 1)
    if shared == 0:
        raise Unfit(min(roles), "the two conversations do not begin alike")
    fields = _compared(first[:shared], [first[-1]["content"], second[-1]["content"]], target, None)
    talks = {"conversation_a": first, "conversation_b": second}
    return {**fields, "metadata": {**talks, "margin": 0.0 if target == "tie" else None}}


def _compared(prompt: Said, responses: list[str], target: str, margin: float | None) -> Fields:
    return {"input": prompt, "target": target, "choices": responses, "metadata": {"margin": margin}}
