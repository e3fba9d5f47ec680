"""Preferences, with ties told apart."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.benchmarks import load_samples
from crucible_datasets.evaluation import METRICS, evaluate, preference_report, score
from crucible_datasets.exceptions import ArgumentError

labels = st.sampled_from(["A", "B", "tie"])


@pytest.mark.parametrize(
    ("prediction", "target", "value"),
    [
        ("A", "A", 1),
        ("a", "chosen", 1),
        ("model_b", "B", 1),
        ("B", "A", 0),
        ("tie", "tie", 1),
        ("tie", "A", 0.5),
        ("B", "tie", 0.5),
        ([0.9, 0.1], "A", 1),
        ([0.1, 0.9], "A", 0),
        ([0.5, 0.5], "A", 0.5),
        ({"a": 1, "b": 2}, "B", 1),
        ("[[A]]", "A", 1),
    ],
)
def test_preferences(prediction, target, value):
    assert score("preference_accuracy", prediction, target) == value


@given(st.sampled_from(["A", "B"]), st.floats(-5, 5), st.floats(-5, 5))
def test_chosen_is_the_response_that_the_target_prefers_wherever_it_stands(target, chosen, rejected):
    by_role = score("preference_accuracy", {"chosen": chosen, "rejected": rejected}, target)
    by_position = [chosen, rejected] if target == "A" else [rejected, chosen]
    assert by_role == score("preference_accuracy", by_position, target)
    assert score("preference_accuracy", "chosen", target) == 1.0
    assert score("preference_accuracy", "rejected", target) == 0.0
    assert score("preference_accuracy", "chosen", "tie") == 0.5


def test_the_first_version_still_takes_chosen_for_the_first_response():
    assert score("preference_accuracy@1", {"chosen": 1.0, "rejected": 0.0}, "B") == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_perfect_rewards_by_role_are_right_on_shuffled_pairs(seed):
    rows = [{"prompt": f"{n}?", "chosen": f"gut {n} é", "rejected": f"schlecht {n}"} for n in range(30)]
    pairs = load_samples(rows).shuffle_choices(seed)
    assert {sample.target for sample in pairs} == {"A", "B"}
    for prediction in ({"chosen": 1.0, "rejected": 0.0}, "chosen"):
        assert evaluate([prediction] * 30, pairs, "preference_accuracy").value() == 1.0


def test_ties_count_as_asked():
    assert score("preference_accuracy", "tie", "A", ties="wrong") == 0.0
    assert math.isnan(score("preference_accuracy", "A", "tie", ties="exclude"))
    assert score("preference_accuracy", "tie", "A", ties="exclude") == 0.0
    assert score("preference_accuracy", [0.52, 0.5], "tie", margin=0.1) == 1.0
    with pytest.raises(ArgumentError, match="half, wrong, exclude"):
        score("preference_accuracy", "A", "A", ties="maybe")


def test_what_is_no_preference_is_unparsed():
    for strange in ("neither of them", [1.0], [float("nan"), 1.0], 7):
        assert METRICS["preference_accuracy"].score(strange, "A").status == "unparsed"
    with pytest.raises(ArgumentError, match="none of A, B and tie"):
        score("preference_accuracy", "A", "D")


TURNED = {"A": "B", "B": "A", "tie": "tie"}


@given(labels, labels)
def test_the_order_of_responses_does_not_matter(prediction, target):
    turned = score("preference_accuracy", TURNED[prediction], TURNED[target])
    assert score("preference_accuracy", prediction, target) == turned


@given(st.lists(st.tuples(labels, labels), max_size=20))
def test_the_report_counts_ties_separately(pairs):
    metric = METRICS["preference_accuracy"]
    outcomes = metric.score_many([one for one, _ in pairs], [other for _, other in pairs], ties="exclude")
    report = preference_report(outcomes)
    decided = [pair for pair in pairs if "tie" not in pair]
    assert report["pairs"] == len(pairs)
    assert report["decided"] == len(decided)
    assert report["target_ties"] == sum(other == "tie" for _, other in pairs)
    assert report["predicted_ties"] == sum(one == "tie" for one, _ in pairs)
    assert report["agreed_ties"] == sum(pair == ("tie", "tie") for pair in pairs)
    assert report["accuracy"] == (sum(a == b for a, b in decided) / len(decided) if decided else None)


def test_a_tie_that_is_left_out_is_left_out_also_when_nothing_was_read():
    outcomes = METRICS["preference_accuracy"].score_many(["A", "who knows", "B"], ["A", "tie", "tie"], ties="exclude")
    assert [outcome.value for outcome in outcomes] == [1.0, None, None]
    assert outcomes[1].status == "unparsed"
    assert score("preference_accuracy", [math.inf, math.inf], "tie") == 1
