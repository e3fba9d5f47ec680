"""What would give a wrong score, or cost answers of a model for none, is refused; and the refusal says what to do."""

import asyncio
import json
import logging
import sys

import pytest

from crucible_datasets import Dataset, config
from crucible_datasets.benchmarks import load_benchmark, samples_from
from crucible_datasets.evaluation import ResultStore, compare, evaluate, evaluate_many, write_report
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    CodeExecutionRefusedError,
    ColumnNotFoundError,
    MissingPackageError,
    MissingPredictionsError,
    PredictionsError,
    RunNotFoundError,
    UnknownEntryError,
)

IDS = [f"q{n:03}" for n in range(10)]
REWARDS = [[0.3, 0.1], [1, 2.5], [0, -1], [0.1, 0.2]]
BARE = [{"id": n, "input": "?"} for n in range(3)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def data():
    rows = [
        {"id": one, "input": "?", "target": str(n), "metadata": {"from": {"book": n % 2}}} for n, one in enumerate(IDS)
    ]
    return samples_from(rows, "own")


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "runs")


class TestRowsWithoutUsualIds:
    def rows(self, name, of=lambda one: one):
        """Right answers in another order than the samples, beside a column that could be taken for them."""
        return [{name: of(one), "answer": "x", "pred": str(n)} for n, one in reversed(list(enumerate(IDS)))]

    @pytest.mark.parametrize("name", ["qid", "doc_id", "exampleId", "row-idx", "index"])
    @pytest.mark.parametrize("form", ["list", "file", "dataset"])
    def test_a_column_that_holds_the_ids_is_theirs(self, data, tmp_path, name, form):
        rows = self.rows(name)
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
        given = {"list": rows, "file": tmp_path / "a.jsonl", "dataset": Dataset.from_list(rows)}[form]
        assert evaluate(given, data).value() == 1.0

    @pytest.mark.parametrize("name", ["qid", "doc_id", "exampleId", "row-idx", "index"])
    def test_a_column_that_names_other_samples_is_refused(self, data, name):
        rows = self.rows(name, lambda one: one.upper())
        with pytest.raises(PredictionsError, match=f"{name}.*id_column"):
            evaluate(rows, data)
        with pytest.raises(PredictionsError):
            evaluate([{name: row[name], "said": row["pred"]} for row in rows], data)
        assert evaluate([row["pred"] for row in reversed(rows)], data).value() == 1.0

    @pytest.mark.parametrize("beside", [{}, {"model_id": "m"}, {"valid": True}, {"paid": "x", "grid": "y"}])
    def test_rows_that_name_no_samples_are_taken_in_their_order(self, data, beside):
        rows = [{"prediction": str(n), **beside} for n in range(10)]
        assert evaluate(rows, data).value() == 1.0

    def test_numbers_of_rows_are_their_order(self, data):
        assert evaluate([{"prediction": str(n), "index": n} for n in range(10)], data).value() == 1.0

    def test_a_column_that_is_not_there_is_named_with_those_that_are(self, data):
        rows = [{"id": one, "foo": "0", "bar": "1"} for one in IDS]
        for asked in (None, "fooo"):
            with pytest.raises(ColumnNotFoundError, match="id, foo, bar"):
                evaluate(rows, data, prediction_column=asked)


class TestRewards:
    PAIRS = samples_from([{"id": f"p{n}", "input": "?", "target": "AB"[n % 2]} for n in range(4)])

    @pytest.mark.parametrize("form", ["list", "tuples", "dict", "rows", "dataset", "function", "mappings"])
    def test_two_rewards_are_one_answer_in_every_form(self, form):
        named = {f"p{n}": one for n, one in enumerate(REWARDS)}
        rows = [{"id": one, "prediction": list(map(float, given))} for one, given in named.items()]
        given = {
            "list": REWARDS,
            "tuples": [tuple(one) for one in REWARDS],
            "dict": named,
            "rows": rows,
            "dataset": Dataset.from_list(rows),
            "function": lambda sample: named[sample.id],
            "mappings": {one: dict(zip("ab", given, strict=True)) for one, given in named.items()},
        }[form]
        found = evaluate(given, self.PAIRS, "preference_accuracy")
        assert found.value() == 1.0 and len(found) == 4

    def test_several_pairs_of_rewards_are_several_answers(self):
        found = evaluate([[one, one[::-1]] for one in REWARDS], self.PAIRS, "preference_accuracy")
        assert found.repeats().tolist() == [[1.0, 0.0]] * 4

    def test_rewards_are_no_ids(self):
        data = samples_from([{"id": n, "input": "?", "target": "B"} for n in range(3)])
        assert evaluate([(0, 1), (1, 2), (2, 3)], data, "preference_accuracy").value() == 1.0
        assert evaluate([(2, "B"), (1, "B"), (0, "A")], data, "preference_accuracy").values().tolist() == [0, 1, 1]

    def test_a_reward_that_is_no_number_is_not_read(self):
        found = evaluate([[float("nan"), 0.1]] * 4, self.PAIRS, "preference_accuracy")
        assert len(found) == 4 and found.summary["preference_accuracy"].unparsed_rate == 1.0

    def test_numbers_of_other_metrics_are_several_answers(self, data):
        assert evaluate([[n, 99] for n in range(10)], data, "numeric").value() == 0.5


class TestNoTargets:
    @pytest.mark.parametrize("metrics", [None, "f1", ["contains", "bleu"], "multiple_choice"])
    def test_there_is_nothing_to_compare_with(self, metrics):
        with pytest.raises(ArgumentError, match="no sample has a target.*fields="):
            evaluate(["x"] * 3, BARE, metrics)
        with pytest.raises(ArgumentError, match="ifeval"):
            evaluate(["x"] * 16, load_benchmark("ifeval", synthetic=True), metrics)

    def test_code_is_judged_by_tests(self):
        data = [{**one, "metadata": {"tests": ["assert f() == 1"]}} for one in BARE]
        said = ["def f():\n    return 1"] * 3
        assert evaluate(said, data, "code_execution", allow_code_execution=True).value() == 1.0

    def test_functions_may_judge_without_one(self):
        assert evaluate(["x", "", "y"], BARE, lambda said, target: said == "x").value() == pytest.approx(1 / 3)

    def test_one_target_is_enough_and_nothing_may_be_the_right_answer(self, caplog):
        some = {"a": ["x"] * 3, "b": ["x", "", " "]}
        for run in evaluate_many(some, [{**BARE[0], "target": "x"}, *BARE[1:]]).values():
            assert run.value() == pytest.approx(1 / 3)
        (told,) = caplog.messages  # once for all models
        assert told == "2 of 3 samples have no target, and any answer to them counts as wrong: 1, 2."
        assert evaluate(["x"], [{"id": 1, "input": "?", "target": []}], "f1").value() == 0.0


class TestChoices:
    ROWS = tuple({"question": "?", "choices": ["x", "y"], "answer": answer} for answer in ("B", 1, "y", "", None))

    def test_data_with_choices_is_multiple_choice_unless_a_metric_is_named(self, caplog):
        run = evaluate(["The answer is (B)."] * 5, list(self.ROWS))
        assert run.info.metrics == ["multiple_choice@2"] and [*run.values()] == [1.0, 1.0, 1.0, 0.0, 0.0]
        assert evaluate(["B"] * 5, list(self.ROWS), "exact_match").info.metrics == ["exact_match@2"]
        assert not any("have choices" in told for told in caplog.messages)

    def test_a_column_that_was_not_kept_can_be(self):
        rows = [{**row, "topic": "sums"} for row in self.ROWS]
        with pytest.raises(ColumnNotFoundError) as refused:
            evaluate(["B"] * 5, rows).by("topic")
        assert "fields={'metadata': 'topic'}" in refused.value.__notes__[0]
        with pytest.raises(ColumnNotFoundError) as refused:
            evaluate(["B"] * 5, rows).by("metadata.topic")
        assert "fields={'metadata': 'topic'}" in refused.value.__notes__[0]
        assert [*evaluate(["B"] * 5, rows, fields={"metadata": "topic"}).by("topic")] == ["sums"]

    def test_choices_of_some_samples_are_told_of(self, caplog):
        data = [self.ROWS[0], {"question": "?", "choices": None, "answer": "B"}]
        assert evaluate(["B", "B"], data).info.metrics == ["exact_match@2"]
        assert "1 of 2 samples have choices" in caplog.messages[0]


class TestNames:
    @pytest.mark.parametrize("path", ["boook", "metadata.boook", "metadata.from.boook", "from.boook", "target.x"])
    def test_a_field_that_no_sample_has_is_an_error_everywhere(self, data, store, path):
        runs = [evaluate(["1"] * 10, data, store=store, model=model) for model in "ab"]
        for wrong in (runs[0].by, runs[0].column, lambda path: compare(*runs, by=path)):
            with pytest.raises(ColumnNotFoundError, match="metadata.from"):
                wrong(path)
        with pytest.raises(ColumnNotFoundError):
            compare(*runs, cluster_by=path)
        with pytest.raises(ColumnNotFoundError):
            evaluate(["1"] * 10, data, cluster_by=path)

    def test_a_field_that_is_empty_is_a_group(self):
        data = samples_from([{"id": n, "input": "?", "target": "1", "metadata": {"a": None, "b": n}} for n in range(3)])
        assert list(evaluate(["1"] * 3, data).by("a")) == [None]

    def test_a_score_that_is_misspelt_is_an_error(self, data, store):
        assert store.query(scores={"exact_mach": 0.1}) == []  # no run, so no run has it
        evaluate(["1"] * 10, data, lambda said, target: 1.0, store=store)
        evaluate(["1"] * 10, data, store=store)
        for place in (store, store.mirror()):
            assert len(place.query(scores={"<lambda>": 0.5})) == 1 and place.query(scores={"f1": 0.5}) == []
            with pytest.raises(UnknownEntryError, match="exact_match@2"):
                place.query(scores={"exact_mach": 0.1})

    def test_a_beginning_that_several_have_is_ambiguous(self, data, store):
        for run_id in ("one-a", "one-b"):
            evaluate(["1"] * 10, data, store=store, run_id=run_id)
        with pytest.raises(RunNotFoundError, match=r"'one' is ambiguous.*one-a, one-b"):
            store.load("one")
        with pytest.raises(RunNotFoundError, match="There is no run 'two'"):
            store.load("two")


class TestBeforeAModelIsAsked:
    @pytest.mark.parametrize("metric", ["math", "math/minerva", "bleu", "rougeL"])
    def test_a_package_is_looked_for(self, data, monkeypatch, metric):
        for package in ("math_verify", "sacrebleu", "rapidfuzz"):
            monkeypatch.setitem(sys.modules, package, None)
        calls = []
        with pytest.raises(MissingPackageError):
            evaluate(lambda sample: calls.append(1) or "x", data, metric)
        assert not calls

    def test_leave_to_run_code_is_looked_for(self):
        calls = []
        with pytest.raises(CodeExecutionRefusedError):
            evaluate(lambda sample: calls.append(1) or "x", load_benchmark("humaneval", synthetic=True))
        assert not calls

    def test_verdicts_need_no_leave(self, data):
        assert evaluate(lambda sample: [True, True], data, "pass_at_k").value() == 1.0


class TestFailedRuns:
    def test_a_run_that_kept_nothing_is_not_there(self, data, store):
        def fails(sample):
            raise RuntimeError("429 rate limited")

        for wrong, error in (
            (["1"], PredictionsError),
            ({"q001": "1"}, MissingPredictionsError),
            (fails, RuntimeError),
        ):
            with pytest.raises(error):
                evaluate(wrong, data, store=store)
        assert store.unfinished() == [] and store.list() == []

    def test_a_run_that_kept_something_goes_on(self, data, store, monkeypatch):
        monkeypatch.setattr("crucible_datasets.evaluation.runs.batches._ROWS", 1)
        broken = [True]

        def answer(sample):
            if broken[0] and sample.id == "q008":
                raise RuntimeError("gone")
            return sample.target

        asked = {"store": store, "run_id": "r", "cache": False}
        with pytest.raises(RuntimeError):
            evaluate(answer, data, **asked)
        assert [run.info.run_id for run in store.unfinished()] == ["r"]
        broken[0] = False
        assert evaluate(answer, data, resume=True, **asked).value() == 1.0

    @pytest.mark.parametrize("concurrency", [None, 3])
    def test_the_error_of_a_function_names_the_sample(self, data, concurrency):
        def fails(sample):
            if sample.id == "q003":
                raise RuntimeError("429 rate limited")
            return "1"

        with pytest.raises(RuntimeError, match="429 rate limited") as error:
            evaluate(fails, data, concurrency=concurrency)
        assert len(error.value.__notes__) == 1 and "'q003'" in error.value.__notes__[0]

    def test_a_timeout_says_what_it_is(self, data):
        async def slow(sample):
            await asyncio.sleep(60)

        with pytest.raises(TimeoutError, match=r"'q000'.*timeout=0.01"):
            evaluate(slow, data, timeout=0.01)


class TestRunsOfAStore:
    def test_they_are_compared_as_what_they_load(self, data, store):
        runs = [evaluate([said] * 10, data, store=store, model=said) for said in "12"]
        listed = {run.info.model: run for run in reversed(store.list())}
        expected = compare(*runs)
        assert compare(listed["1"], listed["2"]) == compare(listed) == expected
        assert compare({"1": [listed["1"]], "2": {"own": listed["2"]}}) == expected
        assert list(listed["1"].load().samples) == list(runs[0].samples)

    def test_names_and_runs_of_no_store_say_how_to_load_them(self, data, store):
        evaluate(["1"] * 10, data, store=store, run_id="one")
        with pytest.raises(ArgumentTypeError, match=r"one.*store\.load\(id\)"):
            compare("one", "two")
        with pytest.raises(ArgumentError, match=r"store\.load"):
            store.mirror().list()[0].load()

    def test_they_are_shown_in_short(self, data, store):
        evaluate(["1"] * 10, data, store=store, run_id="one", model="m")
        assert repr(store.list()[0]) == "StoredRun('one', 'm' on 'own', 10 samples, exact_match@2=0.1)"
        store.open_run(model="m", dataset="d", run_id="two")
        assert repr(store.unfinished()[0]) == "StoredRun('two', 'm' on 'd', 0 samples, unfinished)"


def test_miniatures_by_the_name_of_a_benchmark():
    targets = [sample.target for sample in load_benchmark("gsm8k", synthetic=True)]
    result = evaluate(targets, "gsm8k", synthetic=True)
    assert result.value() == 1.0 and result.info.dataset == "gsm8k"
    assert "on gsm8k (miniature) (test)" in str(result) and "on 'gsm8k (miniature)'" in repr(result)
    assert evaluate_many({"m": targets}, "gsm8k", synthetic=True)["m"].value() == 1.0
    with pytest.raises(ArgumentTypeError, match="synthetic"):
        evaluate(["1"], [{"id": 1, "input": "?", "target": "1"}], synthetic=True)


def test_frames_of_pandas(data):
    found = evaluate([str(n) for n in range(10)], data)
    frame = found.to_pandas()
    assert list(frame["id"]) == IDS and list(frame["exact_match@2"]) == [1.0] * 10
    assert list(frame.columns) == found.to_dataset().column_names


def test_answers_of_the_cache_are_told(data, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("crucible_datasets"), "propagate", True)
    caplog.set_level(logging.INFO, "crucible_datasets")
    for told in ("", "10 answers are from the cache"):
        caplog.clear()
        evaluate(lambda sample: sample.target, data, model="m", cache_key="k")
        assert told in caplog.text and bool(told) == ("cache=False" in caplog.text)


def test_an_object_that_is_called_has_the_name_of_its_class(data):
    class Oracle:
        def __call__(self, sample):
            return sample.target

    assert evaluate(Oracle(), data).info.model == "Oracle"


def test_a_store_is_a_folder_or_a_store(data, tmp_path):
    with pytest.raises(ArgumentTypeError, match=r"store=True: expected a folder or a ResultStore"):
        evaluate(["x"] * len(data), data, store=True)
    assert evaluate(["x"] * len(data), data, store=tmp_path).info.run_id in ResultStore(tmp_path)


def test_a_second_run_is_no_title(data, tmp_path):
    one, two = (evaluate(["x"] * len(data), data, model=model) for model in "ab")
    with pytest.raises(ArgumentTypeError, match="several runs are given as one list"):
        write_report(str(tmp_path / "page.html"), one, two)
    assert write_report(str(tmp_path / "page.html"), [one, two])


def test_a_metric_that_fails_everywhere_is_told(data, caplog, tmp_path):
    def wrong(prediction, target, other):
        return 1

    for store in (None, tmp_path):
        caplog.clear()
        assert evaluate(["x"] * len(data), data, wrong, store=store).value() is None
        assert "failed on every sample (TypeError: " in caplog.text
    caplog.clear()
    evaluate(["x"] * len(data), data, lambda prediction, target: 1)
    assert caplog.text == ""


def test_a_group_that_is_misspelt(data):
    known = samples_from([{"id": 1, "input": "?", "target": "x", "metadata": {"topic": "a"}}])
    with pytest.raises(ColumnNotFoundError) as raised:
        evaluate(["x"], known).by("topc")
    assert raised.value.__notes__ == ["Did you mean 'topic'?"]
