"""Strategies for messages, samples and what they are made of."""

from hypothesis import strategies as st

from crucible_datasets.benchmarks import (
    Comparison,
    Conversation,
    LabeledComparison,
    Message,
    Part,
    Picture,
    Rubric,
    Sample,
)

# Texts that look like JSON, numbers or nothing must stay what they are.
texts = st.text(max_size=20) | st.sampled_from(["42", "null", "[1]", '"a"', "{}", "NaN", " ", "\n\nHuman: x"])
words = texts.filter(bool)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
metadata = st.dictionaries(st.text("abcxyz_. é", min_size=1, max_size=5), trees, max_size=3)
roles = st.sampled_from(["system", "user", "assistant", "tool", "narrator"])

pictures = st.builds(Picture, bytes=st.none() | st.binary(max_size=8), path=st.none() | words)
parts = st.builds(Part, st.just("text"), texts) | st.builds(lambda image: Part("image", image=image), pictures)
plain_messages = st.builds(Message, roles, texts)
calls = st.lists(
    st.fixed_dictionaries({"id": words, "function": st.dictionaries(words, texts, max_size=2)}), min_size=1
)
messages = plain_messages | st.builds(
    Message, roles, texts | st.lists(parts, max_size=3), st.none() | words, st.none() | calls, st.none() | words
)
conversations = st.builds(Conversation, st.lists(messages, max_size=4), metadata)
said = texts | st.lists(messages, max_size=3)
comparisons = st.builds(Comparison, said, said, said, metadata)
margins = st.none() | st.floats(0, 10)
labeled = st.builds(LabeledComparison, comparisons, st.sampled_from(["a", "b"]), margins) | st.builds(
    LabeledComparison, comparisons, st.just("tie"), st.sampled_from([None, 0.0])
)
rubrics = st.builds(Rubric, texts, st.dictionaries(st.integers(-5, 10), texts, max_size=5), st.none() | texts)

ids = st.integers(-(2**53), 2**53) | texts
inputs = words | st.lists(plain_messages, min_size=1, max_size=3)
targets = texts | st.lists(texts, max_size=3)
choices = st.none() | st.lists(texts, max_size=4)
samples = st.builds(Sample, ids, inputs, targets, choices, metadata)


@st.composite
def choice_questions(draw):
    """A sample with choices that differ, and a target that names one of them by letter, index or text."""
    options = draw(st.lists(st.text("abcdefgh", min_size=2, max_size=5), min_size=1, max_size=30, unique=True))
    right = draw(st.integers(0, len(options) - 1))
    kind = draw(st.sampled_from(["letter", "index", "text"] if len(options) <= 26 else ["letter", "text"]))
    return Sample(draw(ids), draw(words), named(right, options, kind), options), right, kind


def named(place, options, kind):
    letter = chr(65 + place) if place < 26 else str(place - 25)
    return {"letter": letter, "index": str(place), "text": options[place]}[kind]
