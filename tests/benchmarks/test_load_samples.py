"""`load_samples`: data of one's own, from any place, by any mapping, with the rules that inspect_ai made usual."""

import csv
import json
import pickle

import fsspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import chats

from crucible_datasets import ClassLabel, Dataset, DatasetDict, Features, Image, Value
from crucible_datasets.benchmarks import (
    FieldMapping,
    Message,
    Part,
    Picture,
    Sample,
    StreamedSamples,
    letter,
    load_samples,
    sample_features,
    samples_from,
)
from crucible_datasets.exceptions import (
    ArgumentError,
    BadRowError,
    FileFormatError,
    MissingFieldError,
    SplitNotFoundError,
    UnknownEntryError,
)
from crucible_datasets.localhub.server import serving

ROWS = [{"q": f"question {n}", "a": str(n * n), "options": ["x", "y", "z"], "level": n % 2} for n in range(8)]
FIELDS = FieldMapping(input="q", target="a", choices="options", metadata=["level"])
EXPECTED = [Sample(n + 1, f"question {n}", str(n * n), ["x", "y", "z"], {"level": n % 2}) for n in range(8)]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def written(folder, kind, rows):
    """A file, or folder, of the rows."""
    path = folder / f"rows.{kind}"
    if kind == "jsonl":
        write_jsonl(path, rows)
    elif kind == "json":
        path.write_text(json.dumps(rows))
    elif kind == "parquet":
        Dataset.from_list(rows).to_parquet(path)
    elif kind == "saved":
        Dataset.from_list(rows).save_to_disk(path)
    else:
        write_csv(path, [{**row, "options": ",".join(row["options"])} for row in rows])
    return path


KINDS = ["jsonl", "json", "parquet", "csv", "saved"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_samples(tmp_path, kind, streaming):
    made = load_samples(str(written(tmp_path, kind, ROWS)), FIELDS, streaming=streaming)
    assert isinstance(made, StreamedSamples) == streaming
    assert list(made) == EXPECTED
    assert made.name == ("rows.saved" if kind == "saved" else "rows")  # what is no extension belongs to the name
    assert made.provenance.source.endswith(f"rows.{kind}")


def test_rows_in_memory_give_the_same_samples():
    for source in (
        ROWS,
        tuple(ROWS),
        iter(ROWS),
        Dataset.from_list(ROWS),
        Dataset.from_list(ROWS).to_iterable_dataset(),
    ):
        assert list(load_samples(source, FIELDS)) == EXPECTED
    assert load_samples(ROWS, FIELDS).content_hash == samples_from(EXPECTED).content_hash


def test_a_mapping_may_be_a_dict():
    assert (
        list(load_samples(ROWS, {"input": "q", "target": "a", "choices": "options", "metadata": ["level"]})) == EXPECTED
    )


def test_files_of_other_stores(tmp_path):
    with fsspec.open("memory://samples/rows.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in ROWS)
    assert list(load_samples("memory://samples/rows.jsonl", FIELDS)) == EXPECTED


def test_a_dataset_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", False)
    folder = tmp_path / "hub" / "acme" / "questions"
    folder.mkdir(parents=True)
    write_jsonl(folder / "test.jsonl", ROWS)
    with serving(str(tmp_path / "hub")) as server:
        monkeypatch.setattr("crucible_datasets.config.HF_ENDPOINT", server.endpoint)
        made = load_samples("acme/questions", FIELDS, split="test")
        assert list(made) == EXPECTED
        assert list(load_samples("acme/questions", FIELDS, split="test", streaming=True)) == EXPECTED
        assert made.name == "acme/questions" and len(made.provenance.revision) == 40
        assert made.provenance.split == "test"


def test_several_splits_need_a_choice(tmp_path):
    both = DatasetDict({"train": Dataset.from_list(ROWS[:2]), "test": Dataset.from_list(ROWS)})
    assert list(load_samples(both, FIELDS, split="test")) == EXPECTED
    assert list(load_samples(DatasetDict({"only": both["test"]}), FIELDS)) == EXPECTED
    both.save_to_disk(tmp_path / "saved")
    for source in (both, str(tmp_path / "saved")):
        with pytest.raises(ArgumentError, match="choose one of train, test"):
            load_samples(source, FIELDS)
    with pytest.raises(SplitNotFoundError):
        load_samples(both, FIELDS, split="dev")


def test_what_is_no_source():
    with pytest.raises(ArgumentError, match="a list of rows"):
        load_samples(3)


# Which column is what


def test_usual_names_need_no_mapping():
    row = {"id": "x", "question": "q", "answer": 4, "choices": ["a"], "metadata": {"k": 1}}
    assert list(load_samples([row])) == [Sample("x", "q", "4", ["a"], {"k": 1})]


@pytest.mark.parametrize(
    ("mapping", "field", "column"),
    [
        (None, "input", "input"),
        (FieldMapping(input="questoin"), "input", "questoin"),
        (FieldMapping(input="q", target="answer"), "target", "answer"),
        (FieldMapping(input="q", choices=["options", "more"]), "choices", "more"),
        (FieldMapping(input="q", id="n"), "id", "n"),
        (FieldMapping(input="q", metadata=["level", "size"]), "size", "size"),
        (FieldMapping(input="q", metadata="info"), "metadata", "info"),
    ],
)
def test_a_missing_column_lists_what_exists(mapping, field, column):
    with pytest.raises(MissingFieldError, match="Available: q, a, options, level") as caught:
        load_samples(ROWS, mapping, name="mine")
    assert (caught.value.dataset, caught.value.field, caught.value.column) == ("mine", field, column)
    assert pickle.loads(pickle.dumps(caught.value)).available == ["q", "a", "options", "level"]


def test_data_without_a_usual_column_are_told_how_to_name_it():
    told = r"field 'input': .* Available: q, a\. Name the column that holds it, as fields=\{'input': 'q'\}\."
    with pytest.raises(MissingFieldError, match=told) as caught:
        load_samples([{"q": "2 + 2?", "a": "4"}], name="mine")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


NESTED = [
    {
        "task": {"texts": ["first", "second"], "info": {"level": 3}},
        "a.b": "dotted",
        "labels": {"text": ["p", "q"], "label": ["A", "B"]},
    }
]


def test_paths_lead_into_columns():
    mapping = FieldMapping(input="task.texts.1", target="a.b", choices="labels", metadata=["task.info.level"])
    assert list(load_samples(NESTED, mapping)) == [Sample(1, "second", "dotted", ["p", "q"], {"level": 3})]
    made = load_samples(NESTED, mapping).dataset
    assert made.features["metadata"] == {"level": Value("int64")}


def test_metadata_by_name_and_all_that_is_left():
    named = FieldMapping(
        input="q", metadata={"hardness": "level", "first": "options.0", "long": lambda row: len(row["q"]) > 3}
    )
    assert load_samples(ROWS, named)[1].metadata == {"hardness": 1, "first": "x", "long": True}
    rest = FieldMapping(input="q", target="a", metadata="*")
    assert load_samples(ROWS, rest)[1].metadata == {"level": 1}  # `options` are the choices


def test_two_paths_that_end_alike_need_names():
    rows = [{"input": "x", "a": {"n": 1}, "b": {"n": 2}}]
    with pytest.raises(ArgumentError, match="give names"):
        load_samples(rows, FieldMapping(metadata=["a.n", "b.n"]))


def test_transforms_change_values_and_functions_read_rows():
    mapping = FieldMapping(
        input=lambda row: f"{row['q']}?",
        target="level",
        choices="options",
        id="a",
        metadata=["level"],
        transforms={"target": letter, "level": lambda level: level * 10, "choices": sorted, "id": "id-{}".format},
    )
    assert load_samples(ROWS, mapping)[3] == Sample("id-9", "question 3?", "B", ["x", "y", "z"], {"level": 10})


def test_several_columns_of_choices():
    rows = [{"input": "q", "A": "one", "B": "two", "C": None, "target": "B"}]
    assert load_samples(rows, FieldMapping(choices=["A", "B", "C"]))[0].choices == ["one", "two"]


def test_a_picture_is_a_message(tmp_path):
    pil = pytest.importorskip("PIL.Image")
    pil.new("RGB", (2, 2)).save(tmp_path / "x.png")
    features = Features({"image": Image(), "label": ClassLabel(names=["cat", "dog"])})
    rows = Dataset.from_dict({"image": [str(tmp_path / "x.png")], "label": [1]}, features=features)
    (made,) = load_samples(rows, FieldMapping(input="image", target="label"))
    assert made.target == "dog" and made.messages[0].images[0].decoded().size == (2, 2)


@settings(max_examples=8)
@given(
    st.lists(
        st.lists(chats.plain_messages.filter(lambda one: one.role != "narrator"), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_chats_become_messages(talks):
    rows = [{"messages": [{"role": one.role, "content": one.content} for one in talk]} for talk in talks]
    assert [sample.input for sample in load_samples(rows)] == talks
    turns = [{"conversations": [{"from": one.role, "value": one.content} for one in talk]} for talk in talks]
    assert [sample.input for sample in load_samples(turns)] == talks


def test_chats_in_parts_keep_their_pictures():
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]
    (made,) = (samples := load_samples([{"messages": [{"role": "user", "content": parts}]}]))
    assert made.input == [Message("user", [Part("text", "see"), Part("image", image=Picture(b"\x89PNG"))])]
    assert samples.dataset.features["input"] == sample_features(parts=True)["input"]


def test_numbers_that_are_texts_in_a_csv_stay_texts(tmp_path):
    (tmp_path / "a.csv").write_text('id,question,answer,level\n007,"NA",1.50,3\n008,x,,4\n')
    made = load_samples(str(tmp_path / "a.csv"), FieldMapping(metadata=["level"]))
    assert list(made) == [Sample("007", "NA", "1.50", None, {"level": 3}), Sample("008", "x", "", None, {"level": 4})]


# A function of the row


def test_a_function_makes_samples_and_several_of_them():
    made = load_samples(
        ROWS, lambda row: [Sample(0, row["q"], row["a"]), {"id": 0, "input": "again"}], auto_id=True, limit=3
    )
    assert list(made) == [Sample(1, "question 0", "0"), Sample(2, "again"), Sample(3, "question 1", "1")]
    stream = load_samples(Dataset.from_list(ROWS), lambda row: Sample(row["a"], row["q"]), streaming=True)
    assert [one.id for one in stream] == [row["a"] for row in ROWS]


def test_a_function_that_fails_names_the_row():
    def asked(row):
        return Sample(1, row["q"]) if row["level"] else row["missing"]

    with pytest.raises(BadRowError, match="mine, row 0"):
        load_samples(ROWS, asked, name="mine")
    made = load_samples(ROWS, asked, on_bad_rows="skip")
    assert (len(made), made.skipped) == (4, 4)


# Rules


@pytest.mark.parametrize("missing", ["", None, []])
def test_an_empty_input_is_refused_or_counted(missing):
    rows = [{"question": "x"}, {"question": missing}]
    with pytest.raises(BadRowError, match="mine, row 1, column 'question': the input is empty") as caught:
        load_samples(rows, name="mine")
    assert (caught.value.dataset, caught.value.row, caught.value.column) == ("mine", 1, "question")
    made = load_samples(rows, on_bad_rows="skip")
    assert (len(made), made.skipped) == (1, 1)


@pytest.mark.parametrize(
    ("mapping", "column", "told"),
    [
        (FieldMapping(input=lambda row: row["nothing"]), "input", "KeyError: 'nothing'"),
        (FieldMapping(input="q", target="a", transforms={"target": int}), "a", "ValueError: invalid literal"),
        (FieldMapping(input="q", target="meta.size"), "meta.size", "there is no 'size' among level"),
        (FieldMapping(input="q", target="tags.5"), "tags.5", "there is no item 5 in a list of 1"),
        (FieldMapping(input="q", target="q.x"), "q.x", "'x' cannot be looked up in str"),
        (FieldMapping(input="q", metadata={"n": "tags.1"}), "tags.1", "no item 1"),
        (FieldMapping(input="q", metadata={"n": lambda row: 1 / 0}), "n", "ZeroDivisionError"),
        (FieldMapping(input="q", metadata=["a"], transforms={"a": float}), "a", "could not convert"),
        (FieldMapping(input="q", id="empty"), "empty", "the id is empty"),
        (FieldMapping(input="meta"), "meta", "the record has level"),
    ],
)
def test_whatever_goes_wrong_is_told_with_its_column(mapping, column, told):
    rows = [{"q": "x", "a": "y", "meta": {"level": 1}, "tags": ["t"], "empty": None}]
    with pytest.raises(BadRowError, match=told) as caught:
        load_samples(rows, mapping)
    assert (caught.value.row, caught.value.column) == (0, column)


def test_the_row_that_is_named_is_that_of_the_data_also_after_shuffling():
    rows = [{"question": "x"}] * 5 + [{"question": ""}]
    for seed in range(3):
        with pytest.raises(BadRowError, match=r"row 5, [^\n]*$") as caught:
            load_samples(rows, shuffle=True, seed=seed)
        assert caught.value.row == 5 and not getattr(caught.value, "__notes__", [])


def test_what_was_left_out_is_known_again_from_the_cache(tmp_path):
    write_jsonl(tmp_path / "rows.jsonl", [{"question": "x"}, {"question": ""}])
    for _ in range(2):
        made = load_samples(str(tmp_path / "rows.jsonl"), on_bad_rows="skip")
        assert (len(made), made.skipped, made.bad_rows["index"][:]) == (1, 1, [1])


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, ""),
        (float("nan"), ""),
        ("x", "x"),
        (3, "3"),
        (True, "True"),
        (["a", "b"], ["a", "b"]),
        ([1, 2.0, None], ["1", "2"]),
        (5.0, "5"),
        (1e300, "1e+300"),
    ],
)
def test_targets(given_, expected):
    assert load_samples([{"input": "q", "target": given_}])[0].target == expected


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, None),
        (["a", 1], ["a", "1"]),
        ("a, b,,c", ["a", "b", "c"]),
        ("a b  c", ["a", "b", "c"]),
        ("abc", ["abc"]),
        (5, ["5"]),
        (["a", "", "b"], ["a", "b"]),
    ],
)
def test_choices(given_, expected):
    assert load_samples([{"input": "q", "choices": given_}])[0].choices == expected


def test_an_empty_choice_does_not_move_the_target():
    rows = [{"input": "q", "choices": ["a", "", "b"], "target": "C"}]
    with pytest.raises(BadRowError, match="column 'choices': choice 1 is empty"):
        load_samples(rows)
    assert load_samples([{"input": "q", "choices": ["a", "b", ""], "target": "B"}])[0].choices == ["a", "b"]


def test_metadata_may_be_json():
    assert load_samples([{"input": "q", "metadata": '{"a": [1]}'}])[0].metadata == {"a": [1]}
    with pytest.raises(BadRowError, match="column 'metadata'"):
        load_samples([{"input": "q", "metadata": "{"}])


@pytest.mark.parametrize("bad", ["error", "skip"])
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), limit=st.none() | st.integers(0, 10), shuffle=st.booleans())
def test_numbers_follow_the_record_and_the_limit_comes_last(bad, seed, limit, shuffle):
    made = load_samples(ROWS, FIELDS, auto_id=True, shuffle=shuffle, seed=seed, limit=limit, on_bad_rows=bad)
    order = Dataset.from_list(ROWS).shuffle(seed=seed)["a"][:] if shuffle else [row["a"] for row in ROWS]
    by_answer = {sample.target: sample for sample in EXPECTED}
    assert list(made) == [by_answer[answer] for answer in order][:limit]


def test_ids_are_kept_unless_numbers_are_asked_for():
    rows = [{"id": "b", "input": "x"}, {"id": "a", "input": "y"}]
    assert [one.id for one in load_samples(rows)] == ["b", "a"]
    assert [one.id for one in load_samples(rows, auto_id=True)] == [1, 2]
    samples = [Sample("b", "x"), Sample("a", "y")]
    assert list(load_samples(samples)) == samples
    assert [one.id for one in load_samples(samples, auto_id=True, limit=1)] == [1]


def test_a_seed_of_its_own_for_choices():
    fields = FieldMapping(input="q", target="level", choices="options")
    made = load_samples(ROWS, fields)
    assert list(load_samples(ROWS, fields, shuffle_choices=5)) == list(made.shuffle_choices(5))
    assert list(load_samples(ROWS, fields, seed=9, shuffle_choices=True)) == list(made.shuffle_choices(9))
    assert list(load_samples(ROWS, fields, shuffle_choices=False)) == list(made)
    assert list(load_samples(ROWS, fields, seed=7, shuffle_choices=True)) != list(made.shuffle_choices(1))
    assert list(load_samples(ROWS, fields, shuffle_choices=0)) == list(made.shuffle_choices(0))


def test_a_limited_load_reads_no_more_rows_than_it_needs():
    seen = []
    mapping = FieldMapping(input="q", transforms={"input": lambda text: seen.append(text) or text})
    made = load_samples(ROWS, mapping, shuffle=True, seed=1, limit=2)
    assert len(made) == 2 and len(seen) <= 2


def test_no_rows():
    assert list(load_samples(Dataset.from_dict({"input": []}))) == []


# Parity


def test_inspect_reads_the_same_files_alike(tmp_path):
    theirs = pytest.importorskip("inspect_ai.dataset")
    rows = [
        {"q": "one", "a": "A", "options": ["x", "y"], "level": 1},
        {"q": "two", "a": None, "options": None, "level": 2},
        {"q": "three", "a": ["u", "v"], "options": ["p", "", "q"], "level": 3},
        {"q": "four", "a": 4, "options": "r, s", "level": 4},
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    spec = theirs.FieldSpec(input="q", target="a", choices="options", metadata=["level"])
    for extra in ({}, {"limit": 2}):
        read = theirs.json_dataset(str(tmp_path / "rows.jsonl"), spec, auto_id=True, **extra)
        ours = load_samples(str(tmp_path / "rows.jsonl"), FIELDS, auto_id=True, **extra)
        assert [(one.id, one.input, one.target, one.choices, one.metadata) for one in ours] == [
            (one.id, one.input, one.target, one.choices, one.metadata) for one in read
        ]


def test_inspect_reads_the_same_csv_alike(tmp_path):
    theirs = pytest.importorskip("inspect_ai.dataset")
    (tmp_path / "rows.csv").write_text('id,input,target,choices\n01,"a, ""b""",1.50,"x,y"\n02,NA,,x y z\n')
    read = theirs.csv_dataset(str(tmp_path / "rows.csv"))
    ours = load_samples(str(tmp_path / "rows.csv"))
    assert [(one.id, one.input, one.target, one.choices) for one in ours] == [
        (one.id, one.input, one.target, one.choices) for one in read
    ]


def test_a_function_may_make_several_samples_of_a_row_of_a_stream(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"q": f"{n}?", "n": n}) + "\n" for n in range(5)))

    def several(row):
        return [Sample(f"{row['n']}{part}", row["q"]) for part in "ab"[: row["n"]]]

    for options in ({}, {"auto_id": True}, {"limit": 3}, {"auto_id": True, "limit": 3}):
        table = load_samples(str(tmp_path / "rows.jsonl"), several, **options)
        stream = load_samples(str(tmp_path / "rows.jsonl"), several, streaming=True, **options)
        assert list(stream) == list(table) and len(table) == options.get("limit", 7)
        first = iter(stream)
        passed = [next(first) for _ in range(2)]
        again = load_samples(str(tmp_path / "rows.jsonl"), several, streaming=True, **options)
        again.load_state_dict(stream.state_dict())
        assert passed + list(again) == list(table)


@pytest.mark.parametrize("bad", ["error", "skip"])
def test_rows_of_a_stream_that_a_function_refuses(tmp_path, bad):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"n": n}) + "\n" for n in (1, 0, 2)))
    made = load_samples(
        str(tmp_path / "rows.jsonl"),
        lambda row: [Sample(row["n"], f"{6 // row['n']}?")] * 2,
        streaming=True,
        on_bad_rows=bad,
    )
    if bad == "skip":
        assert [sample.id for sample in made] == [1, 1, 2, 2] and made.skipped == 1
        return
    read = []
    with pytest.raises(BadRowError, match="rows, row 1: ZeroDivisionError"):
        for sample in made:
            read.append(sample.id)
    assert read == [1, 1]


def test_what_is_asked_for_by_a_wrong_name_is_an_error():
    with pytest.raises(UnknownEntryError, match="no field to transform 'targt'. Did you mean 'target'"):
        load_samples([{"question": "a"}], FieldMapping(transforms={"targt": str}))
    with pytest.raises(UnknownEntryError, match="no field 'inpt' of a sample. Did you mean 'input'"):
        load_samples([{"question": "a"}], {"inpt": "question"})
    with pytest.raises(MissingFieldError, match="Did you mean 'metadata.level'"):
        samples_from([Sample(1, "a", metadata={"level": 1})]).sort("metadata.levl")
    with pytest.raises(MissingFieldError, match="Column 'levl' does not exist"):
        samples_from([Sample(1, "a")]).sort("levl")
    with pytest.raises(ArgumentError, match="limit=-1"):
        load_samples([{"question": "a"}], limit=-1)
    with pytest.raises(TypeError, match="give samples, or dicts, not both"):
        load_samples([Sample(1, "a"), {"question": "b"}])


@pytest.mark.parametrize("name", ["nothere.jsonl", "nothere.csv.gz", "nothere.parquet"])
def test_a_data_file_that_is_not_there_is_told_without_asking_the_hub(tmp_path, name):
    for asked in (str(tmp_path / name), tmp_path / name):
        with pytest.raises(FileNotFoundError, match=f"{name}: there is no such file"):
            load_samples(asked)


def test_samples_are_called_as_their_file_without_its_format(tmp_path):
    (tmp_path / "quiz-1.5.jsonl").write_text('{"input": "1+1?", "target": "2"}\n')
    assert load_samples(tmp_path / "quiz-1.5.jsonl").name == "quiz-1.5"


@pytest.mark.parametrize("streaming", [False, True])
def test_broken_lines_are_left_out_with_a_warning_where_bad_rows_are(tmp_path, caplog, streaming):
    lines = {"a.jsonl": ['{"question": "a", "answer": "1"}', '{"ques', '{"question": "b", "answer": "2"}']}
    lines["a.csv"] = ["question,answer", "a,1", "b,2,3,4", "b,2"]
    for name, found in lines.items():
        (tmp_path / name).write_text("\n".join(found) + "\n")
        how = {"fields": {"input": "question", "target": "answer"}, "auto_id": True, "streaming": streaming}
        with pytest.raises(FileFormatError):
            list(load_samples(tmp_path / name, **how))
        kept = load_samples(tmp_path / name, on_bad_rows="skip", **how)
        assert [sample.target for sample in kept] == ["1", "2"]
        assert str(tmp_path / name) in caplog.text


def test_a_list_called_options_is_the_choices_and_settings_are_not():
    row = {"question": "Which?", "answer": "B"}
    assert load_samples([{**row, "options": ["red", "blue"]}])[0].choices == ["red", "blue"]
    for other in ("fast", {"A": "red"}):
        assert load_samples([{**row, "options": other}])[0].choices is None


@pytest.mark.parametrize("name", ["prompt", "question", "instruction"])
def test_chosen_and_rejected_are_the_choices_of_a_comparison(name):
    rows = [{name: f"Why {n}?", "chosen": f"Because {n}.", "rejected": f"No {n}.", "id": f"p{n}"} for n in range(20)]
    samples = load_samples(rows)
    assert samples[3].input == "Why 3?" and samples[3].id == "p3"
    assert [one.chosen for one in samples.comparisons()] == [row["chosen"] for row in rows]
    assert set(samples["target"]) == {"A", "B"}  # a judge that always says A must not be right everywhere


def test_chosen_and_rejected_may_be_conversations_and_fields_may_say_otherwise():
    said = {"chosen": "Yes.", "rejected": "No."}
    row = {
        key: [{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": text}]
        for key, text in said.items()
    }
    (judged,) = load_samples([row]).comparisons()
    assert (judged.comparison.prompt, judged.chosen, judged.rejected) == ("Is it?", "Yes.", "No.")
    assert load_samples([{"prompt": "Is it?", **said}], {"target": "chosen"})[0].target == "Yes."
