"""What every metric does alike, and what a function becomes that is used as one."""

import inspect
import math
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import msgspec
import pytest

from crucible_datasets.benchmarks import Sample
from crucible_datasets.evaluation import METRICS, Metric, Outcome, metric_of, score, score_corpus
from crucible_datasets.evaluation.outcome import STATUSES
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, PredictionsError, UnknownEntryError

NAMED = (
    *("exact_match", "f1", "contains", "regex", "multiple_choice", "numeric", "bleu", "chrf", "chrf++", "ter"),
    *("rouge1", "rouge2", "rougeL", "rougeLsum", "preference_accuracy", "accuracy", "macro_f1", "micro_f1"),
    *("mean_per_class", "ece", "brier"),
)
# One pair for each that is right and one that is wrong.
RIGHT = dict.fromkeys(NAMED, ("a black cat", "a black cat")) | {
    "multiple_choice": ("B", "B"),
    "numeric": ("5", "5"),
    "preference_accuracy": ("A", "A"),
    "ece": (1.0, 1),
    "brier": (1.0, 1),
}
WRONG = dict.fromkeys(NAMED, ("one white dog", "a black cat")) | {
    "multiple_choice": ("A", "B"),
    "numeric": ("6", "5"),
    "preference_accuracy": ("B", "A"),
    "ece": (1.0, 0),
    "brier": (1.0, 0),
}


def test_the_promised_metrics_exist():
    assert set(NAMED) <= set(METRICS.names())
    # Every version is kept, since stored runs name them.
    assert all(f"{name}@1" in METRICS and int(METRICS[name].version) >= 1 for name in NAMED)


@pytest.mark.parametrize("name", NAMED)
class TestEveryMetric:
    def test_tells_right_from_wrong(self, name):
        right, wrong = score(name, *RIGHT[name]), score(name, *WRONG[name])
        assert right > wrong if METRICS[name].higher_is_better else right < wrong

    def test_scores_many_as_it_scores_one(self, name):
        pairs = [RIGHT[name], WRONG[name], RIGHT[name]]
        together = METRICS[name].score_many([one for one, _ in pairs], [other for _, other in pairs])
        assert together == [METRICS[name].score(*pair) for pair in pairs]

    def test_binary_values_are_0_or_1(self, name):
        if METRICS[name].binary:
            assert (score(name, *RIGHT[name]), score(name, *WRONG[name])) == (1.0, 0.0)

    def test_makes_its_total_of_stored_outcomes(self, name):
        pairs = [RIGHT[name], WRONG[name], RIGHT[name]]
        outcomes = METRICS[name].score_many([one for one, _ in pairs], [other for _, other in pairs])
        stored = msgspec.json.decode(msgspec.json.encode(outcomes), type=list[Outcome])
        assert stored == outcomes
        assert METRICS[name].aggregate(stored) == METRICS[name].aggregate(outcomes)
        if not METRICS[name].corpus:
            assert METRICS[name].aggregate(outcomes) == pytest.approx(sum(o.value for o in outcomes) / 3)

    def test_a_missing_prediction_is_missing(self, name):
        missing, judged = METRICS[name].score_many([None, RIGHT[name][0]], [RIGHT[name][1]] * 2)
        assert (missing.value, missing.status) == (None, "missing")
        assert judged == METRICS[name].score(*RIGHT[name])

    def test_an_empty_prediction_is_empty_and_no_better_than_a_wrong_one(self, name):
        outcome = METRICS[name].score(" \n", RIGHT[name][1])
        assert outcome.status == "empty"
        assert outcome.value in (None, *([0.0] if METRICS[name].higher_is_better else [100.0]))

    def test_what_the_rule_does_not_find_is_unparsed(self, name):
        texts = ["no hashes", f"#### {'<think>'}", "  "]
        rule = lambda text: None  # noqa: E731
        outcomes = METRICS[name].score_many(texts, [RIGHT[name][1]] * 3, extract=rule)
        assert [outcome.status for outcome in outcomes] == ["unparsed", "unparsed", "empty"]

    def test_says_what_it_measures_and_names_its_options(self, name):
        assert METRICS[name].summary.endswith(".")
        assert all(default is not inspect.Parameter.empty for default in METRICS[name].options.values())

    def test_refuses_options_that_it_does_not_have(self, name):
        with pytest.raises(ArgumentError, match="never_heard_of=1: .* takes"):
            METRICS[name].score(*RIGHT[name], never_heard_of=1)


def test_a_mapping_that_a_metric_cannot_read_is_not_judged():
    for metric in {METRICS[name] for name in METRICS.names()}:
        for given in ({"foo": "a"}, {}):
            try:
                (outcome,) = metric.score_many([given], ["a"])
            except PredictionsError as error:
                assert metric.name in str(error)
            else:
                assert outcome.status != "ok" and not outcome.value
    for name in set(NAMED) - {"preference_accuracy", "ece", "brier"}:
        said, target = RIGHT[name]
        assert score(name, {"answer": said, "why": "…"}, target) == score(name, said, target)
        (outcome,) = METRICS[name].score_many([{"answer": said}], [target], extract=lambda text: text)
        assert outcome.value == score(name, said, target)


def test_what_a_sample_does_not_state_is_met_by_no_answer():
    blank, bare = ["", " ", "...", "a"], Sample("q", "?")
    for name in NAMED:
        outcomes = METRICS[name].score_many(blank, [""] * 4, samples=[bare] * 4)
        assert not any(outcome.value for outcome in outcomes), name
        assert METRICS[name].higher_is_better or {outcome.value for outcome in outcomes} == {None}, name
    assert METRICS["f1"].score("", "", sample=bare, no_answer=True).value == 1.0


def test_nothing_to_count_has_no_mean():
    assert math.isnan(METRICS["exact_match"].aggregate([]))
    assert math.isnan(METRICS["exact_match"].aggregate([Outcome(None, status="missing")]))


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ArgumentError, match="2 predictions, 1 targets"):
        METRICS["f1"].score_many(["a", "b"], ["a"])


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(UnknownEntryError, match="Did you mean 'exact_match'"):
        score("exact_mach", "a", "a")
    with pytest.raises(ArgumentTypeError, match="a function"):
        score(3, "a", "a")


# Functions of users


def shorter(prediction, target, *, by=1):
    """Whether it is shorter."""
    return len(target) - len(prediction) >= by


def test_a_function_is_a_metric_under_the_digest_of_what_it_does():
    metric = metric_of(shorter)
    assert metric.key.startswith("shorter@")
    assert metric.key == metric_of(shorter).key
    assert score(shorter, "a", "bcd", by=2) == 1.0
    assert score_corpus(shorter, ["a", "abcd"], ["bcd", "bcd"]) == 0.5
    assert metric_of(lambda prediction, target: 1.0).key != metric_of(lambda prediction, target: 0.5).key


def test_a_function_gets_targets_and_the_sample_as_they_are():
    @dataclass
    class Sample:
        metadata: dict

    def weighed(prediction, target, *, sample):
        return Outcome(sample.metadata["weight"] * (prediction in target), extracted=prediction)

    outcomes = metric_of(weighed).score_many(["a", "b"], [["a", "x"], ["c"]], samples=[Sample({"weight": 2})] * 2)
    assert [outcome.value for outcome in outcomes] == [2, 0]


def test_a_function_that_fails_on_one_pair_does_not_end_the_run():
    def inverse(prediction, target):
        return 1 / float(prediction)

    metric = metric_of(inverse)
    outcomes = metric.score_many(["2", "0", "x"], ["", "", ""])
    assert [outcome.status for outcome in outcomes] == ["ok", "error", "error"]
    assert outcomes[1].value is None
    assert outcomes[1].detail == {"error": "ZeroDivisionError: float division by zero"}
    assert metric.aggregate(outcomes) == 0.5
    with pytest.raises(ZeroDivisionError):
        score(inverse, "0", "")


def test_an_object_that_can_be_called_is_a_function():
    @dataclass
    class Shorter:
        by: int

        def __call__(self, prediction, target):
            return len(target) - len(prediction) >= self.by

    assert score(Shorter(2), "a", "bcd") == 1.0
    assert metric_of(Shorter(2)).name == "Shorter"
    assert metric_of(Shorter(2)).key != metric_of(Shorter(3)).key


def test_a_function_is_not_asked_about_what_is_missing():
    asked = []
    metric_of(lambda prediction, target: asked.append(prediction) or 1.0).score_many([None, "a"], ["x", "x"])
    assert asked == ["a"]


def test_a_function_may_say_that_a_pair_does_not_count():
    assert math.isnan(score(lambda prediction, target: None, "a", "b"))


def test_versions_live_side_by_side_and_the_newest_is_meant(monkeypatch):
    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    METRICS["f1"]
    METRICS.add(Metric("f1", "10", shorter))
    METRICS.add(Metric("f1", "9", shorter))
    assert (METRICS["f1"].key, METRICS["f1@1"].key, METRICS["f1@9"].key) == ("f1@10", "f1@1", "f1@9")


def test_installed_packages_add_metrics(monkeypatch):
    point = EntryPoint("from_a_plugin", f"{__name__}:shorter", METRICS.package)
    monkeypatch.setattr(EntryPoint, "load", lambda self: shorter)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == METRICS.package else [])
    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    monkeypatch.setattr(METRICS, "_plugged", False)
    assert METRICS["from_a_plugin"].key == "from_a_plugin@1"
    assert "from_a_plugin@1" in METRICS
    assert "from_no_plugin" not in METRICS


def test_outcomes_are_shared_and_cannot_be_changed():
    outcomes = METRICS["exact_match"].score_many(["a"] * 1000, ["a"] * 1000)
    assert len({id(outcome) for outcome in outcomes}) == 1
    with pytest.raises(AttributeError):
        outcomes[0].value = 0.5
    assert {outcome.status for outcome in outcomes} <= set(STATUSES)
    assert outcomes[0].parsed
