"""Replies of APIs that hold no answer are one sample with a status; they never end a run and are asked for again."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Mapping
from types import SimpleNamespace as Reply

import numpy as np
import pandas as pd
import pyarrow as pa
import pydantic
import pytest

from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import evaluate

EM = "exact_match@2"
TOOL_USE = {"type": "tool_use", "id": "t", "name": "add", "input": {"x": 1}}
FinishReason = enum.Enum("FinishReason", ["STOP", "MAX_TOKENS", "SAFETY"])


def chat(**choice):
    return {"id": "c", "object": "chat.completion", "choices": [{"index": 0, **choice}]}


def gemini(text, reason="STOP"):
    return {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason}]}


def responses(content, **fields):
    return {"object": "response", "status": "completed", "error": None, "output": content, **fields}


def output_text(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


ANSWERS = {
    "openai": chat(message={"role": "assistant", "content": "é4"}, finish_reason="stop"),
    "openai with logprobs": chat(message={"content": "é4", "refusal": None}, logprobs={"content": []}),
    "anthropic": {"role": "assistant", "content": [{"type": "text", "text": "é4"}], "stop_reason": "end_turn"},
    "anthropic with a tool": {"content": [{"type": "text", "text": "é4"}, TOOL_USE], "stop_reason": "tool_use"},
    "anthropic in a batch": {"custom_id": "1", "result": {"type": "succeeded", "message": {"content": "é4"}}},
    "gemini": gemini("é4"),
    "gemini with thoughts": {
        "candidates": [
            {"content": {"parts": [{"text": "hm", "thought": True}, {"text": "é4"}]}, "finishReason": "STOP"}
        ]
    },
    "responses": responses([{"type": "reasoning", "summary": []}, output_text("é4")]),
    "bedrock": {"output": {"message": {"role": "assistant", "content": [{"text": "é4"}]}}, "stopReason": "end_turn"},
    "cohere": {"message": {"content": [{"type": "text", "text": "é4"}]}, "finish_reason": "COMPLETE"},
    "ollama": {"message": {"role": "assistant", "content": "é4"}, "done": True, "done_reason": "stop"},
    "tgi": {"generated_text": "é4", "details": {"finish_reason": "eos_token"}},
    "pipeline of chats": {"generated_text": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "é4"}]},
    "text with its probability": ("é4", -0.25),
    "object of gemini": Reply(
        candidates=[Reply(content=Reply(parts=[Reply(text="é4", thought=None)]), finish_reason=FinishReason.STOP)]
    ),
    "object of the responses": Reply(
        output=[Reply(type="message", content=[Reply(type="output_text", text="é4")])], output_text="é4", error=None
    ),
}
FAILURES = {
    "tool use only": ("missing", {"role": "assistant", "content": [TOOL_USE], "stop_reason": "tool_use"}),
    "no content": ("missing", {"role": "assistant", "content": [], "stop_reason": "end_turn"}),
    "tool calls only": ("missing", chat(message={"content": None, "tool_calls": [{"id": "t"}]})),
    "no choices": ("missing", {"choices": []}),
    "choices that are null": ("missing", {"choices": None}),
    "reasoning only": ("missing", responses([{"type": "reasoning", "summary": []}])),
    "object with tool use": ("missing", Reply(content=[Reply(type="tool_use", name="add")], stop_reason="tool_use")),
    "refusal": ("refused", chat(message={"content": None, "refusal": "I cannot."}, finish_reason="stop")),
    "refusal of anthropic": ("refused", {"content": [], "stop_reason": "refusal"}),
    "refusal of the responses": (
        "refused",
        responses([{"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}]),
    ),
    "filtered": ("refused", chat(message={"content": ""}, finish_reason="content_filter")),
    "safety": ("refused", {"candidates": [{"finishReason": "SAFETY"}]}),
    "blocked prompt": ("refused", {"candidates": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
    "blocked prompt without candidates": ("refused", {"promptFeedback": {"blockReason": "SAFETY"}}),
    "cut off": ("truncated", chat(message={"content": "é4"}, finish_reason="length")),
    "cut off in its thoughts": ("truncated", chat(message={"content": None}, finish_reason="length")),
    "cut off by anthropic": ("truncated", {"content": [{"type": "text", "text": "é4"}], "stop_reason": "max_tokens"}),
    "cut off by gemini": ("truncated", gemini("é4", "MAX_TOKENS")),
    "cut off by ollama": ("truncated", {"message": {"content": "é4"}, "done_reason": "length"}),
    "cut off by the responses": (
        "truncated",
        responses([output_text("é4")], status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ),
    "cut off, as an object": ("truncated", Reply(choices=[Reply(message=Reply(content="é4"), finish_reason="length")])),
    "too many requests": ("error", {"error": {"message": "Rate limit reached", "code": 429}}),
    "broken off": ("error", chat(message={"content": "4"}, finish_reason="error")),
    "blocked prompt of the client": ("refused", {"candidates": None, "prompt_feedback": {"block_reason": "SAFETY"}}),
    "blocked prompt for another reason": ("refused", {"promptFeedback": {"blockReason": "OTHER"}}),
    "cut off in langchain": (
        "truncated",
        {"content": "é4", "type": "ai", "response_metadata": {"finish_reason": "length"}},
    ),
    "response of a server": ("error", Reply(status_code=503, text="é4", content=b"\xc3\xa94", reason="Unavailable")),
    "overloaded": ("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "error in a batch": ("error", {"custom_id": "1", "response": {"status_code": 500, "body": {}}, "error": None}),
    "error in a batch of anthropic": (
        "error",
        {"custom_id": "1", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "bad"}}}},
    ),
}
QUESTIONS = [{"id": n, "input": "2 + 2", "target": "é4"} for n in range(3)]


def asked(reply, calls=None):
    def model(sample):
        if calls is not None:
            calls.append(sample.id)
        return reply if sample.id == 1 else "é4"

    return model


@pytest.mark.parametrize("client", ANSWERS)
def test_the_text_of_a_reply_is_its_answer(client, tmp_path):
    reply = ANSWERS[client]
    for _ in range(2):  # the second time from the cache
        result = evaluate(asked(reply), QUESTIONS, cache=tmp_path, cache_key=client)
        assert result.samples[1].prediction == "é4" and result.value() == 1.0
    assert evaluate(["é4", reply, "é4"], QUESTIONS).value() == 1.0


class Model(pydantic.BaseModel, extra="allow"):
    """An object of a client that is made with pydantic; `text`, which is there also in dumps that lack it, misleads."""

    @property
    def output_text(self):
        return ""


def as_object(value, make):
    """What the client of an API makes of JSON: fields are named as Python does."""
    if isinstance(value, Mapping):
        fields = {re.sub("[A-Z]", lambda upper: f"_{upper[0].lower()}", name): item for name, item in value.items()}
        return make(**{name: as_object(item, make) for name, item in fields.items()})
    return [as_object(item, make) for item in value] if isinstance(value, list) else value


OBJECTS = {
    "pydantic": lambda reply: as_object(reply, Model.model_construct),
    "dict of a pydantic object": lambda reply: dict(as_object(reply, Model.model_construct)),
    "plain objects": lambda reply: as_object(reply, Reply),
    "dict of plain objects": lambda reply: vars(as_object(reply, Reply)),
}
DICTS = {
    **{name: reply for name, reply in ANSWERS.items() if isinstance(reply, dict)},
    **{name: reply for name, (_, reply) in FAILURES.items() if isinstance(reply, dict)},
}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("name", DICTS)
def test_an_object_of_a_client_is_read_as_its_json(name, kind):
    if "batch" in name and "dict" not in kind:
        pytest.skip("lines of batches are files: no client has objects for them")
    reply, alike = DICTS[name], OBJECTS[kind](DICTS[name])
    results = [evaluate(asked(given), QUESTIONS, missing="ignore", cache=False) for given in (reply, alike)]
    first, second = (result.samples[1] for result in results)
    assert first.prediction == second.prediction
    assert first.outcomes[EM].status == second.outcomes[EM].status


CONTENTS = {
    "thoughts and text": ("ok", [{"type": "thinking", "thinking": "5"}, {"type": "text", "text": "é4"}]),
    "text in parts": ("ok", [{"type": "text", "text": "é"}, {"type": "text", "text": "4"}]),
    "output of the responses": ("ok", [{"type": "reasoning", "summary": []}, output_text("é4")]),
    "parts of gemini": ("ok", [{"text": "5", "thought": True}, {"text": "é4", "thought": None}]),
    "tool use": ("missing", [TOOL_USE]),
    "thoughts only": ("missing", [{"type": "thinking", "thinking": "é4"}]),
}


@pytest.mark.parametrize("make", [dict, Model.model_construct], ids=["dicts", "objects"])
@pytest.mark.parametrize("name", CONTENTS)
def test_the_parts_of_a_content_are_one_answer(name, make):
    status, content = CONTENTS[name]
    result = evaluate(asked(as_object(content, make)), QUESTIONS, missing="ignore", cache=False)
    assert [sample.outcomes[EM].status for sample in result.samples] == ["ok", status, "ok"] and result.value() == 1.0


@pytest.mark.parametrize("missing", ["error", "wrong", "ignore"])
@pytest.mark.parametrize("name", FAILURES)
def test_a_reply_without_an_answer_is_one_sample_with_its_status(name, missing, tmp_path):
    status, reply = FAILURES[name]
    calls: list[int] = []
    for _ in range(2):
        result = evaluate(asked(reply, calls), QUESTIONS, missing=missing, cache=tmp_path, cache_key=name)
        outcome = result.samples[1].outcomes[EM]
        is_wrong = status in ("refused", "truncated") or (status, missing) == ("missing", "wrong")
        assert (outcome.status, outcome.value) == (status, 0.0 if is_wrong else None)
        assert outcome.detail["error"]
        assert result.summary[EM].counts == {"ok": 2, status: 1}
    is_asked_again = status in ("missing", "error")
    assert len(calls) == (4 if is_asked_again else 3)
    known = evaluate(["é4", reply, "é4"], QUESTIONS, missing=missing)
    assert known.samples[1].outcomes == result.samples[1].outcomes


@pytest.mark.parametrize("name", [name for name, (_, reply) in FAILURES.items() if isinstance(reply, dict)])
def test_a_line_of_a_batch_without_an_answer_is_one_sample(name, tmp_path):
    status, reply = FAILURES[name]
    bodies = [ANSWERS["openai"], reply, ANSWERS["anthropic"]]
    lines = [{"custom_id": str(n), "response": {"body": body}} for n, body in enumerate(bodies)]
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = evaluate(tmp_path / "batch.jsonl", QUESTIONS)
    assert result.summary[EM].counts == {"ok": 2, status: 1}


@pytest.mark.parametrize("missing", ["error", "wrong", "ignore"])
@pytest.mark.parametrize("reply", [{"verdict": "é4", "trace": [1]}, {"status": 500}, {"confidence": 0.5}, {}])
def test_a_reply_of_an_unknown_form_is_an_error_that_names_its_fields(reply, missing, tmp_path):
    calls: list[int] = []
    for _ in range(2):
        result = evaluate(asked(reply, calls), QUESTIONS, missing=missing, cache=tmp_path, cache_key="k")
        outcome = result.samples[1].outcomes[EM]
        assert (outcome.status, outcome.value, result.value()) == ("error", None, 1.0)
        assert (", ".join(map(repr, reply)) or "no field") in outcome.detail["error"]
    assert len(calls) == 4


VALUES = [
    *(
        "4",
        "",
        "\ud800",
        None,
        4,
        4.5,
        float("nan"),
        True,
        [],
        (),
        [None],
        ["4", None],
        ("4", "5"),
        {"answer": float("nan")},
    ),
    *(np.float32(4), np.float64("nan"), np.str_("4"), np.array(["4"]), np.array(["4", "5"]), np.array([]), pd.NA),
    *(
        pa.scalar("4"),
        pa.scalar(None),
        pa.array(["4", None]),
        [pa.scalar("4")],
        [np.array(["4"])],
        {"text": np.str_("4")},
    ),
    *(
        {"choices": 4},
        {"candidates": "4"},
        {"choices": [None]},
        {"content": (("a", 1), "4")},
        {"answer": {"x": np.int64(1)}},
    ),
]


@pytest.mark.parametrize("value", VALUES, ids=[f"{type(value).__name__} {place}" for place, value in enumerate(VALUES)])
def test_an_answer_is_scored_alike_fresh_and_from_the_cache_and_a_missing_one_is_never_cached(value, tmp_path):
    def same(prediction, target):
        return float(prediction == target)

    for metric in ("exact_match", same):
        calls: list[int] = []
        call = {"missing": "ignore", "cache": tmp_path, "cache_key": str(metric)}
        first, again = (evaluate(asked(value, calls), QUESTIONS, metric, **call) for _ in range(2))
        assert [sample.outcomes for sample in again.samples] == [sample.outcomes for sample in first.samples]
        assert [sample.prediction for sample in again.samples] == [sample.prediction for sample in first.samples]
        statuses = {outcome.status for sample in first.samples for outcome in sample.outcomes.values()}
        if "missing" in statuses:
            assert len(calls) == 4


def test_a_function_of_ones_own_judges_any_mapping(tmp_path):
    def is_sure(prediction, target):
        return prediction["verdict"] == target

    calls: list[int] = []

    def model(sample):
        calls.append(sample.id)
        return {"verdict": sample.target, "trace": [1]}

    for _ in range(2):
        assert evaluate(model, QUESTIONS, is_sure, cache=tmp_path, cache_key="k").value() == 1.0
    assert len(calls) == 3


def test_each_choice_of_a_reply_has_a_status_of_its_own():
    data = samples_from([{"id": 0, "input": "?", "target": "é4"}])
    replies = {"choices": [{"text": "é4"}, {"text": "é4", "finish_reason": "length"}]}
    result = evaluate(lambda sample: replies, data, cache=False)
    assert [sample.outcomes[EM].status for sample in result.samples] == ["ok", "truncated"]


def test_a_prediction_with_its_confidence_is_no_reply():
    prediction = {"answer": "é4", "confidence": 0.9}
    assert evaluate(lambda sample: prediction, QUESTIONS, cache=False).value() == 1.0
    assert (
        evaluate(lambda sample: {"A": 0.9, "B": 0.1}, [{"id": 0, "input": "?", "target": "A"}], "brier").value() < 0.1
    )


@pytest.mark.parametrize("reply", [{"confidence": 0.5}, {"said": "é4"}, {"answer": {"x": 1}}])
def test_an_answer_that_only_some_metrics_can_judge_is_an_error_of_the_others(reply):
    def fields(prediction, target):
        return float(isinstance(prediction, dict))

    result = evaluate(asked(reply), QUESTIONS, [fields, "f1"], cache=False)
    judged, unread = (result.samples[1].outcomes[result.key(name)] for name in ("fields", "f1"))
    assert (judged.value, unread.value, unread.status) == (1.0, None, "error")
    assert result.value("f1") == 1.0
