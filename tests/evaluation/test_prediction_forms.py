"""However predictions and data come, answers meet the samples that they are for; what cannot be matched is refused."""

import asyncio
import functools
import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crucible_datasets import Dataset
from crucible_datasets.benchmarks import Sample, samples_from
from crucible_datasets.evaluation import bootstrap_sample, compare, evaluate, evaluate_many, k_fold, random_sample
from crucible_datasets.evaluation.predictions.forms import IDS, TEXTS
from crucible_datasets.evaluation.runs.questions import questions_of
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    BadRowError,
    ColumnNotFoundError,
    FileFormatError,
    IncomparableRunsError,
    PredictionsError,
    UnknownEntryError,
)

NAMES = [f"q{number}" for number in range(6)]
ANSWERS = ["1", "2", "3", "no", "no", ""]
RIGHT = 0.5
BACKWARDS = list(reversed(range(6)))  # rows in another order than the samples: matched by place they would be wrong


@pytest.fixture(scope="module")
def data():
    return samples_from(
        [
            {"id": name, "input": f"{at} + 1", "target": str(at + 1), "metadata": {"kind": f"k{at % 2}", "a.b": at % 3}}
            for at, name in enumerate(NAMES)
        ],
        "adding",
    )


def rows(id_name="id", text_name="prediction"):
    return [{id_name: NAMES[at], text_name: ANSWERS[at]} for at in BACKWARDS]


def table():
    return {"id": [NAMES[at] for at in BACKWARDS], "prediction": [ANSWERS[at] for at in BACKWARDS]}


FORMS = {
    "list": lambda: ANSWERS,
    "generator": lambda: iter(ANSWERS),
    "array": lambda: np.array(ANSWERS),
    "Arrow array": lambda: pa.chunked_array([ANSWERS]),
    "Series": lambda: pd.Series(ANSWERS),
    "column": lambda: Dataset.from_dict({"prediction": ANSWERS})["prediction"],
    "dict": lambda: {row["id"]: row["prediction"] for row in rows()},
    "pairs": lambda: [(row["id"], row["prediction"]) for row in rows()],
    "dicts": rows,
    "table": table,
    "Dataset": lambda: Dataset.from_dict(table()),
    "DataFrame": lambda: pd.DataFrame(table()),
    "Arrow table": lambda: pa.table(table()),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_in_memory(form, data):
    run = evaluate(FORMS[form](), data)
    assert run.value() == RIGHT and [sample.prediction for sample in run.samples] == ANSWERS


def lines(values):
    return "\n".join(json.dumps(value) for value in values)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", lines(rows())),
        ("p.jsonl", lines(ANSWERS)),
        ("p.json", json.dumps(ANSWERS)),
        ("p.json", json.dumps(rows())),
        ("p.json", json.dumps({row["id"]: row["prediction"] for row in rows()})),
        ("p.csv", pd.DataFrame(table()).to_csv(index=False)),
        ("p.tsv", pd.DataFrame(table()).to_csv(index=False, sep="\t")),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_forms_of_files(name, text, packed, data, tmp_path):
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert evaluate(path, data).value() == RIGHT
    assert evaluate(str(path), data).value() == RIGHT


@pytest.mark.parametrize("id_name", IDS)
def test_usual_columns_are_found(id_name, data, tmp_path):
    path = tmp_path / "p.jsonl"
    for text_name in (*TEXTS, "whatever"):
        path.write_text(lines(rows(id_name, text_name)))
        assert evaluate(path, data).value() == evaluate(rows(id_name, text_name), data).value() == RIGHT


def reply(text):
    return {"id": "chat-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}


SHAPES = (
    lambda text: {"text": text},
    lambda text: {"role": "assistant", "content": text},
    lambda text: {"content": [{"type": "thinking", "thinking": "9"}, {"type": "text", "text": text}]},
    lambda text: {"generated_text": text},
    reply,
    lambda text: {"choices": [{"text": text}]},
    lambda text: {"status_code": 200, "body": reply(text)},
)


def test_shapes_in_which_models_answer_are_their_texts(data, tmp_path):
    told = dict(zip(NAMES, ANSWERS, strict=True))
    for shape in SHAPES:
        table = [{"id": NAMES[at], "prediction": shape(ANSWERS[at])} for at in BACKWARDS]
        forms = (
            lambda sample, shape=shape: shape(told[sample.id]),
            lambda sample, shape=shape: [shape(told[sample.id])],
            {name: shape(text) for name, text in told.items()},
            table,
            pa.Table.from_pylist(table),
        )
        for form in forms:
            run = evaluate(form, data, cache=False)
            assert [sample.prediction for sample in run.samples] == ANSWERS
    (tmp_path / "batch.jsonl").write_text(
        lines(
            {"id": f"batch_{at}", "custom_id": NAMES[at], "response": {"body": reply(ANSWERS[at])}} for at in BACKWARDS
        )
    )
    assert evaluate(tmp_path / "batch.jsonl", data).value() == RIGHT


def test_each_choice_of_a_reply_is_an_answer_and_a_message_without_words_is_none(data):
    both = [{"choices": [{"message": {"content": "1"}}, {"message": {"content": None}}]}] * 6
    assert [sample.prediction for sample in evaluate(both, data, missing="wrong").samples[:2]] == ["1", None]


def test_what_python_writes_for_nothing_is_nothing(data, tmp_path):
    given = [{"id": name, "prediction": "1", "logprobs": [float("-inf"), float("nan")]} for name in NAMES]
    given[1]["prediction"] = float("nan")
    for name, text in (("p.jsonl", lines(given)), ("p.json", json.dumps(given))):
        (tmp_path / name).write_text(text)
        run = evaluate(tmp_path / name, data, missing="ignore")
        assert run.summary["em"].counts == {"ok": 5, "missing": 1}
    (tmp_path / "p.jsonl").write_text('{"id": "q1", "prediction": NaN NaN}')
    with pytest.raises(FileFormatError, match="line 1 is not a JSON object"):
        evaluate(tmp_path / "p.jsonl", data)


def test_a_file_without_a_column_of_predictions_is_refused(data, tmp_path):
    path = tmp_path / "p.jsonl"
    given = [{"id": row["id"], "question": "?", "what_it_said": row["prediction"]} for row in rows()]
    path.write_text(lines(given))
    for predictions in (path, given):
        with pytest.raises(ColumnNotFoundError, match="what_it_said"):
            evaluate(predictions, data)
        assert evaluate(predictions, data, prediction_column="what_it_said").value() == RIGHT


def test_lines_are_all_texts_or_all_objects(data, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('"1"\n{"prediction": "2"}\n')
    with pytest.raises(FileFormatError, match="line 2 is not a JSON text"):
        evaluate(path, data)


def test_answers_may_be_mappings_themselves(data):
    beliefs = [{"answer": "1", "confidence": 0.9}] * 6
    assert evaluate(beliefs, data, "brier").samples[0].prediction == beliefs[0]


def test_pairs_of_answers_are_not_pairs_of_ids(data):
    assert evaluate([("1", "1")] * 6, data).repeats().shape == (6, 2)


def test_samples_are_no_predictions(data):
    with pytest.raises(PredictionsError, match="predictions come first"):
        evaluate(data, data)
    with pytest.raises(ArgumentTypeError, match="predictions come first"):
        evaluate(data, ANSWERS)


def test_a_coroutine_is_no_answer(data):
    async def asked(sample):
        return sample.target

    with pytest.raises(PredictionsError, match="async def"):
        evaluate(lambda sample: asked(sample), data, cache=False)


class Model:
    async def __call__(self, sample):
        await asyncio.sleep(0)
        return sample.target


def test_functions_have_a_name(data):
    def told(sample, answer):
        return answer

    assert evaluate(functools.partial(told, answer="1"), data, cache=False).info.model == "told"
    assert evaluate(Model(), data, cache=False).info.model == "Model"


def test_several_models_are_a_dict_of_them(data):
    with pytest.raises(ArgumentTypeError, match="dict of models"):
        evaluate_many([ANSWERS, ANSWERS], data)
    with pytest.raises(ArgumentError, match="each model is a run of its own"):
        evaluate_many({"a": ANSWERS, "b": ANSWERS}, data, run_id="mine")


class TestData:
    def test_rows_without_ids_are_numbered(self):
        made = evaluate(["5", "7"], [{"input": "2 + 3", "target": "5"}, {"input": "2 * 3", "target": "6"}])
        assert made.value() == 0.5 and len(set(made.ids)) == 2

    def test_a_list_of_samples(self):
        assert evaluate({"7": "1"}, [Sample(id=7, input="?", target="1")]).value() == 1

    def test_a_file(self, tmp_path):
        path = tmp_path / "own.jsonl"
        path.write_text(lines([{"question": "2 + 3", "answer": "5"}]))
        assert evaluate(["5"], str(path)).value() == evaluate(["5"], path).value() == 1

    def test_targets_of_rows_become_texts_as_those_of_a_dataset(self):
        for target, text in ((4, "4"), (4.0, "4"), (4.5, "4.5"), (None, ""), (["4", 5, None], ["4", "5"]), ("4", "4")):
            rows = [{"id": "a", "input": "?", "target": target}, {"id": "b", "input": "?", "target": "6", "level": 1}]
            for data in (rows, rows[:1], Dataset.from_list(rows, on_mixed_types="use_json")):
                assert questions_of(data).samples[0].target == text
        with pytest.raises(BadRowError, match="row 1.*'input': the input is empty"):
            evaluate(["4", "6"], [{"id": "a", "input": "?", "target": 4}, {"id": "b", "target": "6"}])

    def test_a_file_that_is_not_there(self, tmp_path):
        for name in ("nosuch.jsonl", "data/nosuch", f"{tmp_path}/nosuch"):
            with pytest.raises(FileNotFoundError, match="there is no such file"):
                evaluate(["1"], name)
        with pytest.raises(UnknownEntryError, match="Did you mean 'gsm8k'"):
            evaluate(["1"], "gsm8")

    @pytest.mark.parametrize("stranger", [None, 7, b"bytes"])
    def test_anything_else_is_refused(self, stranger):
        with pytest.raises(ArgumentError, match="expected a benchmark or its name"):
            evaluate(["1"], stranger)


class TestDrawn:
    def test_what_was_drawn_is_judged_and_told(self, data):
        part = random_sample(data, 4, seed=3)
        run = evaluate([sample.target for sample in part.data], part)
        assert run.value() == 1 and run.ids == [NAMES[row] for row in part.rows]
        told = run.info.options["drawn"]
        assert (told["method"], told["seed"], told["size"], told["original_size"]) == ("random", 3, 4, 6)
        assert run.info.dataset_hash == part.data.content_hash != data.content_hash

    def test_two_runs_on_one_part_compare_and_on_two_do_not(self, data):
        first, second = (fold.test for fold in k_fold(data, 2))
        runs = [evaluate(["1"] * 3, part, model=model) for part, model in ((first, "a"), (first, "b"), (second, "c"))]
        assert compare(runs[:2]).rows[0].n == 3
        with pytest.raises(IncomparableRunsError, match="dataset hash"):
            compare(runs)

    def test_rows_that_come_twice_are_refused(self, data):
        with pytest.raises(ArgumentError, match="ids must differ"):
            evaluate(["1"] * 6, bootstrap_sample(data, seed=1))


class TestFields:
    def test_a_field_that_no_sample_has_is_an_error(self, data):
        run = evaluate(ANSWERS, data)
        for asked in (run.by, run.column, lambda path: evaluate(ANSWERS, data, cluster_by=path)):
            with pytest.raises(ColumnNotFoundError, match="'kinds' does not exist"):
                asked("kinds")
            with pytest.raises(ColumnNotFoundError, match="Did you mean 'metadata.kind'"):
                asked("metadata.kinds")
        for asked in ("by", "cluster_by"):
            with pytest.raises(ColumnNotFoundError, match="metadata.kind"):
                compare(run, evaluate(ANSWERS, data, model="b"), **{asked: "kinds"})

    @pytest.mark.parametrize("stored", [False, True])
    def test_a_name_with_dots_is_a_name(self, data, stored, tmp_path):
        run = evaluate(ANSWERS, data, store=tmp_path if stored else None)
        for path in ("a.b", "metadata.a.b"):
            assert evaluate(ANSWERS, data, cluster_by=path).summary["em"].interval.method != "wilson"
            assert run.column(path) == [0, 1, 2, 0, 1, 2] and list(run.by(path)) == [0, 1, 2]

    def test_a_cluster_is_refused_before_a_model_is_asked(self, data):
        asked = []
        with pytest.raises(ColumnNotFoundError):
            evaluate(lambda sample: asked.append(sample), data, cluster_by="kinds", cache=False)
        assert not asked


def test_the_samples_of_a_run_are_a_dataset(data):
    made = evaluate(ANSWERS, data).to_dataset()
    assert made["exact_match@2"][:] == [1, 1, 1, 0, 0, 0] and made["id"][:] == NAMES
    assert made["exact_match@2 status"][5] == "empty"


def test_a_remark_says_why(data):
    def broken(prediction, target):
        raise ZeroDivisionError("no such thing")

    assert "5 error, left out (ZeroDivisionError: no such thing)" in str(evaluate(ANSWERS, data, broken))


TEXTS_OF_FOUR = [
    {"id": n, "input": "?", "target": str(n // 20 % 2), "metadata": {"kind": n % 2, "text": n // 4}} for n in range(80)
]


class TestGroups:
    def test_a_group_is_as_sure_as_the_run(self):
        """Within a group the level and the clusters of the run hold: the samples of a text are right or wrong together."""
        data = samples_from(TEXTS_OF_FOUR)
        alone, clustered = (evaluate(["1"] * 80, data, level=0.8, cluster_by=field) for field in (None, "text"))
        for kind in (0, 1):
            sure, less_sure = (run.by("kind")[kind]["em"].interval for run in (alone, clustered))
            assert sure.level == less_sure.level == 0.8
            assert less_sure.high - less_sure.low > 1.2 * (sure.high - sure.low)

    def test_groups_that_are_the_clusters_have_intervals(self):
        run = evaluate(["1"] * 80, samples_from(TEXTS_OF_FOUR), cluster_by="metadata.kind")
        assert run.by("kind")[0]["em"].interval.method == "wilson"
