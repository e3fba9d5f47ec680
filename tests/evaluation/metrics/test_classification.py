"""Classification and calibration, against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, classification_report, score, score_corpus
from crucible_datasets.exceptions import ArgumentError

pairs_of_labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


def f1_of(label, pairs):
    hits = sum(one == other == label for one, other in pairs)
    named = sum((one == label) + (other == label) for one, other in pairs)
    return 2 * hits / named


@given(pairs_of_labels)
def test_totals_are_what_they_are_defined_as(pairs):
    predictions, targets = [one for one, _ in pairs], [other for _, other in pairs]
    seen = sorted({label for pair in pairs for label in pair})
    right = sum(one == other for one, other in pairs) / len(pairs)
    recalls = [sum(p == t == k for p, t in pairs) / targets.count(k) for k in seen if k in targets]
    assert score_corpus("accuracy", predictions, targets) == pytest.approx(right)
    assert score_corpus("micro_f1", predictions, targets) == pytest.approx(right)
    assert score_corpus("macro_f1", predictions, targets) == pytest.approx(
        sum(f1_of(k, pairs) for k in seen) / len(seen)
    )
    assert score_corpus("mean_per_class", predictions, targets) == pytest.approx(sum(recalls) / len(recalls))
    weighted = sum(f1_of(label, pairs) * targets.count(label) for label in seen) / len(pairs)
    assert score_corpus("weighted_f1", predictions, targets) == pytest.approx(weighted)


@given(pairs_of_labels)
def test_the_matrix_counts_every_pair(pairs):
    outcomes = METRICS["accuracy"].score_many([one for one, _ in pairs], [other for _, other in pairs])
    report = classification_report(outcomes)
    for at, right in enumerate(report.labels):
        for to, found in enumerate(report.labels):
            assert report.matrix[at][to] == pairs.count((found, right))
        assert report.classes[right].support == sum(other == right for _, other in pairs)
    assert sum(map(sum, report.matrix)) == len(pairs)


@given(pairs_of_labels, st.permutations("abc"))
def test_names_of_classes_do_not_matter(pairs, other_names):
    renamed = dict(zip("abc", other_names, strict=True))
    for metric in ("accuracy", "macro_f1", "micro_f1", "mean_per_class"):
        values = [
            score_corpus(metric, [name[one] for one, _ in pairs], [name[other] for _, other in pairs])
            for name in (dict(zip("abc", "abc", strict=True)), renamed)
        ]
        assert values[0] == pytest.approx(values[1])


def test_what_was_not_read_is_a_miss_of_its_class_and_blames_no_other():
    texts, targets = ["ANSWER: A", "ANSWER: B", "no idea", ""], ["A", "B", "A", "B"]
    outcomes = METRICS["macro_f1"].score_many(texts, targets, extract="choice/inspect")
    report = classification_report(outcomes)
    assert (report.accuracy, report.unread) == (0.5, 2)
    assert report.labels == ["a", "b"]
    assert report.matrix == [[1, 0], [0, 1]]
    assert [each.precision for each in report.classes.values()] == [1.0, 1.0]
    assert [each.recall for each in report.classes.values()] == [0.5, 0.5]
    assert METRICS["macro_f1"].aggregate(outcomes) == pytest.approx(2 / 3)
    assert classification_report(METRICS["accuracy"].score_many(texts, targets, extract="choice/inspect")) == report


def test_labels_say_which_predictions_are_classes():
    outcomes = METRICS["accuracy"].score_many(["cat", "horse", "dog"], ["cat", "dog", "dog"])
    report = classification_report(outcomes, labels=["Cat", "Dog", "Bird"])
    assert report.matrix == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert report.unread == 1
    assert report.macro_f1 == pytest.approx((1 + 2 / 3) / 2)


def test_labels_are_compared_as_words():
    assert score("accuracy", " Golden  Retriever", "golden retriever") == 1.0
    assert score("accuracy", 3, "3") == 1.0


# Calibration

beliefs = st.lists(st.tuples(st.integers(0, 100).map(lambda n: n / 100), st.booleans()), min_size=1, max_size=40)


@given(beliefs, st.sampled_from([1, 5, 10, 15]))
def test_ece_is_the_gap_between_confidence_and_accuracy_by_bins(beliefs, bins):
    gap = 0.0
    for bin in range(bins):
        low, high = bin / bins, (bin + 1) / bins
        inside = [(p, right) for p, right in beliefs if low < p <= high or (bin == 0 and p == 0)]
        gap += abs(sum(p for p, _ in inside) - sum(right for _, right in inside)) / len(beliefs)
    assert score_corpus("ece", [p for p, _ in beliefs], [right for _, right in beliefs], bins=bins) == pytest.approx(
        gap
    )


@given(beliefs)
def test_one_bin_sees_only_the_mean(beliefs):
    predictions, targets = [p for p, _ in beliefs], [right for _, right in beliefs]
    gap = abs(sum(predictions) - sum(targets)) / len(beliefs)
    assert score_corpus("ece", predictions, targets, bins=1) == pytest.approx(gap)
    assert score_corpus("ece", predictions, targets) >= gap - 1e-12


@given(beliefs)
def test_brier_is_the_mean_squared_error_and_bounded(beliefs):
    predictions, targets = [p for p, _ in beliefs], [right for _, right in beliefs]
    expected = sum((p - right) ** 2 for p, right in beliefs) / len(beliefs)
    assert score_corpus("brier", predictions, targets) == pytest.approx(expected)
    assert 0 <= score_corpus("brier", predictions, targets) <= 1
    assert 0 <= score_corpus("ece", predictions, targets) <= 1


@pytest.mark.parametrize(
    ("prediction", "target", "ece", "brier"),
    [
        (0.8, True, 0.2, 0.04),
        ("80%", 1, 0.2, 0.04),
        (0.8, 0, 0.8, 0.64),
        ({"answer": "Paris", "confidence": 0.9}, "paris", 0.1, 0.01),
        ({"answer": "Rome", "confidence": 0.9}, "paris", 0.9, 0.81),
        ([0.7, 0.2, 0.1], 0, 0.3, 0.14),
        ([0.7, 0.2, 0.1], "A", 0.3, 0.14),
        ({"cat": 0.7, "dog": 0.3}, "dog", 0.7, 0.98),
    ],
)
def test_forms_of_beliefs(prediction, target, ece, brier):
    assert score("ece", prediction, target) == pytest.approx(ece)
    assert score("brier", prediction, target) == pytest.approx(brier)


def test_a_text_without_confidence_is_unparsed():
    outcome = METRICS["brier"].score("quite sure", True)
    assert (outcome.value, outcome.status) == (None, "unparsed")


@pytest.mark.parametrize(("prediction", "target"), [(1.5, 1), (-0.1, 1), (0.5, "yes"), ([0.5, 0.5], 7), ([2.0, 0], 0)])
def test_what_is_no_probability_is_refused(prediction, target):
    with pytest.raises(ArgumentError):
        score("brier", prediction, target)


def test_bins_must_be_some():
    with pytest.raises(ArgumentError, match="positive"):
        score_corpus("ece", [0.5], [1], bins=0)


@given(st.integers(1, 100), st.data())
def test_a_confidence_on_a_border_is_in_the_lower_bin(bins, data):
    """Two beliefs in one bin make up for each other; in two bins they do not."""
    border = data.draw(st.integers(1, bins)) / bins
    below = border - 0.5 / bins
    confidences = [border, below]
    gap = abs(border + below - 1) / 2
    assert score_corpus("ece", confidences, [True, False], bins=bins) == pytest.approx(gap)


def test_the_right_classes_are_among_the_labels():
    outcomes = METRICS["accuracy"].score_many(["a", "b"], ["a", "c"])
    with pytest.raises(ArgumentError, match="'c' is the right class of a sample"):
        classification_report(outcomes, labels=["a", "b"])


def test_nothing_has_no_score():
    assert all(METRICS[key].aggregate([]) != METRICS[key].aggregate([]) for key in METRICS)
