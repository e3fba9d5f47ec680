"""Prompts: templates fill their places and nothing else; examples are seeded and never the question itself."""

import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets.benchmarks import (
    FewShot,
    Message,
    Part,
    Picture,
    Prompt,
    Sample,
    StreamedSamples,
    Template,
    laid_out,
    samples_from,
)
from crucible_datasets.benchmarks.rendering import LAYOUTS, PROVIDERS
from crucible_datasets.exceptions import (
    ArgumentError,
    InvalidRecordError,
    MissingFieldError,
    TemplateError,
    UnknownEntryError,
)

QUESTION = Sample("q1", "Which?", "B", ["red", "blue"], {"subject": "art", "deep": {"er": 3}})
POOL = samples_from([Sample(n, f"example {n}", str(n), None, {"subject": "ab"[n % 2]}) for n in range(20)])


# Templates


def test_places_are_filled():
    template = Template(
        "{{x}} {metadata.subject}/{metadata.deep.er}: {input}\n{choices}\nOne of {letters} for {id}: {target}"
    )
    assert template.text(QUESTION) == "{x} art/3: Which?\nA. red\nB. blue\nOne of A, B for q1: B"


@given(chats.words, chats.texts)
def test_values_are_not_templates(text, target):
    sample = Sample(1, text, target)
    assert Template("{input}|{target}").text(sample) == f"{text}|{target}"
    assert Template("{input}").text(Sample(1, "{target} {0} {{}}")) == "{target} {0} {{}}"


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("{question}", "no field 'question'"),
        ("{metadata.level}", "no 'metadata.level'.*metadata.subject"),
        ("{metadata}", "no field 'metadata'"),
        ("{input.__class__}", "no 'input.__class__'"),
        ("{input!r}", "nothing else"),
        ("{input:>10}", "nothing else"),
        ("{}", "nothing else"),
        ("{input", "expected"),
        ("}", "Single"),
    ],
)
def test_a_place_that_nothing_fills(pattern, told):
    with pytest.raises(TemplateError, match=told) as caught:
        Template(pattern).text(QUESTION)
    assert isinstance(caught.value, ValueError) and pickle.loads(pickle.dumps(caught.value)).template == pattern


@pytest.mark.parametrize("name", LAYOUTS)
@given(options=st.lists(st.text("abc", min_size=1), max_size=30))
def test_every_layout_has_a_line_for_every_choice(name, options):
    lines = laid_out(options, name).splitlines()
    assert len(lines) == len(options)
    assert all(line.endswith(f" {option}") for line, option in zip(lines, options, strict=True))
    assert name == "-" or len({line.split(" ")[0] for line in lines}) == len(options)


def test_layouts():
    assert laid_out(["x", "y"], "(A)") == "(A) x\n(B) y"
    assert laid_out(["x"], lambda place, text: f"<{place}>{text}") == "<0>x"
    with pytest.raises(UnknownEntryError, match="A\\."):
        laid_out(["x"], "a.")


# Examples


@pytest.mark.parametrize("pick", ["each", "same", "first"])
@given(seed=st.integers(0, 999), k=st.integers(0, 19), place=st.integers(0, 19))
def test_the_row_itself_is_never_an_example(pick, seed, k, place):
    shots = FewShot(POOL, k, seed, pick)
    examples = shots.examples(POOL[place])
    assert len({example.id for example in examples}) == k
    assert POOL[place] not in examples
    assert examples == FewShot(POOL, k, seed, pick).examples(POOL[place])


def test_the_same_question_under_another_id_is_no_example():
    pool = samples_from([Sample("copy", "Which?", "A", ["blue", "red"]), Sample("other", "Which?", "A", ["green"])])
    assert [one.id for one in FewShot(pool, 1).examples(QUESTION)] == ["other"]
    with pytest.raises(ArgumentError, match="there are 1 samples"):
        FewShot(pool, 2).examples(QUESTION)


def test_pictures_tell_questions_apart():
    def seen(id, data):
        return Sample(id, [Message("user", [Part("text", "What?"), Part("image", image=Picture(data))])])

    assert FewShot([seen(1, b"a"), seen(2, b"b")], 1).examples(seen(3, b"a")) == [seen(2, b"b")]


def test_how_examples_are_picked():
    questions = [Sample(f"q{n}", f"new {n}") for n in range(50)]
    same = {tuple(one.id for one in FewShot(POOL, 3, 1, "same").examples(question)) for question in questions}
    each = {tuple(one.id for one in FewShot(POOL, 3, 1, "each").examples(question)) for question in questions}
    assert len(same) == 1 and len(each) > 40
    assert [one.id for one in FewShot(POOL, 3, pick="first").examples(POOL[1])] == [0, 2, 3]
    assert FewShot(POOL, 3, 1).examples(questions[0]) != FewShot(POOL, 3, 2).examples(questions[0])


def test_every_sample_is_drawn_about_as_often():
    shots = FewShot(POOL, 2)
    counts = Counter(example.id for n in range(500) for example in shots.examples(Sample(f"q{n}", "new")))
    assert len(counts) == 20 and all(20 < count < 80 for count in counts.values())


def test_examples_of_the_same_subject():
    shots = FewShot(POOL, 5, by="metadata.subject")
    assert {one.metadata["subject"] for one in shots.examples(POOL[3])} == {"b"}
    with pytest.raises(ArgumentError, match="metadata.subject = 'art'"):
        shots.examples(QUESTION)


@pytest.mark.parametrize("options", [{"pick": "best"}, {"k": -1}])
def test_what_cannot_be_picked(options):
    with pytest.raises(ArgumentError):
        FewShot(POOL, **options)


# Prompts


def test_a_question_alone():
    assert Prompt().messages(Sample(1, "Why?")) == [Message("user", "Why?")]
    assert Prompt().text(QUESTION) == "Which?\n\nA. red\nB. blue"
    assert Prompt(layout="(A)").messages(QUESTION) == [Message("user", "Which?\n\n(A) red\n(B) blue")]


def test_examples_as_turns_and_as_text():
    shots = FewShot(samples_from([Sample("e", "One?", "A", ["x", "y"])]), 1)
    prompt = Prompt(
        "Q: {input}\n{choices}\nA:", answer=" {target}", system="Be brief.", examples=shots, before_answer=""
    )
    assert prompt.messages(QUESTION) == [
        Message("system", "Be brief."),
        Message("user", "Q: One?\nA. x\nB. y\nA:"),
        Message("assistant", " A"),
        Message("user", "Q: Which?\nA. red\nB. blue\nA:"),
    ]
    text = "Q: One?\nA. x\nB. y\nA: A\n\nQ: Which?\nA. red\nB. blue\nA:"
    assert prompt.text(QUESTION) == f"Be brief.\n\n{text}"
    as_text = Prompt(prompt.template, prompt.answer, examples=shots, style="text", before_answer="")
    assert as_text.messages(QUESTION) == [Message("user", text)]


def test_a_conversation_keeps_its_turns_and_pictures():
    picture = Part("image", image=Picture(b"\x89PNG"))
    talk = [
        Message("system", "S"),
        Message("user", "a"),
        Message("assistant", "b"),
        Message("user", [Part("text", "c"), picture]),
    ]
    sample = Sample(1, talk)
    assert Prompt().messages(sample) == talk
    changed = Prompt("Q: {input}").messages(sample)
    assert changed == [*talk[:3], Message("user", [picture, Part("text", "Q: c")])]
    assert Prompt(system="other").messages(sample) == [Message("system", "other"), *talk[1:]]
    for write in (Prompt().text, Prompt(style="text").messages):
        with pytest.raises(InvalidRecordError, match="sample 1 has pictures"):
            write(sample)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(chats.choice_questions())
def test_every_provider_gets_every_word(provider, question):
    sample, _, _ = question
    request = Prompt(system="S").request(sample, provider)
    told = strings(request)
    assert "S" in told and any(all(option in text for option in sample.choices) for text in told)


def strings(value):
    """Every text in a request."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value
    return [text for one in inner for text in strings(one)]


def test_an_unknown_provider():
    with pytest.raises(UnknownEntryError, match="anthropic"):
        Prompt().request(QUESTION, "antropic")


def test_a_stream_is_no_pool():
    stream = samples_from([Sample(1, "a", "b"), Sample(2, "c", "d")]).dataset.to_iterable_dataset()
    with pytest.raises(TypeError, match="a stream is no pool"):
        FewShot(StreamedSamples(stream))
    assert FewShot(list(StreamedSamples(stream)), k=1).examples(Sample(3, "e"))[0].id in (1, 2)


def test_examples_by_a_field_that_is_not_there():
    pool = samples_from([Sample(1, "a", metadata={"subject": "x"}), Sample(2, "b", metadata={"subject": "x"})])
    with pytest.raises(MissingFieldError, match="Did you mean 'metadata.subject'"):
        FewShot(pool, k=1, by="metadata.subjct").examples(pool[0])


def test_examples_by_a_field_that_is_not_there_name_those_that_are():
    pool = [Sample(id=number, input=f"{number}?", target="1", metadata={"subject": "a"}) for number in range(3)]
    with pytest.raises(MissingFieldError, match=r"metadata\.subject"):
        FewShot(pool, 1, by="metadata.subjct").examples(pool[0])
