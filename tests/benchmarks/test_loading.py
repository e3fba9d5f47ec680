"""Every benchmark, end to end: from its miniature, and from the local Hub over HTTP, as a table and as a stream."""

from __future__ import annotations

import json

import pytest
from support.command import done

from crucible_datasets import Dataset, IterableDataset, config
from crucible_datasets.benchmarks import Catalog, Sample, load_benchmark, write_miniatures
from crucible_datasets.benchmarks.miniatures.base import makers
from crucible_datasets.exceptions import (
    ArgumentError,
    BadRowError,
    MissingFieldError,
    UnknownEntryError,
)
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.server import serving

CATALOG = Catalog()
# One configuration of many: hendrycks_math tells the same of groups with seven.
FEWER = {"bbh": "navigate", "hendrycks_math_train": "algebra"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """One Hub with all miniatures; the paths that it was asked for."""
    folder, asked, patch = tmp_path_factory.mktemp("hub"), [], pytest.MonkeyPatch()
    write_miniatures(folder)
    answer = module.answer
    patch.setattr(module, "answer", lambda request: (asked.append(request.path), answer(request))[1])
    with serving(str(folder)) as server, patch.context() as local:
        local.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        local.setattr(config, "HF_HUB_OFFLINE", False)
        local.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield asked
    patch.undo()


@pytest.fixture(autouse=True)
def nothing_is_on_this_disk_yet(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets-cache")


@pytest.fixture
def mine(tmp_path):
    """A benchmark of rows that can be spoilt."""

    def loaded(*rows, metadata=(), **options):
        (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        columns = 'columns = { question = "q", answer = "a" }\ntarget_rule = "gsm8k/after_hashes@1"\n'
        kept = f"metadata = {json.dumps(list(metadata))}\nminiature = 'rows.jsonl'\n"
        (tmp_path / "mine.toml").write_text(f'source = "acme/mine"\nrule = "question/answer@1"\n{columns}{kept}')
        return load_benchmark("mine", synthetic=True, folders=tmp_path, **options)

    return loaded


@pytest.mark.parametrize("name", CATALOG)
def test_a_benchmark_is_the_same_from_the_hub_streamed_loaded_and_from_its_miniature(hub, name):
    one = FEWER.get(name)
    made = list(load_benchmark(name, config=one, synthetic=True))
    del hub[:]
    # The stream comes first: what is on this disk already would not be read from the Hub.
    streamed = load_benchmark(name, config=one, streaming=True, revision="latest")
    assert list(streamed) == made and streamed.skipped == 0
    read = [path for path in hub if "/resolve/" in path and not path.endswith(("README.md", ".huggingface.yaml"))]
    assert read, "nothing was read over HTTP"
    loaded = load_benchmark(name, config=one, revision="latest")
    assert list(loaded) == made and loaded.skipped == 0
    assert isinstance(loaded.dataset, Dataset) and isinstance(streamed.dataset, IterableDataset)
    assert loaded.dataset.column_names == ["id", "input", "target", "choices", "metadata"]
    assert len(made) >= 8 and all(type(sample) is Sample for sample in made)
    assert len({sample.id for sample in made}) == len(made)
    assert loaded.provenance.revision == streamed.provenance.revision and len(loaded.provenance.revision) == 40
    assert loaded.provenance.rules == CATALOG[name].rules and loaded.provenance.source == CATALOG[name].source
    assert loaded.provenance.num_rows == len(made) and len(loaded.provenance.content_hash) == 64


def all_splits():
    for entry in CATALOG.values():
        configs = [name for name in entry.config_names if entry.source != "cais/mmlu" or name in ("all", "anatomy")]
        for name in (configs[:3] if entry.name == "bbh" else configs) or [""]:
            yield entry, name


@pytest.mark.parametrize(("entry", "name"), [pytest.param(*one, id=f"{one[0].name}-{one[1]}") for one in all_splits()])
def test_every_split_of_every_configuration_is_samples(entry, name):
    for split in entry.splits_of(name):
        samples = load_benchmark(entry.name, split, config=name or None, synthetic=True)
        rows = makers()[entry.source].rows
        assert len(samples.raw) <= rows and 16 <= rows <= 64
        for sample in samples:
            assert sample.input and (sample.target or entry.name in ("ifeval", "deepcoder"))
            if sample.choices and sample.target != "tie":
                assert "ABCDEFGHIJ".index(sample.target) < len(sample.choices)


def test_groups_are_those_of_the_subjects():
    everything = load_benchmark("mmlu", synthetic=True)
    groups = [load_benchmark("mmlu", config=group, synthetic=True) for group in everything.entry.group_names]
    assert sorted(sample.id for group in groups for sample in group) == sorted(sample.id for sample in everything)
    stem = load_benchmark("mmlu_stem", synthetic=True)
    assert [sample.input for sample in stem] == [sample.input for sample in groups[0]]
    assert {sample.metadata["subject"] for sample in stem} == set(everything.entry.group_names["stem"])


def test_the_training_set_of_math_has_no_problem_of_math_500():
    test = {sample.input for sample in load_benchmark("math_500", synthetic=True)}
    both = load_benchmark("hendrycks_math", "train+test", synthetic=True)
    train = load_benchmark("hendrycks_math_train", synthetic=True)
    assert len(test) == 16 and test <= {sample.input for sample in both}
    assert [sample.input for sample in train] == [sample.input for sample in both if sample.input not in test]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_slice_keeps_the_ids_of_its_rows(streaming):
    whole = list(load_benchmark("gsm8k", synthetic=True))
    for split, wanted in {"test[4:9]": slice(4, 9), "test[30:]": slice(30, None), "test[:2]": slice(2)}.items():
        assert list(load_benchmark("gsm8k", split, synthetic=True, streaming=streaming)) == whole[wanted]
    both = list(load_benchmark("gsm8k", "train+test[:3]", synthetic=True, streaming=streaming, limit=34))
    assert [sample.id for sample in both[30:]] == [
        "gsm8k/main/train/30",
        "gsm8k/main/train/31",
        "gsm8k/main/test/0",
        "gsm8k/main/test/1",
    ]


def test_a_stream_cannot_be_cut_by_percent_and_a_table_can():
    assert len(load_benchmark("gsm8k", "test[:25%]", synthetic=True)) == 8
    with pytest.raises(ArgumentError, match="a stream has no length"):
        load_benchmark("gsm8k", "test[:25%]", synthetic=True, streaming=True)


@pytest.mark.parametrize(("split", "note"), [("astronmy", ["config='astronomy'."]), ("tset", []), ("xyz", [])])
def test_a_misspelt_configuration_in_place_of_the_split_is_told_apart(split, note):
    """Hugging Face's `load_dataset` takes the configuration second."""
    with pytest.raises(UnknownEntryError, match=f"There is no split '{split}' of mmlu") as error:
        load_benchmark("mmlu", split, synthetic=True)
    assert [one.split()[-1] for one in getattr(error.value, "__notes__", [])] == note


def test_an_unknown_split_lists_what_exists(hub):
    with pytest.raises(UnknownEntryError, match="tset.*Did you mean 'test'"):
        load_benchmark("gsm8k", "tset", synthetic=True)
    with pytest.raises(ValueError, match="train, test"):
        load_benchmark("gsm8k", "tset", revision="latest")
    for synthetic in (True, False):
        with pytest.raises(ValueError, match="configuration of mmlu.*config='astronomy'.*Splits: .*validation"):
            load_benchmark("mmlu", "astronomy", synthetic=synthetic)


def test_what_is_pinned_to_no_commit_says_so_when_it_is_loaded(hub, caplog):
    made = load_benchmark("ultrafeedback")
    assert "ultrafeedback is pinned to no commit" in caplog.text and "crucible lock ultrafeedback" in caplog.text
    caplog.clear()
    for asked in ({"revision": "latest"}, {"revision": made.provenance.revision}, {"synthetic": True}):
        load_benchmark("ultrafeedback", **asked)
    assert not caplog.records
    shown = done("benchmarks", "show", "ultrafeedback")
    assert "revision" in shown.out and "not pinned" in shown.out
    assert done("benchmarks", "show", "ultrafeedback", "--json").json["revision"] is None


def test_a_pin_is_of_one_repository(tmp_path):
    (tmp_path / "mine.toml").write_text('extends = "polaris"\nsource = "acme/mine"')
    (tmp_path / "same.toml").write_text('extends = "polaris"')
    mine = Catalog(tmp_path)
    assert mine["mine"].revision == "" and mine["same"].revision == mine["polaris"].revision != ""


@pytest.mark.parametrize("streaming", [False, True])
def test_a_row_that_does_not_fit_is_told_with_benchmark_row_and_column(mine, streaming):
    rows = [{"q": "one", "a": "#### 1"}, {"q": "two", "a": "2"}]
    with pytest.raises(BadRowError, match="mine/train, row 1, column 'a': there is no ####") as caught:
        list(mine(*rows, streaming=streaming))
    assert (caught.value.dataset, caught.value.row, caught.value.column) == ("mine/train", 1, "a")
    with pytest.raises(BadRowError, match="row 1, column 'q': Expected `str`, got `null`"):
        list(mine(rows[0], {"q": None, "a": "#### 2"}, streaming=streaming))


@pytest.mark.parametrize("streaming", [False, True])
def test_rows_that_do_not_fit_are_left_out_and_counted(mine, streaming):
    rows = [{"q": f"{n}", "a": f"#### {n}" if n % 3 else "none", "level": n} for n in range(1, 251)]
    made = mine(*rows, metadata=["level"], on_bad_rows="skip", streaming=streaming)
    assert [sample.metadata["level"] for sample in made] == [n for n in range(1, 251) if n % 3]
    assert made.skipped == 83
    if not streaming:
        assert made.provenance.skipped == 83 and len(made) + made.skipped == len(made.raw)
        assert made.bad_rows[0] == {"index": 2, "id": "mine/train/2", "exception": "column 'a': there is no ####"}
    nothing = mine({"q": "1", "a": ""}, on_bad_rows="skip", streaming=streaming)
    assert (list(nothing), nothing.skipped) == ([], 1)
    with pytest.raises(ArgumentError, match="choose 'error' or 'skip'"):
        mine(rows[0], on_bad_rows="drop")


@pytest.mark.parametrize("streaming", [False, True])
def test_a_missing_column_lists_what_exists(mine, streaming):
    with pytest.raises(
        MissingFieldError, match=r"mine \(acme/mine\), field 'question': Column 'q' .* Available: Q, a."
    ):
        list(mine({"Q": "one", "a": "#### 1"}, streaming=streaming, on_bad_rows="skip"))
    with pytest.raises(MissingFieldError, match="field 'metadata': Column 'level'"):
        list(mine({"q": "one", "a": "#### 1"}, metadata=["level"], streaming=streaming))


def test_a_stream_that_does_not_know_its_types_keeps_values_as_they_are(hub):
    """JSON has no types before it is read: what looks as a number in a text stays a text."""
    (table, stream) = (
        list(load_benchmark("polaris", streaming=streaming, limit=3, revision="latest")) for streaming in (False, True)
    )
    assert table == stream and table[0].metadata["difficulty"].endswith("/8")


def test_a_benchmark_without_a_miniature_says_how_to_get_one(tmp_path):
    (tmp_path / "bare.toml").write_text(
        'source = "acme/bare"\nrule = "question/answer@1"\ncolumns = {question="q", answer="a"}'
    )
    with pytest.raises(ArgumentError, match="bare has no miniature. Name a file of rows"):
        load_benchmark("bare", synthetic=True, folders=tmp_path)


def test_samples_stay_a_benchmark_when_they_are_chosen_from():
    made = load_benchmark("gsm8k", synthetic=True)
    few = made.shuffle(seed=3).take(5).filter(lambda sample: int(sample.target) > 0)
    assert (type(few), few.entry.name, few.split, few.config) == (type(made), "gsm8k", "test", "main")
    assert made.raw.column_names == ["question", "answer"] and len(made.raw) == len(made)


@pytest.mark.parametrize(
    "name", ["hh_rlhf", "helpsteer2_pairs", "helpsteer3", "ultrafeedback", "arena_140k", "tulu3_preference"]
)
def test_preferences_are_comparisons_and_no_side_always_wins(name):
    made = load_benchmark(name, synthetic=True)
    for sample, judged in zip(made, made.comparisons(), strict=True):
        assert judged.preferred == sample.target.lower()
        assert judged.comparison.conversation_a.last_message.text == sample.choices[0]
        assert judged.comparison.conversation_b.last_message.text == sample.choices[1]
    assert {"A", "B"} <= {sample.target for sample in made}


def test_the_chosen_response_is_the_one_that_the_data_says():
    made = load_benchmark("ultrafeedback", synthetic=True)
    for row, judged in zip(made.raw, made.comparisons(), strict=True):
        assert (judged.chosen, judged.rejected) == (row["chosen_response"], row["rejected_response"])
        assert judged.margin == row["chosen_avg_rating"] - row["rejected_avg_rating"]


def test_pictures_are_files_that_can_be_opened():
    image = pytest.importorskip("PIL.Image")
    made = load_benchmark("oxford_iiit_pet", synthetic=True)
    for sample in made:
        (picture,) = sample.input[0].images
        assert picture.mime_type == "image/png"
        assert isinstance(picture.decoded(), image.Image) and picture.decoded().size == (8, 8)
    names = made.raw.features["label"].names
    assert [sample.target for sample in made] == [names[label] for label in made.raw["label"]]


SAID = {
    "gsm8k/": "So it is.\n#### {}",
    "math/": "It is $\\boxed{{{}}}$.",
    "mmlu_pro": "The answer is ({}).",
    "choice/": "The answer is {}.",
}
COSTLY = {"math", "code_execution"}  # they start processes


def right_answers_score_one(name):
    from crucible_datasets.evaluation import evaluate

    made = load_benchmark(name, synthetic=True, limit=4)
    rules = made.entry.extract.removeprefix("strip_thinking@2 | ")
    said = next((form for start, form in SAID.items() if rules.startswith(start)), "{}")
    if "boxed" in made[0].targets[0]:
        said = "{}"  # the target is a whole solution
    for form in {said, "{}"}:
        answers = {sample.id: form.format(sample.targets[0]) for sample in made}
        result = evaluate(answers, made, allow_code_execution=True)
        assert {key.partition("@")[0] for key in result.summary} == set(made.entry.metrics)
        assert all(summary.value == 1.0 for summary in result.summary.values())
        assert all(summary.counts == {"ok": 4} for summary in result.summary.values())


@pytest.mark.parametrize("name", [name for name in CATALOG if not COSTLY & set(CATALOG[name].metrics)])
def test_right_answers_get_full_marks_by_the_metrics_and_rules_of_the_entry(name):
    if CATALOG[name].metrics:
        right_answers_score_one(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CATALOG if COSTLY & set(CATALOG[name].metrics)])
def test_right_answers_get_full_marks_also_where_processes_judge_them(name):
    if name != "deepcoder":  # lcbv5, its default, has no solutions
        right_answers_score_one(name)


def test_code_of_miniatures_passes_its_tests():
    from crucible_datasets.evaluation.metrics import METRICS

    judge = METRICS["code_execution"]
    for name, one in (("humaneval", None), ("mbpp", "sanitized"), ("deepcoder", "taco")):
        made = load_benchmark(name, config=one, synthetic=True, limit=2)
        samples = list(made)
        answers = [sample.target for sample in samples]
        outcomes = judge.score_many(answers, answers, samples=samples, allow_code_execution=True, timeout=20.0)
        assert [outcome.value for outcome in outcomes] == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("source", sorted(makers()))
def test_hugging_face_reads_the_same_rows_of_the_same_types(source, tmp_path):
    """The repositories are datasets for others too."""
    datasets = pytest.importorskip("datasets")
    from crucible_datasets import load_dataset

    name = next(entry.name for entry in CATALOG.values() if entry.source == source)
    write_miniatures(tmp_path, [name])
    folder = str(tmp_path / source)
    chosen = CATALOG[name].of(None)
    one = (chosen.group_names.get(chosen.config) or [chosen.config])[0] if not chosen.group_column else "all"
    split = chosen.default_split.split("+")[0]
    theirs = datasets.load_dataset(folder, one or None, split=split, cache_dir=str(tmp_path / "cache"))
    ours = load_dataset(folder, one or None, split=split)
    assert ours.with_format("arrow")[:].to_pylist() == theirs.with_format("arrow")[:].to_pylist()


@pytest.mark.parametrize("streaming", [False, True])
def test_no_rows_are_no_samples(tmp_path, streaming):
    assert list(load_benchmark("gsm8k", synthetic=True, limit=0, streaming=streaming)) == []
    assert list(load_benchmark("mmlu", "test[:0]", config="stem", synthetic=True, streaming=streaming)) == []
    with pytest.raises(ArgumentError, match="limit=-1"):
        load_benchmark("gsm8k", synthetic=True, limit=-1, streaming=streaming)
    none = load_benchmark("arena_140k", synthetic=True, limit=0)
    assert none.dataset.features == load_benchmark("arena_140k", synthetic=True).dataset.features and not len(none)


@pytest.mark.parametrize("streaming", [False, True])
def test_one_file_is_the_split_that_is_asked_for(tmp_path, streaming):
    file = tmp_path / "some.jsonl"
    file.write_text('{"question": "1 + 1?", "answer": "#### 2"}\n{"question": "2 + 2?", "answer": "#### 4"}\n')
    made = load_benchmark("gsm8k", source=file, streaming=streaming)
    assert [(sample.id, sample.target) for sample in made] == [("gsm8k/main/test/0", "2"), ("gsm8k/main/test/1", "4")]
    assert [sample.id for sample in load_benchmark("gsm8k", "train[1:]", source=file)] == ["gsm8k/main/train/1"]


def test_without_a_network_the_miniature_is_pointed_at(tmp_path, monkeypatch):
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(ConnectionError) as told:
        load_benchmark("gsm8k", cache_dir=str(tmp_path))
    assert "synthetic=True" in told.value.__notes__[0] and len(told.value.__notes__) == 1
