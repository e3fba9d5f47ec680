"""`compare`: the right pairs, the right tests, and no comparison of what is not alike."""

from __future__ import annotations

import json
import pickle
import re

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.wmt17 import wmt17_systems

from crucible_datasets import Dataset
from crucible_datasets.benchmarks import Sample
from crucible_datasets.evaluation import compare, evaluate, evaluate_many
from crucible_datasets.evaluation.metrics import METRICS
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.evaluation.statistics import holm, mean_interval, minimum_detectable_effect, paired
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, IncomparableRunsError, UnknownEntryError


def result(values, model="a", dataset="quiz", metric="exact_match@2", ids=None, epochs=1, summary=(), **info):
    """A run in which every sample has one value; NaN does not count."""
    ids = [f"q{number}" for number in range(len(values) // epochs)] * epochs if ids is None else ids
    samples = [
        SampleResult(
            id=id,
            prediction="",
            target="",
            outcomes={metric: Outcome(None if value != value else float(value))},
            metadata={"text": {"name": f"t{int(id[1:]) // 4}"}, "level": int(id[1:]) % 3},
            epoch=number // (len(values) // epochs),
        )
        for number, (id, value) in enumerate(zip(ids, values, strict=True))
    ]
    known = [value for value in values if value == value]
    facts = {"dataset_hash": "abc", "rules": ["gsm8k/official@1"], "run_id": f"{model}-1", "metrics": [metric]}
    whole = RunInfo(model=model, dataset=dataset, **(facts | info))
    mean = float(np.mean(known)) if known else None
    return EvaluationResult(whole, samples, {metric: MetricSummary(mean, len(known), **dict(summary))})


DRAW = np.random.default_rng(0)
GOOD, BETTER, BEST = ((DRAW.random(200) < chance).astype(float) for chance in (0.5, 0.65, 0.9))


def test_a_row_is_the_paired_difference():
    (row,) = compare(result(GOOD), result(BETTER, "b"))
    expected = paired(GOOD, BETTER)
    assert (row.first, row.second, row.benchmark, row.metric) == ("a", "b", "quiz", "exact_match@2")
    for name in ("difference", "interval", "p_value", "test", "n", "gained", "lost", "equal", "stderr"):
        assert getattr(row, name) == getattr(expected, name)
    assert row.test == "McNemar, exact"
    assert row.p_adjusted == row.p_value
    assert row.better == "b"


def test_samples_are_matched_by_id_and_not_by_place():
    order = DRAW.permutation(200)
    shuffled = result(BETTER[order], "b", ids=[f"q{place}" for place in order])
    assert compare(result(GOOD), shuffled).rows == compare(result(GOOD), result(BETTER, "b")).rows


def test_samples_that_do_not_count_in_both_are_left_out_and_told():
    gappy = BETTER.copy()
    gappy[:10] = np.nan
    table = compare(result(GOOD), result(gappy, "b"))
    assert (table[0].n, table[0].left_out) == (190, 10)
    assert table[0].difference == paired(GOOD[10:], BETTER[10:]).difference
    assert "10 samples" in str(table)
    short = result(BETTER[:150], "b")
    assert (compare(result(GOOD), short)[0].n, compare(result(GOOD), short)[0].left_out) == (150, 50)


def test_repeated_answers_count_as_their_mean():
    table = compare(result(np.r_[GOOD, BETTER], epochs=2), result(np.r_[BETTER, BEST], "b", epochs=2))
    expected = paired((GOOD + BETTER) / 2, (BETTER + BEST) / 2)
    assert (table[0].n, table[0].difference, table[0].p_value) == (200, expected.difference, expected.p_value)
    assert table[0].test == "permutation"


ANSWERS = st.lists(st.lists(st.sampled_from(["yes", "no", None]), min_size=3, max_size=3), min_size=2, max_size=6)


@settings(max_examples=30, deadline=None)
@given(answers=ANSWERS, missing=st.sampled_from(["ignore", "wrong"]), is_clustered=st.booleans())
def test_a_run_has_one_score_whatever_is_missing(answers, missing, is_clustered):
    """A question counts once, however many of its answers are missing: in the run, in groups and in comparisons."""
    samples = [
        Sample(id=f"q{n}", input="?", target="yes", metadata={"text": n // 2, "all": 0}) for n in range(len(answers))
    ]
    calls = {sample.id: iter(given) for sample, given in zip(samples, answers, strict=True)}
    how = {"missing": missing, "cache": False, "cluster_by": "metadata.text" if is_clustered else None}
    run = evaluate(lambda sample: next(calls[sample.id]), samples, "exact_match", model="a", repeats=3, **how)
    scored = [[float(one == "yes") for one in given if one is not None or missing == "wrong"] for given in answers]
    means = [np.mean(values) for values in scored if values]
    if not means:
        assert run.value() is None
        return
    assert run.value() == pytest.approx(np.mean(means))
    assert run.by("metadata.all")[0]["exact_match"].value == pytest.approx(run.value())
    if is_clustered and len({n // 2 for n, values in enumerate(scored) if values}) < 2:
        return  # how texts differ cannot be seen from one
    other = evaluate(["no"] * len(samples), samples, "exact_match", model="b", **how)
    assert compare(run, other).scores[0].value == pytest.approx(run.value())


def test_three_models_on_two_benchmarks_are_corrected_together():
    runs = {
        "a": {"quiz": result(GOOD), "exam": result(BETTER)},
        "b": {"quiz": result(BETTER, "b"), "exam": result(GOOD, "b")},
        "c": {"quiz": result(BEST, "c"), "exam": result(BEST, "c")},
    }
    table = compare(runs)
    assert [(row.benchmark, row.first, row.second) for row in table] == [
        (benchmark, *pair) for benchmark in ("quiz", "exam") for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    assert [row.p_adjusted for row in table] == pytest.approx(holm([row.p_value for row in table]).tolist())
    against = compare(runs, baseline="b", correction="bh")
    assert [(row.first, row.second) for row in against] == [("b", "a"), ("b", "c")] * 2
    assert [(row.better, row.difference > 0) for row in table if row.second == "c"] == [("c", True)] * 4
    assert table.significant() == [row for row in table if row.p_adjusted <= 0.05]
    assert [(score.model, score.value) for score in table.scores][:2] == [("a", GOOD.mean()), ("b", BETTER.mean())]
    assert table.scores[0].interval == mean_interval(GOOD).interval


def test_a_model_that_lacks_a_benchmark_is_compared_on_the_others():
    table = compare({"a": [result(GOOD), result(GOOD, dataset="exam")], "b": result(BETTER, "b")})
    assert [(row.benchmark, row.first, row.second) for row in table] == [("quiz", "a", "b")]


def test_two_runs_of_one_model_are_told_apart():
    (row,) = compare(result(GOOD, run_id="monday"), result(BETTER, run_id="friday"))
    assert (row.first, row.second) == ("a (monday)", "a (friday)")


@pytest.mark.parametrize("said_by", ["call", "run"])
def test_clusters_come_from_a_field(said_by):
    info = {"cluster_by": "text.name"} if said_by == "run" else {}
    asked = {"cluster_by": "metadata.text.name"} if said_by == "call" else {}
    table = compare(result(GOOD, **info), result(BETTER, "b", **info), **asked)
    clusters = np.arange(200) // 4
    assert table[0].num_clusters == 50
    assert table[0].interval == paired(GOOD, BETTER, clusters).interval
    assert table.scores[0].interval == mean_interval(GOOD, clusters).interval


def test_a_comparison_says_if_there_are_too_few_clusters():
    few = compare(result(GOOD), result(BETTER, "b"), cluster_by="metadata.level")
    assert few.cautions() == [few[0].interval.note]
    assert "too few clusters (3" in str(few)
    assert compare(result(GOOD), result(BETTER, "b")).cautions() == []


def test_groups_get_rows_of_their_own():
    table = compare(result(GOOD), result(BETTER, "b"), by="metadata.level")
    assert [row.group for row in table] == ["0", "1", "2"]
    for level, row in enumerate(table):
        expected = paired(GOOD[level::3], BETTER[level::3])
        assert (row.n, row.difference, row.p_value) == (expected.n, expected.difference, expected.p_value)
    assert [row.p_adjusted for row in table] == pytest.approx(holm([row.p_value for row in table]).tolist())
    assert "quiz: 2" in str(table)
    assert compare(result(GOOD), result(BETTER, "b"))[0].group is None


def test_a_group_within_one_cluster_has_a_difference_and_no_test():
    table = compare(result(GOOD), result(BETTER, "b"), by="text.name", cluster_by="text.name")
    assert len(table) == 50
    assert {(row.n, row.interval, row.p_value, row.num_clusters) for row in table} == {(4, None, 1.0, 1)}
    assert table[0].difference == BETTER[:4].mean() - GOOD[:4].mean()
    assert "–" in str(table)


def test_what_could_have_been_found():
    (row,) = compare(result(GOOD), result(BETTER, "b"))
    assert row.detectable == minimum_detectable_effect(200, discordance=np.mean(BETTER != GOOD))
    by_numbers = msgspec.structs.replace(row, test="permutation")
    assert by_numbers.detectable == pytest.approx(minimum_detectable_effect(200, sd_difference=row.stderr * 200**0.5))


def test_a_metric_where_less_is_better():
    lower = {"summary": {"higher_is_better": False}.items(), "metric": "ter@1"}
    values = DRAW.random(50)
    (row,) = compare(
        result(values, metric="own@1", summary=lower["summary"]),
        result(values + 0.1, "b", metric="own@1", summary=lower["summary"]),
    )
    assert row.difference == pytest.approx(0.1)
    assert row.better == "a"


# Refusals


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("dataset hash", {"dataset_hash": "def"}),
        ("dataset hash", {"dataset_hash": None}),
        ("rules", {"rules": ["gsm8k/official@2"]}),
        ("rules", {"rules": []}),
        ("metric", {"metric": "exact_match@1"}),
        ("metric", {"metric": "f1@1"}),
        ("metric options", {"options": {"metric_options": {"exact_match@2": {"ignore_case": True}}}}),
    ],
)
def test_runs_that_are_not_alike_are_refused_with_the_reason(what, other):
    first, second = result(GOOD), result(BETTER, "b", **other)
    for runs in ((first, second), (second, first), ({"a": first, "b": second},)):
        with pytest.raises(IncomparableRunsError) as caught:
            compare(*runs)
        assert caught.value.what == what
        assert {caught.value.first, caught.value.second} == {"a", "b"}
        assert str(caught.value.second_value) in str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.what) == (str(caught.value), what)


@pytest.mark.parametrize(("size", "advice"), [(200, "Only the metadata .* compares them"), (150, "same samples")])
def test_other_data_is_told_by_the_number_of_samples_and_a_short_hash(size, advice):
    first, second = result(GOOD, dataset_hash="a" * 64), result(BETTER[:size], "b", dataset_hash="b" * 64)
    told = rf"is aaaaaaaaaaaa… \(200 samples\), that of 'b' is bbbbbbbbbbbb… \({size} samples\)\. .*{advice}\."
    with pytest.raises(IncomparableRunsError, match=told) as caught:
        compare(first, second)
    assert caught.value.first_value == "a" * 64


def test_runs_that_differ_only_in_metadata_are_compared_if_the_call_says_so():
    questions = [{"id": str(place), "input": f"q{place}", "target": "x", "choices": None} for place in range(8)]
    plain = evaluate(["x"] * 8, Dataset.from_list(questions), "exact_match", model="a")

    def with_other(**fields):
        rows = [{**row, "metadata": {"level": "hard"}, **fields} for row in questions]
        return evaluate(["x"] * 7 + ["y"], Dataset.from_list(rows), "exact_match", model="b")

    with pytest.raises(
        IncomparableRunsError, match=r"Only the metadata of samples differs: ignore_metadata=True"
    ) as caught:
        compare(plain, with_other())
    assert pickle.loads(pickle.dumps(caught.value)).only_metadata
    assert compare(plain, with_other(), ignore_metadata=True)[0].lost == 1
    for fields in ({"input": "another"}, {"target": "y"}, {"choices": ["x", "y"]}):
        with pytest.raises(IncomparableRunsError, match="same version of the data"):
            compare(plain, with_other(**fields), ignore_metadata=True)


def test_one_run_is_no_comparison():
    with pytest.raises(ArgumentError, match="results='a': a comparison needs at least two runs"):
        compare(result(GOOD))


def test_missing_predictions_must_count_the_same():
    missing = {"counts": {"ok": 190, "missing": 10}}.items()
    wrong = result(GOOD, missing="wrong", summary=missing)
    ignored = result(BETTER, "b", missing="ignore", summary=missing)
    for other in (wrong, result(GOOD, missing="error")):
        with pytest.raises(IncomparableRunsError, match="policy for missing predictions"):
            compare(other, ignored)
    compare(result(GOOD, missing="wrong"), result(BETTER, "b", missing="ignore"))  # none is missing
    compare(wrong, result(BETTER, "b", missing="error"))  # what is missing counts as wrong, and only one lacks any


def test_without_a_hash_the_ids_must_agree():
    unknown = {"dataset_hash": None}
    compare(result(GOOD, **unknown), result(BETTER, "b", **unknown))
    with pytest.raises(IncomparableRunsError, match="unknown, 150 ids"):
        compare(result(GOOD, **unknown), result(BETTER[:150], "b", **unknown))


@pytest.mark.parametrize(
    ("runs", "options", "error"),
    [
        ([result(GOOD)], {}, ArgumentError),
        ([], {}, ArgumentError),
        ([result(GOOD), result(BETTER, "b", dataset="exam")], {}, IncomparableRunsError),
        ([result(GOOD), result(np.full(200, np.nan), "b")], {}, IncomparableRunsError),
        ([result(GOOD), "b"], {}, ArgumentTypeError),
        ([{"a": 3}], {}, ArgumentTypeError),
        ([{"a": {"quiz": 3}}], {}, ArgumentTypeError),
        ([result(GOOD), result(BETTER, "b")], {"baseline": "c"}, ArgumentError),
        ([result(GOOD), result(BETTER, "b")], {"metric": "f1"}, UnknownEntryError),
        ([result(GOOD), result(BETTER, "b")], {"level": 95}, ArgumentError),
        ([result(GOOD), result(BETTER, "b")], {"correction": "magic"}, UnknownEntryError),
    ],
)
def test_what_makes_no_sense_is_refused(runs, options, error):
    with pytest.raises(error):
        compare(*runs, **options)


# Metrics that are no means


def classified(right_share, model, seed, key="macro_f1@1"):
    draw = np.random.default_rng(seed)
    targets = draw.choice(["cat", "dog", "cow"], 120, p=[0.6, 0.3, 0.1])
    answers = [t if draw.random() < right_share else draw.choice(["cat", "dog", "cow"]) for t in targets]
    outcomes = METRICS[key].score_many(answers, list(targets))
    samples = [SampleResult(f"q{n}", answers[n], str(targets[n]), {key: one}) for n, one in enumerate(outcomes)]
    info = RunInfo(run_id=model, model=model, dataset="animals", dataset_hash="abc", metrics=[key])
    return EvaluationResult(info, samples, {key: MetricSummary(METRICS[key].aggregate(outcomes), 120)})


def test_a_corpus_metric_is_computed_anew_for_every_resample():
    first, second = classified(0.3, "a", 1), classified(0.9, "b", 1)
    (row,) = compare(first, second)
    assert row.difference == pytest.approx(second.value() - first.value())
    assert row.first_value != pytest.approx(first.values().mean())  # macro F1 is not the accuracy
    assert row.test == "randomisation"
    assert row.p_value < 0.01
    assert row.interval.low < row.difference < row.interval.high
    assert compare(first, second).rows == [row]
    (same,) = compare(first, classified(0.3, "b", 1))
    assert (same.difference, same.p_value) == (0, 1)


# BLEU against that of LIUM-NMT, and the p-value that multeval gives the difference, of 10,000 random exchanges.
WMT17 = {
    "FBK": (21.14, 0.0218),
    "online-B": (21.59, 0.94111),
    "C-3MA": (17.72, 0.0001),
    "KIT": (21.15, 0.0410),
    "LMU-nmt-reranked": (21.96, 0.09029),
    "LMU-nmt-single": (21.49, 0.58494),
    "online-A": (16.02, 0.0001),
    "online-F": (11.71, 0.0001),
    "online-G": (13.27, 0.0001),
    "PROMT-Rule-based": (13.14, 0.0001),
    "RWTH-nmt-ensemble": (21.11, 0.0207),
    "SYSTRAN": (21.49, 0.59914),
    "TALP-UPC": (16.37, 0.0001),
    "uedin-nmt": (23.39, 0.0001),
    "xmu": (21.69, 0.71073),
}


@pytest.mark.parametrize("names", [list(WMT17)[:2], pytest.param(list(WMT17)[2:], marks=pytest.mark.slow)])
def test_translations_are_compared_as_published(names):
    systems, references = wmt17_systems()
    data = [{"id": n, "input": "to translate", "target": text} for n, text in enumerate(references)]
    asked = {name: systems[name] for name in ("LIUM-NMT", *names)}
    runs = evaluate_many(asked, data, "bleu", metric_options={"bleu": {"tokenize": "none"}})
    table = {row.second: row for row in compare(runs, baseline="LIUM-NMT", correction=None)}
    for name in names:
        bleu, p_value = WMT17[name]
        assert runs[name].value() == pytest.approx(bleu, abs=0.005)
        assert table[name].p_value == pytest.approx(p_value, abs=0.02)  # three standard errors of 5,000 exchanges


def test_exchanging_outcomes_is_mcnemars_test_where_the_total_is_the_accuracy():
    first, second = classified(0.4, "a", 1, "micro_f1@1"), classified(0.55, "b", 1, "micro_f1@1")
    (row,) = compare(first, second)
    expected = paired(first.values(), second.values())
    assert (row.difference, row.gained, row.lost) == (
        pytest.approx(expected.difference),
        expected.gained,
        expected.lost,
    )
    assert 0.02 < expected.p_value < 0.5
    assert row.p_value == pytest.approx(expected.p_value, abs=0.07)  # 3 standard errors of 500 trials
    assert row.interval.low == pytest.approx(expected.interval.low, abs=0.03)
    by_text = {sample.id: int(sample.id[1:]) // 4 for sample in first.samples}
    for run in (first, second):
        for sample in run.samples:
            sample.metadata["text"] = by_text[sample.id]
    assert compare(first, second, cluster_by="text")[0].num_clusters == 30


# The table


HOSTILE = "<b>|\x1b[31m\n\u202e`x`"


def test_the_table_shows_names_and_never_obeys_them():
    table = compare({HOSTILE: result(GOOD), "b": result(BEST, "b")})
    assert table[0].first == HOSTILE
    for shown in (str(table), table.to_markdown(), table._repr_html_()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)
    assert "<b>" not in table._repr_html_()
    lines = table.to_markdown().splitlines()
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert len(str(table).splitlines()) == 3 and repr(table) == str(table)


def test_the_table_as_plain_values():
    table = compare(result(GOOD), result(BEST, "b"))
    plain = json.loads(json.dumps(table.to_dict()))
    assert plain["rows"][0]["significant"] is True
    assert plain["rows"][0]["better"] == "b"
    assert plain["rows"][0]["interval"]["low"] == table[0].interval.low
    assert [score["model"] for score in plain["scores"]] == ["a", "b"]
    assert (len(table), list(table), plain["correction"]) == (1, table.rows, "holm")


@given(level=st.sampled_from([0.8, 0.95, 0.99]))
def test_the_level_decides_what_is_significant(level):
    table = compare(result(GOOD), result(BETTER, "b"), level=level)
    assert bool(table.significant()) == (table[0].p_adjusted <= 1 - level)
    assert table[0].interval.level == table.scores[0].interval.level == level


def test_replacing_a_fact_of_a_run_is_noticed():
    """The check reads the run itself, not what it is called."""
    changed = result(BETTER, "b")
    changed.info = replace(changed.info, rules=["gsm8k/official@1", "strip_thinking@1"])
    with pytest.raises(IncomparableRunsError, match="strip_thinking@1"):
        compare({"a": {"quiz": result(GOOD)}, "b": {"quiz": changed}})
