"""Chats of every usual shape, checked by hand against what their datasets and providers write."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets.benchmarks import (
    Conversation,
    Message,
    Part,
    Picture,
    conversation,
    from_openai,
    from_pair,
    from_sharegpt,
    from_transcript,
    message,
    to_anthropic,
    to_gemini,
    to_openai,
    to_sharegpt,
    to_transcript,
)
from crucible_datasets.benchmarks.adapters.chat import picture
from crucible_datasets.exceptions import InvalidRecordError

PNG = b"\x89PNG\r\n\x1a\n..."
PNG_TEXT = base64.b64encode(PNG).decode()
PNG_URL = f"data:image/png;base64,{PNG_TEXT}"


def said(*pairs):
    return Conversation([Message(role, text) for role, text in pairs])


HELLO = said(("user", "Hi!"), ("assistant", "Hello."))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello."}], HELLO, id="openai"
        ),
        pytest.param([{"from": "human", "value": "Hi!"}, {"from": "gpt", "value": "Hello."}], HELLO, id="sharegpt"),
        pytest.param([{"from": "Human", "value": "Hi!"}, {"from": "bot", "value": "Hello."}], HELLO, id="other words"),
        pytest.param(
            [
                {"role": "user", "content": "Hi!", "weight": None},
                {"role": "assistant", "content": "Hello.", "weight": 1},
            ],
            HELLO,
            id="more columns",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello."}]},
            HELLO,
            id="a row",
        ),
        pytest.param(
            {"conversations": [{"from": "human", "value": "Hi!"}, {"from": "gpt", "value": "Hello."}]},
            HELLO,
            id="a ShareGPT row",
        ),
        pytest.param(
            {"system": "S", "conversations": [{"from": "human", "value": "Hi!"}]},
            said(("system", "S"), ("user", "Hi!")),
            id="a system prompt beside it",
        ),
        pytest.param(
            {"system": "S", "messages": [{"role": "system", "content": "own"}, {"role": "user", "content": "Hi!"}]},
            said(("system", "own"), ("user", "Hi!")),
            id="a system prompt of its own",
        ),
        pytest.param({"prompt": "Hi!", "response": "Hello."}, HELLO, id="a pair"),
        pytest.param({"prompt": "Hi!", "completion": "Hello."}, HELLO, id="a completion"),
        pytest.param({"question": "Hi!", "answer": "Hello."}, HELLO, id="question and answer"),
        pytest.param({"instruction": "Hi!", "input": "", "output": "Hello."}, HELLO, id="alpaca"),
        pytest.param(
            {"instruction": "Add", "input": "1 and 2", "output": "3"},
            said(("user", "Add\n\n1 and 2"), ("assistant", "3")),
            id="alpaca with input",
        ),
        pytest.param(["Hi!", "Hello."], HELLO, id="texts in turn"),
        pytest.param("\n\nHuman: Hi!\n\nAssistant: Hello.", HELLO, id="transcript"),
        pytest.param("Hi!", said(("user", "Hi!")), id="a text"),
        pytest.param(HELLO, HELLO, id="typed"),
        pytest.param(HELLO.messages, HELLO, id="typed messages"),
        pytest.param(
            [{"role": "model", "parts": [{"text": "Hello."}]}],
            Conversation([Message("assistant", [Part("text", "Hello.")])]),
            id="gemini",
        ),
    ],
)
def test_any_usual_shape(value, expected):
    assert conversation(value) == expected


def test_metadata_of_a_conversation():
    assert conversation("Hi!", source="x").metadata == {"source": "x"}


# Transcripts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant: d",
            [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")],
        ),
        ("Human: a\n\nAssistant: b", [("user", "a"), ("assistant", "b")]),
        ("\n\nHuman: a\n\nAssistant:", [("user", "a"), ("assistant", "")]),
        ("\n\nH: a\n\nA: b", [("user", "a"), ("assistant", "b")]),
        # An answer may have paragraphs, and paragraphs that look like short markers.
        (
            "\n\nHuman: quiz\n\nAssistant: Q: what?\n\nA: this\n\nEnd",
            [("user", "quiz"), ("assistant", "Q: what?\n\nA: this\n\nEnd")],
        ),
        # A marker in the middle of a line is a word.
        (
            "\n\nHuman: write 'Assistant: hi'\n\nAssistant: Assistant: hi",
            [("user", "write 'Assistant: hi'"), ("assistant", "Assistant: hi")],
        ),
        ("\n\nHuman: one\nHuman: two\n\nAssistant: b", [("user", "one\nHuman: two"), ("assistant", "b")]),
        ("\n\nHuman: a\n\nHuman: b\n\nAssistant: c", [("user", "a"), ("user", "b"), ("assistant", "c")]),
        ("\n\nSystem: s\n\nHuman: a", [("system", "s"), ("user", "a")]),
        (
            "first\n<extra_id_1>Assistant\nanswer\n<extra_id_1>User\nsecond",
            [("user", "first"), ("assistant", "answer"), ("user", "second")],
        ),
    ],
)
def test_transcripts(text, expected):
    assert from_transcript(text) == said(*expected)


@pytest.mark.parametrize("text", ["", "hello", "Assistant without a colon", "x\n\nHuman: y"])
def test_a_text_that_is_no_transcript(text):
    with pytest.raises(InvalidRecordError, match="begins with"):
        from_transcript(text)


lines = st.text("ab :\n", max_size=12).map(str.strip).filter(lambda text: "\n\n" not in text)
talks = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), lines), min_size=1, max_size=5)


@given(talks)
def test_a_transcript_is_read_as_it_was_written(pairs):
    assert from_transcript(to_transcript(said(*pairs))) == said(*pairs)


def test_long_transcripts_take_linear_time():
    text = "\n\nHuman: " + "\n" * 200_000 + "\n\nHuman" * 20_000
    assert len(from_transcript(text)) == 1


# ShareGPT and OpenAI


@given(st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), chats.texts), max_size=5))
def test_sharegpt_is_read_as_it_was_written(messages):
    talk = Conversation(messages)
    assert from_sharegpt(to_sharegpt(talk)) == talk
    assert [turn["from"] for turn in to_sharegpt(talk) if turn["from"] in ("user", "assistant")] == []


@given(st.lists(chats.plain_messages, max_size=5))
def test_openai_is_read_as_it_was_written(messages):
    assert from_openai(to_openai(messages)).messages == messages


def test_openai_with_parts_and_tools():
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    wire = [
        {"role": "system", "content": "S"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG_URL}}],
            "name": "Ann",
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "3", "tool_call_id": "c1"},
    ]
    talk = from_openai(wire)
    assert talk.messages == [
        Message("system", "S"),
        Message("user", [Part("text", "see"), Part("image", image=Picture(PNG))], name="Ann"),
        Message("assistant", "", tool_calls=[call]),
        Message("tool", "3", tool_call_id="c1"),
    ]
    assert to_openai(talk.messages) == [wire[0], wire[1], {**wire[2], "content": ""}, wire[3]]
    assert to_anthropic(talk.messages) == {
        "system": "S",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_TEXT}},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "3"}]},
        ],
    }
    assert to_gemini(talk.messages) == {
        "system_instruction": {"parts": [{"text": "S"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "see"}, {"inline_data": {"mime_type": "image/png", "data": PNG_TEXT}}]},
            {"role": "model", "parts": [{"function_call": {"name": "add", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"function_response": {"name": "c1", "response": {"result": "3"}}}]},
        ],
    }


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "image_url", "image_url": {"url": PNG_URL}},
        {"type": "image_url", "image_url": PNG_URL},
        {"type": "input_image", "image_url": PNG_URL},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_TEXT}},
        {"inline_data": {"mime_type": "image/png", "data": PNG_TEXT}},
        {"type": "image", "image": {"bytes": PNG, "path": None}, "text": None},
        {"type": "image", "image": PNG},
        {"type": "image", "base64": PNG_TEXT},
        Part("image", image=Picture(PNG)),
    ],
)
def test_pictures_as_they_are_written_elsewhere(wire):
    assert message({"role": "user", "content": [wire]}) == Message("user", [Part("image", image=Picture(PNG))])


@pytest.mark.parametrize(
    "wire",
    [
        {"type": "image", "source": {"type": "url", "url": "https://x/y"}},
        {"type": "image", "url": "https://x/y", "text": None},
    ],
)
def test_pictures_that_are_elsewhere(wire):
    (part,) = message({"role": "user", "content": [wire]}).content
    assert part.image == Picture(path="https://x/y")
    assert to_openai([Message("user", [part])])[0]["content"][0]["image_url"] == {"url": "https://x/y"}
    assert to_anthropic([Message("user", [part])])["messages"][0]["content"][0]["source"] == {
        "type": "url",
        "url": "https://x/y",
    }
    assert to_gemini([Message("user", [part])])["contents"][0]["parts"] == [{"file_data": {"file_uri": "https://x/y"}}]


def test_a_pillow_image_becomes_bytes():
    pil = pytest.importorskip("PIL.Image")
    assert picture(pil.new("L", (1, 1))).mime_type == "image/png"


@pytest.mark.parametrize("send", [to_openai, to_anthropic, to_gemini])
def test_files_of_this_machine_are_not_sent_because_a_dataset_names_them(send):
    with pytest.raises(InvalidRecordError, match="/etc/passwd"):
        send([Message("user", [Part("image", image=Picture(path="/etc/passwd"))])])


@pytest.mark.parametrize("send", [to_anthropic, to_gemini])
def test_roles_that_a_provider_does_not_have(send):
    with pytest.raises(InvalidRecordError, match="narrator"):
        send([Message("narrator", "x")])


@given(st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), chats.texts), max_size=5))
def test_no_words_are_lost_on_the_way_to_a_provider(messages):
    texts = [one.text for one in messages if one.role != "system"]
    assert [one["content"] for one in to_anthropic(messages)["messages"]] == texts
    assert ["".join(part["text"] for part in one["parts"]) for one in to_gemini(messages)["contents"]] == texts
    assert ("system" in to_anthropic(messages)) == any(one.role == "system" for one in messages)


# Pairs


def test_pairs():
    assert from_pair("Hi!", "Hello.") == HELLO
    assert from_pair("Hi!") == said(("user", "Hi!"))
    assert from_pair("Hi!", "Hello.", "S") == said(("system", "S"), ("user", "Hi!"), ("assistant", "Hello."))
    assert from_pair(HELLO.messages, "Bye.") == Conversation([*HELLO.messages, Message("assistant", "Bye.")])


# What is wrong is said


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([{"content": "x"}], "role or from"),
        ([{"role": "user"}], "content or value"),
        ([{"role": "user", "content": None}], "content or value"),
        ([{"role": "user", "content": 3}], "not a name and words"),
        ([{"role": 3, "content": "x"}], "not a name and words"),
        ([3], "a message is a dict"),
        (3, "int has no known shape"),
        ({"text": "x"}, "the record has text"),
        ([{"role": "user", "content": [{"type": "audio", "audio": "x"}]}], "'audio' is not known"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "no picture among type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "needs `text`"),
        ([{"role": "user", "content": [{"type": "image", "image": "data:x"}]}], "not a data URL"),
        ([{"role": "user", "content": [{"type": "image", "base64": "%"}]}], "not base64"),
        ([{"role": "user", "content": [3]}], "not int"),
    ],
)
def test_what_is_no_chat(value, told):
    with pytest.raises(InvalidRecordError, match=told):
        conversation(value)


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n", "\r\n"])
def test_turns_are_found_whatever_stands_between_them(gap):
    talk = conversation(f"Human: Hi!{gap}Assistant: A: yes.{gap}Human: Why?{gap}Assistant: So.")
    assert [(one.role, one.text) for one in talk.messages] == [
        ("user", "Hi!"),
        ("assistant", "A: yes."),
        ("user", "Why?"),
        ("assistant", "So."),
    ]


def test_a_line_that_looks_like_a_turn_is_a_line_where_turns_are_paragraphs():
    talk = from_transcript("\n\nHuman: What is this?\nHuman: a word\n\nAssistant: A species.\nHuman: yes")
    assert [one.text for one in talk.messages] == ["What is this?\nHuman: a word", "A species.\nHuman: yes"]
