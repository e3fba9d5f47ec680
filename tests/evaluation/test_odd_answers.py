"""Answers, rules and metrics that are not as they should be: told, and never judged by accident."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from crucible_datasets import config
from crucible_datasets.benchmarks import Message
from crucible_datasets.evaluation import Outcome, evaluate, score
from crucible_datasets.exceptions import MissingPredictionsError, PredictionsError

ROWS = [{"id": f"q{n}", "input": f"{n} + 1?", "target": str(n + 1)} for n in range(4)]
RIGHT = [row["target"] for row in ROWS]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_what_has_no_order_is_refused():
    for unordered in (set(RIGHT), frozenset(RIGHT), dict.fromkeys(RIGHT).keys()):
        with pytest.raises(PredictionsError, match="has no order"):
            evaluate(unordered, ROWS)
    assert evaluate(dict(enumerate(RIGHT)).values(), ROWS).value() == 1.0


@pytest.mark.parametrize("make", [lambda text: object(), lambda text: (part for part in text), str.encode, type])
@pytest.mark.parametrize("ask", [False, True])
def test_an_object_is_no_answer(make, ask):
    given = (lambda sample: make(sample.target)) if ask else [make(text) for text in RIGHT]
    with pytest.raises(PredictionsError, match="cannot be of type .*: give its text"):
        evaluate(given, ROWS)


def test_messages_of_chats_are_their_texts():
    for make in (lambda text: Message("assistant", text), lambda text: SimpleNamespace(content=text)):
        assert evaluate([make(text) for text in RIGHT], ROWS).value() == 1.0
        assert evaluate(lambda sample, make=make: make(sample.target), ROWS, cache=False).value() == 1.0


def _reply(text):
    """As OpenAI's client gives it, Anthropic's and vLLM; with thoughts before it, and by OpenAI's later interface."""
    yield SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(role="assistant", content=text))])
    yield SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text=text)])
    yield SimpleNamespace(prompt="?", outputs=[SimpleNamespace(index=0, text=text)])
    yield SimpleNamespace(content=[SimpleNamespace(thinking="?"), SimpleNamespace(type="text", text=text)])
    yield SimpleNamespace(output=[SimpleNamespace(type="message")], output_text=text)


@pytest.mark.parametrize("client", range(5))
def test_what_clients_return_is_its_text(client):
    def answered(sample):
        return list(_reply(sample.target))[client]

    assert evaluate([list(_reply(text))[client] for text in RIGHT], ROWS).value() == 1.0
    assert evaluate(answered, ROWS).value() == evaluate(answered, ROWS).value() == 1.0  # the second from the cache


def test_a_model_that_returns_nothing_is_told_so():
    with pytest.raises(MissingPredictionsError, match="The model returned no answer for sample '"):
        evaluate(lambda sample: None, ROWS)


def test_a_model_may_raise_what_ends_generators():
    def model(sample):
        return next(iter(())) if sample.id == "q2" else sample.target

    with pytest.raises(RuntimeError, match="StopIteration") as told:
        evaluate(model, ROWS)
    assert "'q2'" in told.value.__notes__[0]
    assert evaluate(model, ROWS, missing="wrong").summary["exact_match@2"].counts == {"ok": 3, "error": 1}


def test_uneven_numbers_of_answers_are_told(caplog):
    twice = [{"id": row["id"], "prediction": row["target"]} for row in [*ROWS, ROWS[1]]]
    assert evaluate(twice, ROWS).value() == 1.0
    assert "1 to 2 answers" in caplog.text and "'q1' has 2" in caplog.text
    caplog.clear()
    evaluate([[text, text] for text in RIGHT], ROWS)
    evaluate({"q1": ["2", "3"]}, ROWS, missing="ignore")
    assert not caplog.records


def test_a_rule_that_fails_counts_as_what_could_not_be_read():
    def first_number(text):
        return int(text.split()[0])

    result = evaluate(["1", "2 of them", "none", " "], ROWS, extract=first_number)
    summary = result.summary["exact_match@2"]
    assert (summary.value, summary.n) == (0.5, 4) and summary.counts == {"ok": 2, "error": 1, "empty": 1}
    assert summary.value_parsed == 1.0
    assert "invalid literal" in result.samples[2].outcomes["exact_match@2"].detail["error"]
    with pytest.raises(ValueError, match="invalid literal"):
        score("exact_match", "none", "1", extract=first_number)


@pytest.mark.parametrize("wild", [math.nan, math.inf, Outcome(-math.inf)])
def test_a_value_that_makes_no_mean_is_an_error_of_the_metric(wild):
    def measure(prediction, target):
        return wild if target == "2" else 1.0

    summary = next(iter(evaluate(RIGHT, ROWS, measure).summary.values()))
    assert (summary.value, summary.n, summary.counts) == (1.0, 3, {"ok": 3, "error": 1})
