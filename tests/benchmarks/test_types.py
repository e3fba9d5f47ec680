"""Typed values are immutable, checked, and the same after any trip: dict, JSON, pickle, Arrow."""

import copy
import json
import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets import Dataset, Image
from crucible_datasets.benchmarks import (
    Comparison,
    Conversation,
    LabeledComparison,
    Message,
    Part,
    Picture,
    Rubric,
    Sample,
    arrow_schema,
    dataset_of,
    features_of,
    load_benchmark,
    samples_from,
)
from crucible_datasets.benchmarks.types.comparisons import LABELS
from crucible_datasets.exceptions import InvalidRecordError, UnknownEntryError

KINDS = {
    Picture: chats.pictures,
    Part: chats.parts,
    Message: chats.messages,
    Conversation: chats.conversations,
    Comparison: chats.comparisons,
    LabeledComparison: chats.labeled,
    Rubric: chats.rubrics,
    Sample: chats.samples,
}
anything = st.one_of(*KINDS.values())


@given(anything)
def test_every_trip_gives_the_same_value(value):
    kind = type(value)
    assert kind.from_dict(value.to_dict()) == value
    assert kind.from_json(value.to_json()) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


@given(anything)
def test_json_is_canonical(value):
    text = value.to_json()
    assert type(value).from_json(text).to_json() == text
    json.loads(text, object_pairs_hook=in_order)


def in_order(pairs):
    assert [key for key, _ in pairs] == sorted({key for key, _ in pairs})
    return dict(pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_json_schema_names_every_field(kind):
    schema = kind.json_schema()
    described = schema["$defs"][kind.__name__]
    assert set(described["properties"]) == set(kind.__struct_fields__)
    json.dumps(schema)


@pytest.mark.parametrize("kind", KINDS)
def test_the_arrow_schema_names_every_field_that_is_stored(kind):
    schema = arrow_schema(kind)
    assert set(schema.names) <= set(kind.__struct_fields__)
    assert schema == features_of(kind).arrow_schema


@given(
    st.lists(st.builds(Conversation, st.lists(chats.plain_messages, min_size=1, max_size=3)), min_size=1, max_size=4)
)
def test_a_dataset_of_conversations_stays_typed(conversations):
    rows = [{**conversation.to_dict(), "metadata": {}} for conversation in conversations]
    dataset = Dataset.from_list(rows, features=features_of(Conversation))
    assert [Conversation.from_dict(row) for row in dataset] == conversations


@given(anything)
def test_values_do_not_change(value):
    with pytest.raises(AttributeError):
        setattr(value, value.__struct_fields__[0], None)


@given(st.lists(chats.samples, max_size=5))
def test_samples_are_the_same_in_arrow(samples):
    assert list(samples_from(samples)) == samples


@pytest.mark.parametrize(
    ("kind", "value", "place"),
    [
        (Message, {"role": "user"}, "content"),
        (Message, {"role": "user", "content": 3}, "content"),
        (Message, {"role": "", "content": "x"}, "role"),
        (
            Conversation,
            {"messages": [{"role": "user", "content": "x"}, {"role": 1, "content": "x"}]},
            "messages[1].role",
        ),
        (Part, {"type": "text"}, "text"),
        (Part, {"type": "image", "text": "x"}, "image"),
        (
            LabeledComparison,
            {"comparison": {"prompt": "p", "response_a": "a", "response_b": "b"}, "preferred": "c"},
            "preferred",
        ),
        (Sample, {"id": 1, "input": ""}, "input"),
        (Sample, {"id": None, "input": "x"}, "id"),
        (Sample, {"id": 1, "input": "x", "choices": [1]}, "choices"),
        (Rubric, {"criteria": "x", "scores": {"high": "y"}}, "scores"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(kind, value, place):
    with pytest.raises(InvalidRecordError) as caught:
        kind.from_dict(value)
    assert place in str(caught.value) and kind.__name__ in str(caught.value)
    with pytest.raises(InvalidRecordError):
        kind.from_json(msgspec.json.encode(value))
    assert isinstance(caught.value, ValueError) and pickle.loads(pickle.dumps(caught.value)).kind == kind.__name__


def test_text_that_is_not_json_is_refused():
    with pytest.raises(InvalidRecordError):
        Sample.from_json("{")


# Conversations


def said(*pairs):
    return Conversation([Message(role, text) for role, text in pairs])


def test_what_a_conversation_knows_of_itself():
    talk = said(("system", "S"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e"))
    assert talk.turn_count == 2
    assert talk.last_message == Message("user", "e")
    assert talk.system_prompt == "S"
    assert talk.response == "d" and talk.prompt == talk.messages[:4]
    assert len(talk) == 6


def test_what_an_empty_conversation_knows_of_itself():
    talk = Conversation([])
    assert (talk.turn_count, talk.last_message, talk.system_prompt, talk.response, talk.prompt) == (
        0,
        None,
        None,
        None,
        [],
    )


def test_parts_have_words_and_pictures():
    picture = Picture(b"\x89PNG1", None)
    message = Message("user", [Part("text", "look"), Part("image", image=picture), Part("text", "here")])
    assert message.text == "look\nhere" and message.images == [picture]
    assert picture.url == "data:image/png;base64,iVBORzE=" and Picture(path="https://x/y.png").url == "https://x/y.png"


def test_a_picture_is_decoded_when_asked(tmp_path):
    pil = pytest.importorskip("PIL.Image")
    pil.new("RGB", (2, 3), "red").save(tmp_path / "red.png")
    data = (tmp_path / "red.png").read_bytes()
    assert Picture(bytes=data).decoded().size == (2, 3)
    assert Picture.read(tmp_path / "red.png") == Picture(data, str(tmp_path / "red.png"))
    assert Picture(bytes=data).mime_type == "image/png" and Picture(bytes=b"?").mime_type == "application/octet-stream"


# Comparisons

PAIR = Comparison("p", "one", "two")


@pytest.mark.parametrize(
    ("label", "preferred", "score"),
    [
        ("a", "a", 1.0),
        ("B", "b", 0.0),
        ("Tie", "tie", 0.5),
        ("chosen", "a", 1.0),
        ("rejected", "b", 0.0),
        ("MODEL_A", "a", 1.0),
        ("model_b", "b", 0.0),
        ("both_bad", "tie", 0.5),
        (" tie (bothbad) ", "tie", 0.5),
    ],
)
def test_labels_of_any_usual_kind(label, preferred, score):
    judged = LabeledComparison.from_label(PAIR, label)
    assert (judged.preferred, judged.to_score(), judged.is_tie) == (preferred, score, preferred == "tie")
    assert judged.is_preferred(label) and judged.is_preferred(preferred)


def test_an_unknown_label_lists_the_known_ones():
    with pytest.raises(UnknownEntryError, match="model_a"):
        LabeledComparison.from_label(PAIR, "model_c")


@given(chats.labeled)
def test_swapping_turns_the_judgement_around(judged):
    other = judged.swapped()
    assert other.to_score() == 1 - judged.to_score()
    assert other.chosen == judged.chosen and other.rejected == judged.rejected
    assert other.swapped() == judged
    assert judged.signed_margin is None or other.signed_margin == -judged.signed_margin


@given(st.floats(-5, 5))
def test_a_signed_margin_says_which_and_by_how_much(margin):
    judged = LabeledComparison.from_margin(PAIR, margin)
    assert judged.signed_margin == margin
    assert judged.to_score() == (0.5 if margin == 0 else 1.0 if margin > 0 else 0.0)


@pytest.mark.parametrize(("preferred", "margin"), [("tie", 1.0), ("a", -1.0), ("a", float("nan"))])
def test_a_margin_that_says_something_else_than_the_label_is_refused(preferred, margin):
    with pytest.raises(InvalidRecordError, match="margin"):
        LabeledComparison(PAIR, preferred, margin)


def test_a_tie_has_no_chosen_one():
    tie = LabeledComparison(PAIR, "tie")
    assert (tie.chosen, tie.rejected, tie.signed_margin) == (None, None, 0.0)


def test_the_two_conversations_of_a_comparison():
    assert PAIR.conversation_a == said(("user", "p"), ("assistant", "one"))
    assert PAIR.swapped().conversation_a == PAIR.conversation_b


def test_every_label_means_a_side():
    assert set(LABELS.values()) == {"a", "b", "tie"}


@given(chats.rubrics)
def test_a_sample_carries_its_rubric(rubric):
    (kept,) = samples_from([Sample(1, "x", metadata={"rubric": rubric})])
    assert kept.rubric == rubric and Sample(1, "x").rubric is None


def test_the_range_of_a_rubric():
    assert Rubric("c", {1: "bad", 5: "good"}).range == (1, 5) and Rubric("c").range is None


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Message("user", 3), "a text or parts"),
        (lambda: Sample(1, 3), "`input` is a text or messages, not 3"),
        (lambda: Sample(1, "q", 42), "`target` is a text or a list of texts, not 42"),
        (lambda: Sample(1.5, "q"), "`id` is a text or a number, not 1.5"),
    ],
)
def test_what_is_made_by_hand_is_checked(make, what):
    with pytest.raises(InvalidRecordError, match=what):
        make()


@pytest.mark.parametrize(
    "kind",
    [Message, Part, Picture, Conversation, Comparison, LabeledComparison, Rubric],
    ids=lambda kind: kind.__name__,
)
def test_records_become_a_dataset_and_records_again(kind):
    talk = [Message("user", "Why?"), Message("assistant", "So.")]
    seen = [Message("user", [Part("text", "Look"), Part("image", image=Picture(b"\x89PNG", None))])]
    compared = Comparison(talk[:1], talk[1:], [Message("assistant", "No.")], {"source": "x"})
    made = {
        Message: talk,
        Part: [Part("text", "a"), Part("image", image=Picture(b"\x89PNG", None))],
        Picture: [Picture(b"\x89PNG", "a.png")],
        Conversation: [Conversation(talk, {"n": 1}), Conversation(talk[:1], {"other": [1, "a"]})],
        Comparison: [compared, compared.swapped()],
        LabeledComparison: [LabeledComparison(compared, "a", 1.5), LabeledComparison(compared, "tie")],
        Rubric: [Rubric("clear?", {1: "no", 5: "yes"}, "ref"), Rubric("short?")],
    }[kind]
    rows = dataset_of(made)
    assert rows.features == features_of(kind)
    undecoded = rows if kind is not Part else rows.cast_column("image", Image(decode=False))
    assert [kind.from_dict(row) for row in undecoded] == made
    pictured = dataset_of([Conversation(seen), Conversation(talk)])
    assert pictured.features == features_of(Conversation, parts=True)


def test_texts_become_messages_and_calls_of_tools_are_kept():
    row = dataset_of([Comparison("p", "a", "b")])[0]
    assert Comparison.from_dict(row).conversation_a == Comparison("p", "a", "b").conversation_a
    called = Conversation([Message("assistant", "", tool_calls=[{"id": "1", "function": {"name": "f"}}])])
    assert Conversation.from_dict(dataset_of([called])[0]) == called
    with pytest.raises(TypeError, match="give records of one type"):
        dataset_of([Message("user", "a"), Part("text", "b")])
    judged = list(load_benchmark("arena_140k", synthetic=True).comparisons())
    assert [LabeledComparison.from_dict(row).preferred for row in dataset_of(judged)] == [
        one.preferred for one in judged
    ]
