"""Rows of preference sets, checked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets.benchmarks import (
    Comparison,
    LabeledComparison,
    Message,
    best_against_worst,
    between,
    labeled_comparison,
)
from crucible_datasets.benchmarks.adapters.preferences import SHAPES
from crucible_datasets.exceptions import InvalidRecordError, UnknownEntryError


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


PAIR = Comparison("p", "good", "bad")
TALK = [Message("user", "p"), Message("assistant", "x"), Message("user", "q")]

CASES = {
    "hh_rlhf": (
        {"chosen": "\n\nHuman: p\n\nAssistant: good", "rejected": "\n\nHuman: p\n\nAssistant: bad"},
        LabeledComparison(PAIR, "a"),
    ),
    "hh_rlhf of several turns": (
        {
            "chosen": "\n\nHuman: p\n\nAssistant: x\n\nHuman: q\n\nAssistant: good",
            "rejected": "\n\nHuman: p\n\nAssistant: x\n\nHuman: q\n\nAssistant: bad",
        },
        LabeledComparison(Comparison(TALK, "good", "bad"), "a"),
    ),
    "hh_rlhf that part earlier": (
        {
            "chosen": "\n\nHuman: p\n\nAssistant: good",
            "rejected": "\n\nHuman: p\n\nAssistant: x\n\nHuman: q\n\nAssistant: bad",
        },
        LabeledComparison(Comparison("p", "good", [*TALK[1:], Message("assistant", "bad")]), "a"),
    ),
    "hh_rlhf with twice the same": (
        {"chosen": "\n\nHuman: p\n\nAssistant: good", "rejected": "\n\nHuman: p\n\nAssistant: good"},
        LabeledComparison(Comparison("p", "good", "good"), "a"),
    ),
    "tulu3_preference": (
        {"prompt": "p", "chosen": [user("p"), assistant("good")], "rejected": [user("p"), assistant("bad")]},
        LabeledComparison(PAIR, "a"),
    ),
    "answers alone": (
        {"prompt": [user("p")], "chosen": [assistant("good")], "rejected": [assistant("bad")]},
        LabeledComparison(PAIR, "a"),
    ),
    "texts": ({"prompt": "p", "chosen": "good", "rejected": "bad"}, LabeledComparison(PAIR, "a")),
    "ultrafeedback_binarized": (
        {
            "prompt": "p",
            "chosen": [user("p"), assistant("good")],
            "rejected": [user("p"), assistant("bad")],
            "score_chosen": 8.5,
            "score_rejected": 6.0,
        },
        LabeledComparison(PAIR, "a", 2.5),
    ),
    "argilla ultrafeedback": (
        {
            "instruction": "p",
            "chosen_response": "good",
            "rejected_response": "bad",
            "chosen_rating": 5.0,
            "rejected_rating": 3.5,
        },
        LabeledComparison(PAIR, "a", 1.5),
    ),
    "ultrafeedback": (
        {
            "instruction": "p",
            "completions": [
                {"response": "so so", "overall_score": 5.0},
                {"response": "good", "overall_score": 9.0},
                {"response": "bad", "overall_score": 2.0},
            ],
        },
        LabeledComparison(PAIR, "a", 7.0),
    ),
    "helpsteer3, the first": (
        {"context": [user("p")], "response1": "good", "response2": "bad", "overall_preference": -3},
        LabeledComparison(PAIR, "a", 3.0),
    ),
    "helpsteer3, the second": (
        {
            "context": [user("p"), assistant("x"), user("q")],
            "response1": "bad",
            "response2": "good",
            "overall_preference": 1,
        },
        LabeledComparison(Comparison(TALK, "bad", "good"), "b", 1.0),
    ),
    "helpsteer3, neither": (
        {"context": [user("p")], "response1": "good", "response2": "bad", "overall_preference": 0},
        LabeledComparison(PAIR, "tie", 0.0),
    ),
    "arena": (
        {
            "conversation_a": [
                {"role": "user", "content": [{"type": "text", "text": "p", "image": None, "mimeType": None}]},
                assistant("good"),
            ],
            "conversation_b": [
                {"role": "user", "content": [{"type": "text", "text": "p", "image": None, "mimeType": None}]},
                assistant("bad"),
            ],
            "winner": "both_bad",
        },
        LabeledComparison(
            between(
                [{"role": "user", "content": [{"type": "text", "text": "p"}]}, assistant("good")],
                [{"role": "user", "content": [{"type": "text", "text": "p"}]}, assistant("bad")],
            ),
            "tie",
        ),
    ),
    "responses with a label": (
        {"prompt": "p", "response_a": "good", "response_b": "bad", "label": "B"},
        LabeledComparison(PAIR, "b"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_row_is_read_as_it_is_meant(name):
    row, expected = CASES[name]
    assert labeled_comparison(row) == expected


def test_every_shape_has_a_case():
    columns = [set(row) for row, _ in CASES.values()]
    assert all(any(set(needed) <= found for found in columns) for needed, _ in SHAPES if needed != ("responses",))


def test_ratings_that_contradict_the_choice_are_no_margin():
    row = {"prompt": "p", "chosen": "good", "rejected": "bad", "score_chosen": 1.0, "score_rejected": 2.0}
    assert labeled_comparison(row) == LabeledComparison(PAIR, "a")


def test_the_best_response_against_the_worst():
    rows = [
        {"prompt": "p", "response": text, "helpfulness": score}
        for text, score in (("bad", 1), ("good", 4), ("fine", 3))
    ]
    assert best_against_worst(rows) == LabeledComparison(PAIR, "a", 3.0)
    equal = [{**row, "helpfulness": 2} for row in rows[:2]]
    judged = best_against_worst(equal)
    assert judged.is_tie and {judged.comparison.response_a, judged.comparison.response_b} == {"good", "bad"}
    with pytest.raises(InvalidRecordError, match="two responses"):
        best_against_worst(rows[:1])


@given(
    st.lists(chats.plain_messages.filter(lambda one: one.role != "assistant"), min_size=1, max_size=3),
    chats.texts,
    chats.texts,
)
def test_two_conversations_share_their_prompt(prompt, one, other):
    pair = between([*prompt, Message("assistant", one)], [*prompt, Message("assistant", other)])
    assert pair.conversation_a.messages == [*prompt, Message("assistant", one)]
    assert pair.conversation_b.messages == [*prompt, Message("assistant", other)]
    assert (pair.response_a, pair.response_b) == (one, other)


@pytest.mark.parametrize(
    ("row", "error", "told"),
    [
        ({"text": "x"}, InvalidRecordError, "the row has text"),
        ({"chosen": "no transcript", "rejected": "neither"}, InvalidRecordError, "no prompt in common"),
        (
            {
                "conversation_a": [user("p"), assistant("a")],
                "conversation_b": [user("p"), assistant("b")],
                "winner": "me",
            },
            UnknownEntryError,
            "me",
        ),
        ({"instruction": "p", "completions": [{"response": "a"}, {"response": "b"}]}, InvalidRecordError, "no score"),
    ],
)
def test_what_is_no_comparison(row, error, told):
    with pytest.raises(error, match=told):
        labeled_comparison(row)
