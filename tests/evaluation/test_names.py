"""Metrics and rules are found under the names that people have for them, and the package says where everything is."""

import pkgutil
from pathlib import Path

import pytest

from crucible_datasets import evaluation
from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import METRICS, RULES, evaluate, pass_at_k, score, score_corpus
from crucible_datasets.exceptions import ArgumentError, TooFewCompletionsError, UnknownEntryError

NAMES = {
    "exact_match@2": ["em", "EM", "exact", "ExactMatch", "exact-match"],
    "f1@1": ["F1", "token_f1", "squad-f1"],
    "contains@1": ["includes", "include"],
    "numeric@2": ["number", "Numerical"],
    "multiple_choice@2": ["mcq", "MCQ", "choice", "multiple choice"],
    "accuracy@1": ["acc"],
    "bleu@1": ["BLEU", "sacrebleu"],
    "chrf@1": ["chrF", "chrF2"],
    "chrf++@1": ["chrF++"],
    "ter@1": ["TER"],
    "rouge1@1": ["ROUGE-1", "rouge_1"],
    "rougeL@1": ["ROUGE-L", "rouge_l", "rougel", "rouge"],
    "rougeLsum@1": ["rouge_lsum", "rougelsum"],
    "math@2": ["maths", "math_verify", "math/verify"],
    "code_execution@1": ["code"],
    "pass_at_k@1": ["pass@k", "code_eval"],
    "pass_at_10@1": ["pass@10", "pass_at_10", "pass_at_10@1", "Pass@10"],
    "preference_accuracy@2": ["preference", "pairwise_accuracy"],
    "macro_f1@1": ["f1_macro", "macro-f1"],
}


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, names in NAMES.items() for name in names])
def test_a_metric_has_the_names_that_people_try(key, name):
    assert METRICS[name].key == key and name in METRICS


@pytest.mark.parametrize("registry", [METRICS, RULES], ids=["metrics", "rules"])
def test_no_two_entries_share_a_spelling(registry):
    spellings = {}
    for key in registry:
        for name in (registry[key].name, *registry[key].aliases):
            spelling = name.lower().replace("_", "").replace("-", "")
            assert spellings.setdefault(spelling, registry[key].name) == registry[key].name


@pytest.mark.parametrize("name", ["pass@0", "pass@", "pass_at_x", "pass@10@2", "exact_match@9", "nothing"])
def test_other_names_are_unknown(name):
    with pytest.raises(UnknownEntryError, match="There is no metric"):
        METRICS[name]


@pytest.mark.parametrize("name", ["tolerance", "rel_tol", "rtol", "relative"])
def test_an_option_has_the_names_of_other_libraries(name):
    assert score("numeric", "3.14", 3.14159, **{name: 0.01}) == 1 and score("numeric", "3.14", 3.14159) == 0


def test_an_option_is_recorded_under_its_own_name():
    data = samples_from([{"id": 1, "input": "pi", "target": "3.14159"}])
    run = evaluate(["3.14"], data, metrics={"number": {"rtol": 0.01}})
    assert run.value() == 1 and run.info.options["metric_options"] == {"numeric@2": {"relative": 0.01}}
    with pytest.raises(ArgumentError, match="numeric takes relative, absolute"):
        evaluate(["3.14"], data, metrics={"number": {"precision": 0.01}})


def test_pass_at_a_number_fixes_k():
    passed = [True] * 3 + [False] * 7
    for k in (1, 2, 5, 10):
        assert score(f"pass@{k}", passed, None) == pass_at_k(10, 3, k) == score("pass_at_k", passed, None, k=k)
    with pytest.raises(TooFewCompletionsError):
        score("pass@11", passed, None)
    with pytest.raises(ArgumentError, match="k=2: pass_at_5 takes"):
        score("pass@5", passed, None, k=2)


def test_several_k_stand_in_one_run():
    data = samples_from([{"id": n, "input": "?", "target": ""} for n in range(2)])
    run = evaluate([[True, False], [False, False]], data, metrics=["pass@1", "pass@2"])
    assert run.value("pass@1") == 0.25 and run.value("pass_at_2") == 0.5
    assert list(run.summary) == ["pass_at_1@1", "pass_at_2@1"] and run.summary["pass@2"].value == 0.5


def test_whole_floats_are_the_class_of_their_int():
    assert score("accuracy", 1.0, 1) == score("accuracy", "1", 1.0) == 1 and score("accuracy", 1.5, 1) == 0


def test_rewards_have_names_too():
    assert score("preference", {"chosen": 0.9, "rejected": 0.1}, "A") == 1
    assert score_corpus("preference", [{"A": 1, "B": 2}, {"a": 2, "b": 1}], ["B", "A"]) == 1


def test_the_package_names_all_its_parts():
    text = evaluation.__doc__ or ""
    root = Path(evaluation.__file__).parent
    for module in pkgutil.iter_modules([str(root)]):
        assert (f"{module.name}/" if module.ispkg else module.name) in text
    for folder in ("sampling", "predictions", "runs", "comparing"):
        for module in pkgutil.iter_modules([str(root / folder)]):
            assert module.name in text
