"""`Samples` is a sequence over a dataset: whatever is done to it means what it means on a list of samples."""

import json
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import chats

from crucible_datasets import Dataset, Features, Image, IterableDataset, Json, List, Value
from crucible_datasets.benchmarks import (
    Comparison,
    Conversation,
    LabeledComparison,
    Message,
    Part,
    Picture,
    Provenance,
    Sample,
    Samples,
    StreamedSamples,
    sample_features,
    samples_from,
    samples_of,
)
from crucible_datasets.benchmarks.samples.shuffling import with_shuffled_choices
from crucible_datasets.exceptions import (
    ArgumentError,
    BadRowError,
    ColumnNotFoundError,
    InvalidRecordError,
    MissingFieldError,
    RowIndexError,
)

many = st.lists(chats.samples, max_size=8)
QUESTIONS = [Sample(n, f"question {n}", str(n), None, {"level": n % 3}) for n in range(1000)]


def streamed(samples):
    return StreamedSamples(samples.dataset.to_iterable_dataset(), samples.name)


# A sequence


@given(many, st.data())
def test_it_is_read_as_a_list_is(samples, data):
    made = samples_from(samples)
    assert len(made) == len(samples) and list(made) == samples and list(reversed(made)) == samples[::-1]
    part = data.draw(st.slices(len(samples)))
    assert list(made[part]) == samples[part]
    for place in range(-len(samples), len(samples)):
        assert made[place] == samples[place]
    for sample in samples:
        assert sample in made and made.index(sample) == samples.index(sample)


def test_a_row_that_is_not_there():
    with pytest.raises(RowIndexError):
        samples_from(QUESTIONS[:3])[3]


STEPS = {
    "filter": (
        lambda made: made.filter(lambda one: len(one.targets) < 2),
        lambda rows: [one for one in rows if len(one.targets) < 2],
    ),
    "sort": (
        lambda made: made.sort(lambda one: one.input_text),
        lambda rows: sorted(rows, key=lambda one: one.input_text),
    ),
    "length": (lambda made: made.sort(), lambda rows: sorted(rows, key=lambda one: len(one.input_text))),
    "down": (
        lambda made: made.sort(lambda one: str(one.id), reverse=True),
        lambda rows: sorted(rows, key=lambda one: str(one.id), reverse=True),
    ),
    "take": (lambda made: made.take(3), lambda rows: rows[:3]),
    "skip": (lambda made: made.skip(1), lambda rows: rows[1:]),
    "slice": (lambda made: made[::-2], lambda rows: rows[::-2]),
    "select": (lambda made: made.select([0, 0] if len(made) else []), lambda rows: rows[:1] * 2),
}


@given(many, st.lists(st.sampled_from(sorted(STEPS)), max_size=4))
def test_any_chain_matches_a_list(samples, names):
    made, rows = samples_from(samples), samples
    for name in names:
        ours, theirs = STEPS[name]
        made, rows = ours(made), theirs(rows)
    assert list(made) == rows


@given(many, st.integers(0, 2**32 - 1))
def test_shuffling_is_that_of_the_dataset(samples, seed):
    made = samples_from(samples).shuffle(seed=seed)
    order = Dataset.from_dict({"n": list(range(len(samples)))}).shuffle(seed=seed)["n"]
    assert list(made) == [samples[place] for place in order]


def test_long_tables_are_read_in_blocks():
    made = samples_from(QUESTIONS)
    assert list(made) == QUESTIONS
    assert sorted(made.shuffle(seed=3), key=lambda one: one.id) == QUESTIONS
    assert made.sort("metadata.level")[0].metadata == {"level": 0}


def test_the_dataset_underneath_is_a_normal_one():
    made = samples_from(QUESTIONS[:5])
    assert isinstance(made.dataset, Dataset)
    assert made.dataset.features == Features(
        {
            "id": Value("int64"),
            "input": Value("string"),
            "target": Value("string"),
            "choices": List(Value("string")),
            "metadata": {"level": Value("int64")},
        }
    )
    assert made.dataset[1] == {"id": 1, "input": "question 1", "target": "1", "choices": None, "metadata": {"level": 1}}


def test_a_column_is_that_of_the_dataset():
    samples = samples_from(QUESTIONS[:4])
    assert samples["target"][:] == ["0", "1", "2", "3"]
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'target'"):
        samples["targets"]


def test_what_only_the_dataset_can_do_is_said_to_be_there():
    samples = samples_from(QUESTIONS[:4])
    with pytest.raises(AttributeError, match=r"no attribute 'map'; its rows are a Dataset, which has: \.dataset\.map$"):
        samples.map(len)
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        samples.nothing
    assert not hasattr(samples, "_nothing") and pickle.loads(pickle.dumps(samples))[1] == QUESTIONS[1]


def test_metadata_of_several_shapes_is_json():
    made = samples_from([Sample(1, "a", metadata={"x": 1}), Sample(2, "b", metadata={"y": "z"})])
    assert made.dataset.features["metadata"] == Json()


@settings(max_examples=10)
@given(many)
def test_files_give_the_same_samples_back(tmp_path_factory, samples):
    made, folder = samples_from(samples), tmp_path_factory.mktemp("files")
    made.dataset.save_to_disk(folder / "saved")
    made.dataset.to_parquet(folder / "rows.parquet")
    assert list(Samples(Dataset.load_from_disk(folder / "saved"))) == samples
    assert list(Samples(Dataset.from_parquet(str(folder / "rows.parquet")))) == samples


@given(many)
def test_samples_travel(samples):
    made = pickle.loads(pickle.dumps(samples_from(samples, "n")))
    assert list(made) == samples and made.name == "n"


def test_a_class_of_ones_own_stays_what_it_is():
    class Marked(Samples):
        mark: str

    made = samples_from(QUESTIONS[:9]).seen_as(Marked, mark="x")
    for other in (made.shuffle(seed=1), made[2:4], made.filter(lambda one: one.id > 3), made.shuffle_choices(1)):
        assert type(other) is Marked and other.mark == "x"


def test_repr():
    assert repr(samples_from(QUESTIONS[:2], "demo")) == "Samples('demo', 2 samples)"


# Arrow of other makers


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_any_kind_of_text_column(kind):
    table = pa.table(
        {
            "id": pa.array(["x", "y"], kind),
            "input": pa.array(["a", "b"], kind),
            "target": pa.array([None, "t"], kind),
            "choices": pa.array([None, ["p", "q"]], pa.large_list(kind)),
            "metadata": pa.array([None, {"k": 1}]),
        }
    )
    assert list(Samples(Dataset(table))) == [Sample("x", "a"), Sample("y", "b", "t", ["p", "q"], {"k": 1})]


def test_messages_with_more_than_words():
    rows = [
        Sample(1, [Message("user", "hi", name="Ann"), Message("assistant", "", tool_calls=[{"id": "1"}])]),
        Sample(2, [Message("tool", "3", tool_call_id="1")]),
    ]
    assert list(samples_from(rows)) == rows


def test_pictures_keep_their_bytes():
    pil = pytest.importorskip("PIL.Image")
    import io

    buffer = io.BytesIO()
    pil.new("L", (2, 2)).save(buffer, format="JPEG")
    rows = [Sample(1, [Message("user", [Part("text", "see"), Part("image", image=Picture(buffer.getvalue()))])], "cat")]
    features = sample_features(id=Value("int64"), parts=True)
    made = samples_of(Dataset.from_dict({"n": [0]}), lambda row: rows[row["n"]], features)
    assert list(made) == rows
    assert made.dataset.features["input"].feature["content"].feature["image"] == Image()
    assert made.dataset[0]["input"][0]["content"][1]["image"].size == (2, 2)
    assert list(streamed(made)) == rows and made[0].messages[0].images[0].decoded().size == (2, 2)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("id", [None]),
        ("input", [None]),
        ("input", [[{"role": "user"}]]),
        ("input", [3]),
        ("choices", [[1]]),
        ("target", [1.5]),
    ],
)
def test_columns_of_other_types_are_refused(column, values):
    columns = {"id": [1], "input": ["x"], "target": ["y"], "choices": [["a"]], "metadata": [{"a": 1}]} | {
        column: values
    }
    with pytest.raises(InvalidRecordError):
        list(Samples(Dataset.from_dict(columns)))


@pytest.mark.parametrize("stream", [False, True])
def test_texts_that_look_like_json_stay_texts_in_columns_of_json(stream):
    rows = [Sample("1", "42", "null", ["x", "y"]), Sample(2, [Message("user", "{}")], ["A", "[1]"], ["x", "y"])]
    features = Features({**sample_features(), "id": Json(), "input": Json(), "target": Json()})
    source = Dataset.from_dict({"n": [0, 1]})
    made = samples_of(source.to_iterable_dataset() if stream else source, lambda row: rows[row["n"]], features)
    assert list(made) == rows
    for seed in range(3):
        assert list(made.shuffle_choices(seed)) == [with_shuffled_choices(row, seed) for row in rows]


def test_pictures_beside_words():
    seen = Message("user", [Part("text", "see"), Part("image", image=Picture(b"\x89PNG\xff"))])
    made = samples_from([Sample(1, [Message("system", "S"), seen]), Sample(2, "words")])
    assert made[0].input == [Message("system", [Part("text", "S")]), seen]
    assert made[1].input == [Message("user", [Part("text", "words")])]
    assert made.dataset.features["input"] == sample_features(parts=True)["input"]
    named = seen.replace(name="Ann")
    assert samples_from([Sample(1, [named])])[0].input == [named]


def test_a_dataset_without_the_columns_lists_what_it_has():
    with pytest.raises(MissingFieldError, match=r"demo, field 'input'.*Available: id, question") as caught:
        Samples(Dataset.from_dict({"id": [1], "question": ["x"]}), "demo")
    assert isinstance(caught.value, KeyError) and (caught.value.field, caught.value.dataset) == ("input", "demo")
    assert pickle.loads(pickle.dumps(caught.value)).available == ["id", "question"]


# Provenance


@given(many)
def test_the_hash_does_not_depend_on_how_samples_are_stored(samples):
    made = samples_from(samples)
    whole = made.content_hash
    metadata = [sample.metadata for sample in samples]
    as_json = made.dataset.remove_columns("metadata").add_column("metadata", metadata, feature=Json())
    assert Samples(as_json).content_hash == whole
    assert samples_from([*samples, *samples])[: len(samples)].content_hash == whole


@given(st.lists(chats.samples, min_size=2, max_size=5), st.randoms())
def test_the_hash_depends_on_content_and_order(samples, random):
    whole = samples_from(samples).content_hash
    other = random.sample(samples, len(samples))
    assert (samples_from(other).content_hash == whole) == (other == samples)
    changed = [samples[0].replace(target="…something else…"), *samples[1:]]
    assert samples_from(changed).content_hash != whole
    assert samples_from(samples[1:]).content_hash != whole


def test_the_hash_is_a_fact():
    # Worked out with sha256sum of the two lines of JSON.
    import hashlib

    lines = b'{"choices":null,"id":1,"input":"a","metadata":{"b":2,"c":"\xc3\xa9"},"target":"t"}\n'
    lines += b'{"choices":["x"],"id":"2","input":[{"content":"q","role":"user"}],"metadata":{},"target":["u","v"]}\n'
    rows = [Sample(1, "a", "t", None, {"c": "é", "b": 2}), Sample("2", [Message("user", "q")], ["u", "v"], ["x"])]
    assert samples_from(rows).content_hash == hashlib.sha256(lines).hexdigest()


def test_another_process_gets_the_same_hash():
    code = "from crucible_datasets.benchmarks import *; print(samples_from([Sample(1, 'a', metadata={'b': 1, 'a': [2.5]})]).content_hash)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == samples_from([Sample(1, "a", metadata={"a": [2.5], "b": 1})]).content_hash


def test_provenance_is_carried_along():
    known = Provenance(source="org/x", revision="abc", split="test", rules=["r@1"])
    made = samples_of(
        Dataset.from_dict({"q": ["a", "b"]}), lambda row: {"id": row["q"], "input": row["q"]}, provenance=known
    )
    assert made.provenance == known.replace(num_rows=2, content_hash=made.content_hash)
    assert made[:1].provenance.num_rows == 1 and made[:1].provenance.content_hash != made.content_hash
    assert Provenance.from_json(made.provenance.to_json()) == made.provenance


# Rows that do not fit

ROWS = Dataset.from_dict({"q": ["a", "", "c", "d"], "n": [1, 2, 3, 4]})


def asked(row):
    if row["n"] == 3:
        raise ValueError("three is not allowed")
    return {"id": row["n"], "input": row["q"]}


@pytest.mark.parametrize("source", [ROWS, ROWS.to_iterable_dataset()], ids=["table", "stream"])
def test_a_row_that_does_not_fit_is_named(source):
    with pytest.raises(BadRowError, match=r"demo, row 1.*input is empty.*on_bad_rows='skip'") as caught:
        list(samples_of(source, asked, name="demo"))
    assert (caught.value.dataset, caught.value.row) == ("demo", 1)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("source", [ROWS, ROWS.to_iterable_dataset()], ids=["table", "stream"])
def test_rows_that_are_left_out_are_counted(source):
    made = samples_of(source, asked, name="demo", on_bad_rows="skip")
    for _ in range(2):
        assert [one.id for one in made] == [1, 4]
        assert made.skipped == made.provenance.skipped == 2


def test_rows_that_are_left_out_can_be_looked_at():
    made = samples_of(ROWS, asked, name="demo", on_bad_rows="skip")
    assert made.bad_rows["index"][:] == [1, 2]
    assert "three is not allowed" in made.bad_rows["exception"][1]


@pytest.mark.parametrize(
    ("fields", "column"),
    [
        ({"target": 3}, "target"),
        ({"choices": "ab"}, "choices"),
        ({"id": None}, "id"),
        ({"input": [{"role": "user"}]}, "input"),
    ],
)
def test_a_field_of_another_type_is_named(fields, column):
    with pytest.raises(BadRowError) as caught:
        samples_of(ROWS, lambda row: {"id": 1, "input": "x", **fields}, name="demo")
    assert (caught.value.row, caught.value.column) == (0, column)


def test_no_row_fits():
    made = samples_of(ROWS, lambda row: {"id": 1}, on_bad_rows="skip")
    assert (len(made), made.skipped, list(made)) == (0, 4, [])


def test_another_word_for_bad_rows_is_refused():
    with pytest.raises(ArgumentError, match="'error' or 'skip'"):
        samples_of(ROWS, asked, on_bad_rows="ignore")


def test_no_rows_at_all():
    made = samples_of(ROWS.take(0), asked)
    assert list(made) == [] and made.dataset.column_names == ["id", "input", "target", "choices", "metadata"]
    assert list(samples_from([])) == [] and samples_from([]).content_hash == made.content_hash


# Streams


@given(many.filter(bool))
def test_a_stream_gives_the_same_samples(samples):
    made = samples_from(samples)
    stream = streamed(made)
    assert isinstance(stream.dataset, IterableDataset)
    assert list(stream) == samples and list(stream.take(2)) == samples[:2] and list(stream.skip(1)) == samples[1:]
    few = lambda one: len(one.targets) < 2  # noqa: E731
    assert list(stream.filter(few)) == list(made.filter(few))
    assert sorted(map(repr, stream.shuffle(seed=1, buffer_size=3))) == sorted(map(repr, made))


@given(st.lists(chats.choice_questions(), min_size=1, max_size=4), st.integers(0, 99))
def test_a_stream_shuffles_choices_as_a_table_does(questions, seed):
    made = samples_from([sample for sample, _, _ in questions])
    assert list(streamed(made).shuffle_choices(seed)) == list(made.shuffle_choices(seed))


def test_a_stream_gives_all_samples_before_the_one_that_fails():
    rows = Dataset.from_dict({"n": list(range(300))}).to_iterable_dataset()
    seen = []
    with pytest.raises(BadRowError, match="row 290"):
        for sample in samples_of(rows, lambda row: {"id": row["n"], "input": "" if row["n"] == 290 else "x"}):
            seen.append(sample.id)
    assert seen == list(range(290))


@pytest.mark.parametrize("bad", ["error", "skip"])
def test_a_stream_goes_on_from_every_sample(bad):
    rows = Dataset.from_dict({"n": list(range(9))}).to_iterable_dataset(num_shards=3)

    def made():
        return samples_of(rows, lambda row: {"id": row["n"], "input": "x"}, on_bad_rows=bad).shuffle(
            seed=2, buffer_size=4
        )

    whole = [sample.id for sample in made()]
    for place in range(1, len(whole) + 1):
        first, again = made(), made()
        seen = [sample.id for _, sample in zip(range(place), first, strict=False)]
        again.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert seen + [sample.id for sample in again] == whole


def test_a_stream_does_not_know_how_long_it_is():
    stream = streamed(samples_from(QUESTIONS[:3], "s"))
    assert repr(stream) == "StreamedSamples('s')" and stream.provenance.num_rows is None
    with pytest.raises(TypeError):
        len(stream)


# Read as conversations and comparisons


def test_conversations_end_with_the_target():
    made = samples_from(
        [Sample(1, [Message("user", "hi")], "yo", metadata={"k": 1}), Sample(2, [Message("user", "a")])]
    )
    assert list(made.conversations()) == [
        Conversation([Message("user", "hi"), Message("assistant", "yo")], {"k": 1}),
        Conversation([Message("user", "a")]),
    ]


def preference(target, **metadata):
    return Sample(1, [Message("user", "p")], target, ["one", "two"], metadata)


@pytest.mark.parametrize(("target", "side"), [("A", "a"), ("B", "b"), ("tie", "tie"), ("0", "a"), ("1", "b")])
def test_comparisons_take_the_side_of_the_target(target, side):
    (judged,) = samples_from([preference(target, margin=2.0 if side != "tie" else None)]).comparisons()
    pair = Comparison([Message("user", "p")], "one", "two", judged.comparison.metadata)
    assert judged == LabeledComparison(pair, side, 2.0 if side != "tie" else None)


def test_comparisons_of_several_turns_follow_their_choices():
    first = [{"role": "user", "content": "p"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]
    a, b = [*first, {"role": "assistant", "content": "one"}], [*first, {"role": "assistant", "content": "two"}]
    sample = preference("A", conversation_a=a, conversation_b=b)
    (judged,) = samples_from([sample]).comparisons()
    assert [one.text for one in judged.chosen] == ["x", "y", "one"]
    for seed in range(4):
        (other,) = samples_from([sample]).shuffle_choices(seed).comparisons()
        assert other.chosen == judged.chosen and other.rejected == judged.rejected


@pytest.mark.parametrize(
    "sample", [Sample(7, "p", "A"), Sample(7, "p", "C", ["x", "y"]), Sample(7, "p", ["A"], ["x", "y"])]
)
def test_what_is_no_comparison_is_named(sample):
    with pytest.raises(InvalidRecordError, match="demo, sample 7.*not a comparison"):
        list(samples_from([sample], "demo").comparisons())
