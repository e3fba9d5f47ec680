"""Every form of predictions means the same; what is missing or unknown is never passed over."""

import asyncio
import csv
import json
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import Dataset, config
from crucible_datasets.benchmarks import load_benchmark, samples_from
from crucible_datasets.evaluation import Outcome, ResultStore, compare, evaluate, evaluate_many
from crucible_datasets.evaluation.metrics import metric_of
from crucible_datasets.exceptions import (
    ArgumentError,
    CodeExecutionRefusedError,
    ColumnNotFoundError,
    FileFormatError,
    MissingPredictionsError,
    PredictionsError,
    RunExistsError,
    UnknownEntryError,
    UnknownPredictionsError,
)

EM = "exact_match@2"
TEXTS = ["7", "1,0", "-3", "é\n", "", "=1", "007", "no"]


def questions(number=8):
    rows = [
        {"id": n + 10, "input": f"q{n}", "target": str(n), "metadata": {"half": n < 4, "n": n}} for n in range(number)
    ]
    return samples_from(rows, "asked")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")


# Forms


def as_dict(texts, folder):
    return {n + 10: text for n, text in enumerate(texts)}


def as_records(texts, folder):
    return [{"id": str(n + 10), "completion": text} for n, text in reversed(list(enumerate(texts)))]


def as_jsonl(texts, folder):
    path = folder / "answers.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in as_records(texts, folder)), encoding="utf-8")
    return path


def as_json(texts, folder):
    (folder / "answers.json").write_text(json.dumps(as_dict(texts, folder)), encoding="utf-8")
    return str(folder / "answers.json")


def as_csv(texts, folder):
    with open(folder / "answers.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([["prediction", "id"], *([text, n + 10] for n, text in enumerate(texts))])
    return folder / "answers.csv"


def as_dataset(texts, folder):
    return Dataset.from_list(as_records(texts, folder))


def as_parquet(texts, folder):
    as_dataset(texts, folder).to_parquet(folder / "answers.parquet")
    return folder / "answers.parquet"


def as_column(texts, folder):
    return Dataset.from_dict({"said": texts})["said"]


def as_function(texts, folder):
    return lambda sample: texts[sample.id - 10]


def as_async(texts, folder):
    async def answer(sample):
        await asyncio.sleep(0.001 * (sample.id % 3))
        return texts[sample.id - 10]

    return answer


FORMS = [as_dict, as_records, as_jsonl, as_json, as_csv, as_dataset, as_parquet, as_column, as_function, as_async]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_means_what_a_list_means(form, tmp_path):
    expected = evaluate(TEXTS, questions(), ["exact_match", "f1"])
    found = evaluate(form(TEXTS, tmp_path), questions(), ["exact_match", "f1"])
    assert [one.prediction for one in found.samples] == TEXTS
    assert list(found.samples) == list(expected.samples) and found.summary == expected.summary


@pytest.mark.parametrize("form", [form for form in FORMS if form is not as_csv])
def test_every_form_may_hold_several_answers(form, tmp_path):
    several = [[str(n), "no", str(n)] for n in range(8)]
    if form in {as_records, as_jsonl, as_dataset, as_parquet}:
        rows = [{"id": n + 10, "prediction": text} for n, each in enumerate(several) for text in each]
        given = {as_records: rows, as_dataset: Dataset.from_list(rows)}.get(form)
        if form is as_jsonl:
            given = tmp_path / "a.jsonl"
            given.write_text("\n".join(map(json.dumps, rows)))
        if form is as_parquet:
            given = tmp_path / "a.parquet"
            Dataset.from_list(rows).to_parquet(given)
    else:
        given = form(several, tmp_path)
    found = evaluate(given, questions())
    assert found.info.num_samples == 8 and len(found) == 24
    np.testing.assert_array_equal(found.repeats(), [[1, 0, 1]] * 8)
    np.testing.assert_allclose(found.values(), [2 / 3] * 8)
    assert found.summary[EM].interval.method == "wilson, clustered"


def test_a_column_is_named_where_its_name_is_unusual(tmp_path):
    rows = Dataset.from_dict({"key": range(10, 18), "said": [str(n) for n in range(8)]})
    assert evaluate(rows, questions(), prediction_column="said", id_column="key").value() == 1.0
    for wrong in ({"prediction_column": "says"}, {}, {"prediction_column": "said", "id_column": "di"}):
        with pytest.raises(ColumnNotFoundError, match="key, said"):
            evaluate(rows, questions(), **wrong)


# What does not fit


def test_unknown_ids_are_listed():
    with pytest.raises(UnknownPredictionsError, match="99, x") as error:
        evaluate({**as_dict(TEXTS, None), 99: "a", "x": "b"}, questions())
    assert error.value.ids == ["99", "x"]


@pytest.mark.parametrize("wrong", [["a"] * 7, [], 7, b"abc", "answers.xlsx", None])
def test_predictions_that_match_nothing_are_refused(wrong):
    with pytest.raises(PredictionsError):
        evaluate(wrong, questions())


@pytest.mark.parametrize(
    ("name", "text"), [("a.jsonl", "{}\n[1]"), ("a.jsonl", "nonsense"), ("a.json", "{"), ("a.csv", "id,prediction\n1")]
)
def test_broken_files_are_named_with_the_place(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=name):
        evaluate(tmp_path / name, questions())


def test_ids_must_differ():
    with pytest.raises(ArgumentError, match="occur again: 1"):
        evaluate(["a", "b"], [{"id": 1, "input": "x"}, {"id": "1", "input": "y"}])


@pytest.mark.parametrize("wrong", [{"metrics": "exakt"}, {"extract": "gsm9k"}, {"metrics": [], "missing": "error"}])
def test_unknown_names_are_errors(wrong):
    with pytest.raises((UnknownEntryError, ArgumentError)):
        evaluate(TEXTS, questions(), **wrong)


def test_options_must_be_of_a_metric_that_is_evaluated():
    for wrong in ({"f1": {}}, {"exact_match": {"colour": 1}}):
        with pytest.raises(ArgumentError):
            evaluate(TEXTS, questions(), metric_options=wrong)


# Missing predictions


@given(present=st.lists(st.booleans(), min_size=1, max_size=12))
def test_missing_predictions_count_as_the_policy_says(present):
    data = questions(len(present))
    answers = {n + 10: str(n) for n, there in enumerate(present) if there}
    missing = present.count(False)
    wrong, ignored = (evaluate(answers, data, missing=policy) for policy in ("wrong", "ignore"))
    assert wrong.value() == pytest.approx(len(answers) / len(present)) and wrong.summary[EM].n == len(present)
    assert ignored.value() == (1.0 if answers else None) and ignored.summary[EM].n == len(answers)
    for found in (wrong, ignored):
        assert found.summary[EM].counts.get("missing", 0) == missing
        assert ("missing" in str(found)) == bool(missing)
    if missing:
        with pytest.raises(MissingPredictionsError) as error:
            evaluate(answers, data)
        assert error.value.ids == [str(n + 10) for n, there in enumerate(present) if not there]
        several = [[str(n), str(n) if there else None] for n, there in enumerate(present)]
        for given in (several, lambda sample: several[int(sample.id) - 10]):
            with pytest.raises(MissingPredictionsError) as error:
                evaluate(given, data)
            assert set(error.value.ids) <= {str(n + 10) for n, there in enumerate(present) if not there}


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="'wrong'"):
        evaluate(TEXTS, questions(), missing="drop")


def test_missing_predictions_count_in_metrics_that_are_no_mean():
    data = samples_from([{"id": n, "input": "q", "target": "the cat sat on the mat"} for n in range(4)])
    said = dict.fromkeys(range(3), "the cat sat on the mat")
    whole = evaluate({**said, 3: ""}, data, ["bleu", "ter"])
    found = evaluate(said, data, ["bleu", "ter"], missing="wrong")
    assert [found.value(name) for name in ("bleu", "ter")] == [whole.value(name) for name in ("bleu", "ter")]
    assert found.summary["bleu@1"].counts == {"ok": 3, "missing": 1} and found.summary["bleu@1"].signature


def test_unparsed_is_not_wrong():
    found = evaluate(["#### 0", "1", "#### 5", ""], questions(4), extract="gsm8k/official@1")
    assert found.summary[EM].counts == {"ok": 2, "unparsed": 1, "empty": 1}
    assert (found.value(), found.summary[EM].unparsed_rate, found.summary[EM].value_parsed) == (0.25, 0.5, 0.5)
    assert found.info.rules == ["gsm8k/official@1"] and found.samples[0].outcomes[EM].extracted == "0"


# Functions


def test_a_run_goes_on_where_it_stopped(tmp_path):
    calls, broken = [], [True]

    def answer(sample):
        calls.append(sample.id)
        if broken[0] and sample.id == 14:
            raise ConnectionError("gone")
        return str(sample.id - 10)

    asked = {"cache": tmp_path / "answers", "cache_key": "v1", "model": "m"}
    with pytest.raises(ConnectionError):
        evaluate(answer, questions(), **asked)
    broken[0] = False
    first = calls[:]
    assert evaluate(answer, questions(), **asked).value() == 1.0
    assert sorted({*first, *calls[len(first) :]}) == list(range(10, 18)) and calls.count(10) == 1
    assert evaluate(answer, questions(), **asked).value() == 1.0 and len(calls) == len(first) + 8 - len(first) + 1
    assert evaluate(answer, questions(), **{**asked, "cache_key": "v2"}).value() == 1.0 and calls.count(10) == 2


@pytest.mark.parametrize("raised", [ConnectionError, KeyboardInterrupt])
def test_what_was_answered_before_an_end_is_kept_and_not_asked_for_again(tmp_path, raised):
    data = [{"id": n, "input": "say it", "target": str(n)} for n in range(30)]
    asked, ends = [], [raised("enough")]

    def model(sample):
        if sample.id == 20 and ends:
            raise ends.pop()
        asked.append(sample.id)
        return str(sample.id)

    how = {"store": tmp_path, "run_id": "one", "cache": False}
    with pytest.raises(raised) as stopped:
        evaluate(model, data, "exact_match", **how)
    assert "run_id='one' and resume=True" in stopped.value.__notes__[-1]
    other = r"begun with dataset_hash='\w{12}… \(30 samples\)', and now has '\w{12}… \(10 samples\)'"
    with pytest.raises(ArgumentError, match=other):
        evaluate(model, data[:10], "exact_match", resume=True, **how)
    assert [one.id for one in ResultStore(tmp_path).load("one").samples] == [str(n) for n in range(20)]
    assert len(evaluate(model, data, "exact_match", resume=True, **how).samples) == 30
    assert asked == list(range(30))


def test_answers_are_kept_by_what_was_asked_and_who_answered(tmp_path):
    calls = []

    def run(data, model="m", function=None, **asked):
        before = len(calls)
        evaluate(
            function or (lambda sample: calls.append(1) or "x"),
            data,
            model=model,
            cache=tmp_path,
            cache_key="k",
            **asked,
        )
        return len(calls) - before

    assert run(questions()) == 8 and run(questions()) == 0 and run(questions(10)) == 2
    assert run(questions(), model="other") == 8 and run(questions(), repeats=2) == 8
    assert run(questions().shuffle(seed=1)) == 0
    changed = questions().dataset.map(lambda row: {"input": row["input"] + ("!" if row["id"] == 12 else "")})
    assert run(type(questions())(changed, "asked")) == 1


def test_another_function_is_asked_anew():
    def run(suffix):
        return evaluate(lambda sample: sample.target + suffix, questions(), model="m").value()

    assert run("") == 1.0 and run("x") == 0.0 and run("") == 1.0


def test_no_more_calls_run_at_a_time_than_asked_for():
    for kind in ("sync", "async"):
        running, most, lock = [0], [0], threading.Lock()

        def count(change):
            with lock:
                running[0] += change
                most[0] = max(most[0], running[0])

        def sync(sample):
            count(1)
            time.sleep(0.002)
            count(-1)
            return "x"

        async def not_sync(sample):
            count(1)
            await asyncio.sleep(0.002)
            count(-1)
            return "x"

        evaluate(sync if kind == "sync" else not_sync, questions(40), concurrency=3, cache=False)
        assert 1 < most[0] <= 3


def test_what_runs_one_by_one_stays_in_the_thread_of_the_user():
    threads = set()
    evaluate(lambda sample: threads.add(threading.get_ident()) or "x", questions(), cache=False)
    assert threads == {threading.get_ident()}


def test_failures_do_not_count_and_have_their_reason():
    async def answer(sample):
        if sample.id == 11:
            raise KeyError("limit")
        if sample.id == 12:
            await asyncio.sleep(60)
        return None if sample.id == 13 else sample.target

    wrong, ignored = (
        evaluate(answer, questions(), missing=policy, timeout=0.05, cache=False) for policy in ("wrong", "ignore")
    )
    assert wrong.summary[EM].counts == {"ok": 5, "error": 1, "timeout": 1, "missing": 1} and wrong.value() == 5 / 6
    assert ignored.summary[EM].n == 5 and ignored.value() == 1.0
    assert (
        wrong.samples[1].outcomes[EM].detail == {"error": "KeyError: 'limit'"} and wrong.samples[1].prediction is None
    )
    with pytest.raises(KeyError):
        evaluate(answer, questions(2), cache=False)
    with pytest.raises(MissingPredictionsError, match=r"returned no answer for sample '10' \(there are \d+\)"):
        evaluate(lambda sample: None, questions(), cache=False)
    with pytest.raises(ArgumentError, match="async"):
        evaluate(lambda sample: "x", questions(), timeout=1)


def test_async_functions_work_inside_a_running_loop():
    async def notebook():
        return evaluate(as_async(TEXTS, None), questions(), cache=False)

    assert [one.prediction for one in asyncio.run(notebook()).samples] == TEXTS


def test_repeats_are_independent_calls():
    calls = iter(range(100))
    found = evaluate(lambda sample: str(next(calls)), questions(3), repeats=2, cache=False)
    assert [(one.id, one.epoch, one.prediction) for one in found.samples] == [
        ("10", 0, "0"), ("10", 1, "1"), ("11", 0, "2"), ("11", 1, "3"), ("12", 0, "4"), ("12", 1, "5")
    ]  # fmt: skip


def test_targets_that_count_as_wrong_everywhere_are_told(caplog):
    """Raw rows of a benchmark have whole solutions where its samples have the answers."""
    benchmark = load_benchmark("gsm8k", synthetic=True)
    answers = [sample.target for sample in benchmark]
    assert evaluate(answers, benchmark).value() == 1.0 and not caplog.messages
    assert evaluate(answers, benchmark.raw).value() == 0.0
    assert (
        "exact_match@2: no answer is right, though " in caplog.text
        and "of the first 32 give their target" in caplog.text
    )
    caplog.clear()
    assert evaluate(["?"] * len(answers), benchmark.raw).value() == 0.0 and not caplog.messages


# Metrics and benchmarks


def test_any_function_is_a_metric():
    def longer(prediction, target):
        return len(prediction) > len(target)

    def told(prediction, target, *, sample):
        return Outcome(float(sample.metadata["n"]), extracted=prediction.upper())

    found = evaluate(["aa"] * 8, questions(), [longer, told])
    assert [key.partition("@")[0] for key in found.info.metrics] == ["longer", "told"]
    assert (
        found.value("longer") == 1.0
        and found.value("told") == 3.5
        and found.samples[0].outcomes[found.key("told")].extracted == "AA"
    )


def test_async_functions_are_metrics_that_judge_several_answers_at_a_time():
    """As a judge does that is asked over the network: all calls share a loop, and one that fails is one sample."""
    running, most, loops = 0, 0, set()

    async def judge(prediction, target, *, sample, strict=False):
        nonlocal running, most
        loops.add(id(asyncio.get_running_loop()))
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        if sample.metadata["n"] == 3:
            raise RuntimeError("busy")
        return Outcome(float(prediction == target)) if strict else prediction == target

    asked = questions(40)
    result = evaluate([str(n % 8) for n in range(40)], asked, judge, metric_options={"judge": {"strict": True}})
    assert result.value() == 7 / 39 and result.samples[3].outcomes[result.key("judge")].status == "error"
    assert 1 < most <= 16 and len(loops) == 1

    async def inside():
        return evaluate(["0"], asked.take(1), judge).value()

    assert asyncio.run(inside()) == 1.0
    assert metric_of(judge).score("0", "0", sample=asked[0]).value == 1.0
    with pytest.raises(RuntimeError, match="busy"):
        metric_of(judge).score("3", "3", sample=asked[3])


def test_async_functions_that_take_long_still_judge_several_answers_at_a_time(monkeypatch):
    monkeypatch.setattr("crucible_datasets.evaluation.runs.batches._SECONDS", 0.02)
    running, most = 0, dict.fromkeys((0, 1), 0)

    async def judge(prediction, target, *, sample):
        nonlocal running
        running += 1
        half = sample.metadata["n"] // 40
        most[half] = max(most[half], running)
        await asyncio.sleep(0.05)
        running -= 1
        return 1.0

    evaluate(["x"] * 80, questions(80), judge)
    assert min(most.values()) > 4


def test_an_async_metric_that_is_cancelled_has_failed_for_one_answer_only():
    async def judge(prediction, target):
        if target == "3":
            raise asyncio.CancelledError
        return 1.0

    result = evaluate(["x"] * 5, questions(5), judge)
    assert result.value() == 1.0 and result.samples[3].outcomes[result.key()].status == "error"


def test_a_metric_that_cannot_be_hashed_has_a_version_of_its_own(tmp_path, caplog):
    def judge_with(client):
        def judge(prediction, target):
            return client is not None

        return judge

    with open(tmp_path / "log", "w") as client:
        judge, other = judge_with(client), judge_with(client)
        keys = [evaluate(["0"], questions(1), metric).key() for metric in (judge, judge, other)]
    assert keys[0] == keys[1] != keys[2]
    assert "closure variable 'client'" in caplog.text and "@metric(version=1) above" in caplog.text


def test_a_metric_without_any_value_is_remarked_on():
    def undecided(prediction, target):
        return None

    assert "no score, since the metric gave None for every sample" in str(evaluate(["0"], questions(1), undecided))


def test_what_a_slow_metric_said_is_kept_before_all_is_judged(tmp_path):
    store = ResultStore(tmp_path / "runs")

    def interrupted(prediction, target):
        if int(target) >= 200:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        evaluate(["x"] * 400, questions(400), interrupted, store=store)
    (kept,) = store.unfinished()
    assert 16 <= kept.info.num_samples <= 200


def test_a_benchmark_brings_its_metrics_and_its_rule():
    benchmark = load_benchmark("gsm8k", synthetic=True)
    found = evaluate(lambda sample: f"so #### {sample.target}", benchmark, cache=False)
    assert found.value() == 1.0 and found.info.rules == [benchmark.entry.extract] and found.info.split == "test"
    assert found.info.dataset_hash == benchmark.content_hash and found.info.revision == benchmark.provenance.revision
    plain = evaluate(lambda sample: f"so #### {sample.target}", benchmark, "contains", extract=False, cache=False)
    assert plain.info.rules == [] and plain.value() == 1.0


def test_a_stream_is_read_once_and_hashed():
    stream = load_benchmark("gsm8k", synthetic=True, streaming=True)
    whole = load_benchmark("gsm8k", synthetic=True)
    found = evaluate(["x"] * len(whole), stream)
    assert found.info.dataset_hash == whole.content_hash and found.info.rules == [whole.entry.extract]


def test_a_dataset_of_ones_own_is_judged():
    rows = Dataset.from_dict({"question": ["1+1", "2+2"], "answer": ["2", "4"]})
    assert evaluate(["2", "5"], rows, fields={"input": "question", "target": "answer"}).value() == 0.5


def test_completions_are_judged_together_where_the_metric_asks_for_it():
    benchmark = load_benchmark("humaneval", synthetic=True).take(2)
    answers = {sample.id: [sample.target, "    return None"] for sample in benchmark}
    found = evaluate(answers, benchmark, {"pass_at_k": {"k": 1}}, allow_code_execution=True)
    assert found.value() == 0.5 and len(found) == 2 and found.samples[0].prediction == answers[benchmark[0].id]
    with pytest.raises(CodeExecutionRefusedError):
        evaluate(answers, benchmark, {"pass_at_k": {"k": 1}})
    with pytest.raises(ArgumentError, match="calls of their own"):
        evaluate(answers, benchmark, ["pass_at_k", "exact_match"])


def test_stored_runs_give_no_leave_to_run_code(tmp_path):
    benchmark = load_benchmark("humaneval", synthetic=True).take(1)
    store = ResultStore(tmp_path)
    found = evaluate([benchmark[0].target], benchmark, allow_code_execution=True, store=store)
    assert found.value() == 1.0 and "allow_code_execution" not in str(found.info.options)
    with pytest.raises(CodeExecutionRefusedError):
        store.rescore(found.info.run_id)
    assert store.rescore(found.info.run_id, allow_code_execution=True).moved == []


def test_several_models_are_judged_on_the_same_samples(tmp_path):
    runs = evaluate_many(
        {"a": TEXTS, "b": [str(n) for n in range(8)]}, questions(), store=tmp_path, tags="x", cluster_by="half"
    )
    assert list(runs) == ["a", "b"] and {run.info.model for run in runs.values()} == {"a", "b"}
    assert {run.info.run_id for run in ResultStore(tmp_path).query(tags="x")} == {
        run.info.run_id for run in runs.values()
    }
    assert runs["b"].summary[EM].interval.method == "wilson, clustered"
    assert str(compare(*runs.values()))


# Runs in a store


def test_a_stored_run_is_the_run_in_memory(tmp_path):
    memory = evaluate(TEXTS, questions(), ["exact_match", "bleu"], model="m", cluster_by="half")
    stored = evaluate(TEXTS, questions(), ["exact_match", "bleu"], model="m", cluster_by="half", store=tmp_path)
    assert list(stored.samples) == list(memory.samples) and stored.summary == memory.summary
    assert stored.by("half") == memory.by("half")


@pytest.mark.parametrize("stop", [0, 3, 7])
def test_a_stored_run_is_continued(tmp_path, stop):
    store, calls = ResultStore(tmp_path), []

    def answer(sample):
        calls.append(sample.id)
        return "x" if sample.id < 14 else sample.target

    expected = evaluate(answer, questions(), model="m", cache=False)
    whole = list(expected.samples)
    with store.open_run(expected.info) as run:
        run.extend(whole[:stop])
    calls.clear()
    found = evaluate(answer, questions(), model="m", cache=False, store=store, run_id=expected.info.run_id, resume=True)
    assert calls == list(range(10 + stop, 18)) and list(found.samples) == whole
    assert found.summary == expected.summary and found.info.num_samples == 8


def test_a_finished_run_is_given_back_whoever_finished_it(tmp_path, monkeypatch):
    """A job that is started again need not know how far it came: also not that it died while it wrote the file."""
    whole = evaluate(TEXTS, questions(), store=tmp_path / "whole", run_id="job")

    def again(**more):
        return evaluate(TEXTS, questions(), store=tmp_path / "store", run_id="job", resume=True, **more)

    with monkeypatch.context() as dying:
        dying.setattr("crucible_datasets.evaluation.results.finishing._write", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            again()
    for result in (again(), again()):
        assert list(result.samples) == list(whole.samples) and result.summary == whole.summary
    assert len(ResultStore(tmp_path / "store")) == 1
    for other in (
        {"metrics": ["f1"]},
        {"extract": "squad@1.1"},
        {"missing": "wrong"},
        {"metric_options": {"exact_match": {"tolerance": 0.5}}},
        {"options": {"temperature": 1}},
        {"cluster_by": "half"},
    ):
        with pytest.raises(ArgumentError, match="it was begun with"):
            again(**other)
    with pytest.raises(RunExistsError):
        evaluate(TEXTS, questions(), store=tmp_path / "store", run_id="job")


def test_a_run_is_resumed_only_by_its_name(tmp_path):
    """Everything would be run again otherwise, without a word."""
    store = ResultStore(tmp_path)
    store.open_run(run_id="begun", model="m", dataset="d", metrics=["exact_match@2"]).close()
    with pytest.raises(ArgumentError, match="pass store= and run_id= too"):
        evaluate(TEXTS, questions(), run_id="begun", resume=True)
    with pytest.raises(ArgumentError, match="pass run_id= too.* Unfinished in .*: begun"):
        evaluate(TEXTS, questions(), store=store, resume=True)
    with pytest.raises(ArgumentError, match="pass run_id= too"):
        store.open_run(model="m", dataset="d", resume=True)
    assert len(store) == 0


@pytest.mark.parametrize(("model", "level"), [("m", "WARNING"), ("other", "INFO")])
def test_a_run_that_cannot_be_resumed_is_begun_and_that_is_said(tmp_path, caplog, model, level):
    """A job may pass resume=True from its first start on; a misspelt name is a warning if it may mean another run."""
    begun = evaluate(TEXTS, questions(), model="m").info
    ResultStore(tmp_path).open_run(begun, run_id="job-1").close()
    with caplog.at_level("INFO", "crucible_datasets"):
        assert len(evaluate(TEXTS, questions(), model=model, store=tmp_path, run_id="job-I", resume=True)) == 8
    [said] = [record for record in caplog.records if "a new run starts" in record.getMessage()]
    assert said.levelname == level and "'job-I'" in said.getMessage()
    assert ("job-1" in said.getMessage()) == (level == "WARNING")


@pytest.mark.parametrize("stream", [False, True])
def test_columns_of_samples_need_no_names(stream):
    rows = Dataset.from_list([{"id": n, "input": f"q{n}", "target": str(n)} for n in range(3)])
    found = evaluate(["0", "1", "x"], rows.to_iterable_dataset() if stream else rows)
    assert found.value() == pytest.approx(2 / 3) and found.info.dataset_hash


def test_what_is_no_data_is_refused():
    with pytest.raises(ArgumentError, match="expected a benchmark"):
        evaluate(["x"], 7)
