"""Evaluations by workers: the same results, and nothing that was acknowledged is lost."""

import json
import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from support.command import done

from crucible_datasets import config
from crucible_datasets.benchmarks import load_benchmark
from crucible_datasets.evaluation import evaluate, evaluate_many
from crucible_datasets.evaluation.results.openrun import samples_in
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.exceptions import MissingPredictionsError
from crucible_datasets.executors.base import EXECUTORS

SAMPLES = [{"id": str(n), "input": f"{n} + 1", "target": str(n + 1)} for n in range(60)]


@pytest.fixture(params=EXECUTORS.names())
def executor(request):
    if request.param == "ray":
        request.getfixturevalue("ray_cluster")
    return request.param


class Model:
    """Adds one, and is wrong about every tenth; notes in a folder that it was loaded, and what it was asked."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.note("loaded")

    def __call__(self, sample):
        self.note(sample.id)
        n = int(sample.id)
        return str(n + (1 if n % 10 else 2))

    def note(self, text):
        with open(self.folder / str(os.getpid()), "a") as file:
            file.write(f"{text}\n")


class Failing(Model):
    def __call__(self, sample):
        if sample.id == "40" and not (self.folder / "well").exists():
            raise ConnectionError("gone")
        return super().__call__(sample)


class Dying(Model):
    def __call__(self, sample):
        time.sleep(0.01)
        if sample.id == "30" and not (self.folder / "killed").exists():
            (self.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(sample)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def noted(folder):
    """How often a model was loaded, and the samples that were asked for."""
    lines = [line for file in folder.iterdir() for line in file.read_text().splitlines()]
    return lines.count("loaded"), sorted(int(line) for line in lines if line != "loaded")


def facts(result):
    return [(one.id, one.prediction, one.outcomes, one.epoch) for one in result.samples], result.summary


def test_results_are_those_of_this_thread_and_each_worker_loads_once(executor, folder, tmp_path):
    model, metrics = partial(Model, str(folder)), ["exact_match", "f1"]
    result = evaluate(model, SAMPLES, metrics, executor=executor, store=tmp_path / "store", cache=False)
    loaded, asked = noted(folder)
    assert asked == list(range(60))
    assert loaded <= 2
    assert facts(result) == facts(evaluate(model, SAMPLES, metrics, cache=False))
    assert result.value() == 0.9
    assert facts(ResultStore(tmp_path / "store").load(result.info.run_id)) == facts(result)


def test_known_answers_and_repeats(executor):
    given = {str(n): ["a", str(n + 1)] for n in range(60)}
    kinds = {"one": given, "other": {name: answers[:1] for name, answers in given.items()}}
    away = evaluate_many(kinds, SAMPLES, "exact_match", executor=executor)
    here = evaluate_many(kinds, SAMPLES, "exact_match")
    assert {name: facts(result) for name, result in away.items()} == {name: facts(r) for name, r in here.items()}


def test_answers_before_an_error_are_kept(executor, folder):
    model = partial(Failing, str(folder))
    with pytest.raises(ConnectionError, match="gone") as found:
        evaluate(model, SAMPLES, "exact_match", executor=executor, cache_key=f"failing {executor}")
    assert "'40'" in found.value.__notes__[0]
    (folder / "well").touch()
    assert evaluate(model, SAMPLES, "exact_match", executor=executor, cache_key=f"failing {executor}").value() == 0.9
    _, asked = noted(folder)
    assert set(asked) == set(range(60))
    under_way = 0 if executor == "serial" else 2  # the part of the other worker, which the error stopped
    assert len(asked) - 60 <= under_way


def test_failures_and_missing_answers_count_as_asked(executor):
    def model(sample):
        if sample.id == "3":
            raise ValueError("no")
        return None if sample.id == "4" else sample.target

    result = evaluate(model, SAMPLES, "exact_match", executor=executor, missing="wrong", cache=False)
    assert [one.outcomes["exact_match@2"].status for one in result.samples[2:5]] == ["ok", "error", "missing"]
    with pytest.raises(MissingPredictionsError, match="60"):
        evaluate(lambda sample: None, SAMPLES, "exact_match", executor=executor, cache=False)


@pytest.mark.parametrize("executor", ["ray"], indirect=True)
def test_a_dead_worker_costs_no_sample(executor, folder, tmp_path):
    store = ResultStore(tmp_path / "store")
    model = partial(Dying, str(folder))
    result = evaluate(model, SAMPLES, "exact_match", executor=executor, store=store, cache=False)
    assert [one.id for one in result.samples] == [str(n) for n in range(60)]
    assert store.load(result.info.run_id).value() == 0.9
    assert len(noted(folder)[1]) - 60 <= 2  # what the part of the dead worker had done


@pytest.mark.parametrize("executor", ["ray"], indirect=True)
def test_what_was_acknowledged_is_not_asked_for_again(executor, folder, tmp_path):
    how = {"store": tmp_path / "store", "run_id": "again", "cache": False}
    with pytest.raises(ConnectionError):
        evaluate(partial(Failing, str(folder)), SAMPLES, "exact_match", executor=executor, **how)
    acknowledged = {int(one.id) for one in samples_in(str(tmp_path / "store" / "open" / "again"))}
    before = Counter(noted(folder)[1])
    assert acknowledged
    (folder / "well").touch()
    result = evaluate(partial(Failing, str(folder)), SAMPLES, "exact_match", resume=True, executor=executor, **how)
    assert sorted(int(one.id) for one in result.samples) == list(range(60))
    assert set(Counter(noted(folder)[1]) - before) == set(range(60)) - acknowledged


def test_the_command_and_the_setting_score_alike(executor, tmp_path, monkeypatch):
    samples = list(load_benchmark("gsm8k", synthetic=True))
    answers = [{"id": one.id, "prediction": f"#### {one.target if n % 2 else 0}"} for n, one in enumerate(samples)]
    (tmp_path / "half.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    command = ["eval", "gsm8k", tmp_path / "half.jsonl", "--synthetic", "--store", tmp_path / "store", "--json"]
    here, judge = [], Judging.outcomes
    monkeypatch.setattr(Judging, "outcomes", lambda *given: here.append(1) or judge(*given))
    (asked,) = done(*command, "--executor", executor).json["scores"]
    monkeypatch.setattr(config, "CRUCIBLE_EXECUTOR", executor)
    (by_setting,) = done(*command).json["scores"]
    assert asked["value"] == 0.5
    assert {**asked, "run": ""} == {**by_setting, "run": ""}
    assert bool(here) == (executor == "serial")
