"""Samples of inspect_ai come and go without loss."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets.benchmarks import (
    Message,
    Part,
    Picture,
    Sample,
    from_inspect,
    load_samples,
    samples_from,
    to_inspect,
    to_inspect_dataset,
)
from crucible_datasets.exceptions import InvalidRecordError

theirs = pytest.importorskip("inspect_ai.dataset")
model = pytest.importorskip("inspect_ai.model")

known = st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), chats.texts)
samples = st.builds(
    Sample,
    chats.ids,
    chats.words | st.lists(known, min_size=1, max_size=3),
    chats.targets,
    chats.choices,
    chats.metadata,
)


@given(samples)
def test_a_sample_comes_back_the_same(sample):
    assert from_inspect(to_inspect(sample)) == sample


def test_what_only_inspect_knows_comes_back():
    given_ = theirs.Sample(
        input="q", target="t", id=3, files={"a.txt": "b"}, setup="ls", sandbox="docker", metadata={"k": 1}
    )
    ours = from_inspect(given_)
    assert ours.metadata["k"] == 1 and ours.id == 3
    back = to_inspect(ours)
    assert (back.files, back.setup, back.metadata) == (given_.files, given_.setup, given_.metadata)
    assert back.sandbox == given_.sandbox
    composed = theirs.Sample(input="q", id=1, sandbox=("docker", "compose.yaml"))
    assert to_inspect(from_inspect(composed)).sandbox == composed.sandbox
    assert from_inspect(to_inspect(samples_from([ours])[0])) == ours


def test_messages_with_pictures_and_tools():
    png = b"\x89PNG...."
    url = "data:image/png;base64," + base64.b64encode(png).decode()
    call = {"id": "1", "function": "add", "arguments": {"a": 1}, "type": "function"}
    given_ = theirs.Sample(
        id=1,
        input=[
            model.ChatMessageSystem(content="S"),
            model.ChatMessageUser(content=[model.ContentText(text="see"), model.ContentImage(image=url)]),
            model.ChatMessageAssistant(content="", tool_calls=[call]),
            model.ChatMessageTool(content="3", tool_call_id="1"),
        ],
    )
    ours = from_inspect(given_)
    assert ours.input == [
        Message("system", "S"),
        Message("user", [Part("text", "see"), Part("image", image=Picture(png))]),
        Message("assistant", "", tool_calls=[call]),
        Message("tool", "3", tool_call_id="1"),
    ]
    assert from_inspect(to_inspect(ours)) == ours


def test_lists_of_theirs_are_loaded():
    given_ = [theirs.Sample(input="a"), theirs.Sample(input="b", id="own")]
    assert list(load_samples(given_)) == [Sample(1, "a"), Sample("own", "b")]
    assert list(load_samples(theirs.MemoryDataset(given_), auto_id=True)) == [Sample(1, "a"), Sample(2, "b")]
    assert list(load_samples([{"n": 1}], lambda row: theirs.Sample(input="a", id=row["n"]))) == [Sample(1, "a")]


def test_a_dataset_for_their_tasks():
    made = to_inspect_dataset(samples_from([Sample(1, "a", "b")], "mine"))
    assert (made.name, len(made), made[0].target) == ("mine", 1, "b")


def test_what_has_no_place_there():
    with pytest.raises(InvalidRecordError, match="narrator"):
        to_inspect(Sample(1, [Message("narrator", "x")]))
    with pytest.raises(InvalidRecordError, match="no id"):
        from_inspect(theirs.Sample(input="a"))
    reasoning = model.ChatMessageAssistant(content=[model.ContentReasoning(reasoning="hm")])
    with pytest.raises(InvalidRecordError, match="'reasoning'"):
        from_inspect(theirs.Sample(input=[reasoning], id=1))
