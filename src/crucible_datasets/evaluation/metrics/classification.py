"""Classification: accuracy, F1 by class, and the confusion matrix.

Every outcome has both labels in `detail`, so totals are computed from stored outcomes. An unreadable answer counts as
a miss (false negative) of the correct class, and as a false positive of none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import ArgumentError


class ClassScores(msgspec.Struct, frozen=True):
    """Precision, recall and F1 of one class."""

    precision: float
    recall: float
    f1: float
    support: int


class ClassificationReport(msgspec.Struct, frozen=True):
    """Totals, scores by class, and the confusion matrix: row = true class, column = predicted class."""

    accuracy: float
    macro_f1: float
    micro_f1: float
    weighted_f1: float
    mean_per_class: float
    labels: list[str]
    matrix: list[list[int]]
    classes: dict[str, ClassScores]
    unread: int  # predictions that are not a label, and in no column


def classification_report(outcomes: Iterable[Outcome], labels: Sequence[Any] | None = None) -> ClassificationReport:
    """The report of a classification, from the outcomes of any metric of this family.

    `labels` are the classes that predictions may name, in the order of the matrix; other predictions are unread.
    """
    pairs = [_labels_of(outcome) for outcome in outcomes if outcome.detail and "target" in outcome.detail]
    named = sorted({label for pair in pairs for label in pair if label is not None}) if labels is None else labels
    known = [_class_of(label) for label in named]
    place = {label: at for at, label in enumerate(known)}
    if strange := next((right for _, right in pairs if right not in place), None):
        raise ArgumentError("labels", list(named), f"{strange!r} is the right class of a sample: name it too.")
    matrix = [[0] * len(known) for _ in known]
    missed = [0] * len(known)
    for found, right in pairs:
        if found in place:
            matrix[place[right]][place[found]] += 1
        else:
            missed[place[right]] += 1
    return _report(known, matrix, missed)


def _labels_of(outcome: Outcome) -> tuple[str | None, str]:
    detail = outcome.detail or {}
    return detail.get("prediction"), detail["target"]


def _report(labels: list[str], matrix: list[list[int]], missed: list[int]) -> ClassificationReport:
    counted = zip(labels, range(len(labels)), strict=True)
    classes = {label: _class_scores(at, matrix, missed[at]) for label, at in counted}
    hits = sum(matrix[at][at] for at in range(len(labels)))
    read, unread = sum(map(sum, matrix)), sum(missed)
    total = read + unread
    # Classes that occur neither as target nor as prediction are left out of macro averages.
    seen = [each for at, each in enumerate(classes.values()) if each.support or any(row[at] for row in matrix)]
    present = [each for each in classes.values() if each.support]
    return ClassificationReport(
        accuracy=_share(hits, total),
        macro_f1=_share(sum(each.f1 for each in seen), len(seen)),
        micro_f1=_share(2 * hits, read + total),
        weighted_f1=_share(sum(each.f1 * each.support for each in present), total),
        mean_per_class=_share(sum(each.recall for each in present), len(present)),
        labels=labels,
        matrix=matrix,
        classes=classes,
        unread=unread,
    )


def _class_scores(at: int, matrix: list[list[int]], missed: int) -> ClassScores:
    hits, support, predicted = matrix[at][at], sum(matrix[at]) + missed, sum(row[at] for row in matrix)
    return ClassScores(_share(hits, predicted), _share(hits, support), _share(2 * hits, predicted + support), support)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _judged(prediction: Any, target: Any) -> Outcome:
    found, right = _class_of(prediction) or None, _class_of(target)
    detail = {"prediction": found, "target": right}
    return Outcome(float(found == right), extracted=found, detail=detail)


def _class_of(given: Any) -> str:
    """A label as text: 3, 3.0 and "3" are one class, and so are "Cat " and "cat"."""
    if isinstance(given, float) and given.is_integer():
        return str(int(given))
    return " ".join(str(given).lower().split())


def _macro_f1(outcomes: Sequence[Outcome]) -> float:
    return classification_report(outcomes).macro_f1


def _micro_f1(outcomes: Sequence[Outcome]) -> float:
    return classification_report(outcomes).micro_f1


def _weighted_f1(outcomes: Sequence[Outcome]) -> float:
    return classification_report(outcomes).weighted_f1


def _mean_per_class(outcomes: Sequence[Outcome]) -> float:
    return classification_report(outcomes).mean_per_class


@metric(version=1, binary=True, keeps_unread=True, aliases=("acc",))
def accuracy(prediction: Any, target: Any) -> Outcome:
    """1 when the predicted class is the right one.

    >>> accuracy("Cat", "cat").value, accuracy(3, "3").value
    (1.0, 1.0)
    """
    return _judged(prediction, target)


@metric(version=1, binary=True, reduce=_macro_f1, aliases=("f1_macro",))
def macro_f1(prediction: Any, target: Any) -> Outcome:
    """The mean of the F1 of every class; of one pair, 1 when the class is right."""
    return _judged(prediction, target)


@metric(version=1, binary=True, reduce=_micro_f1, aliases=("f1_micro",))
def micro_f1(prediction: Any, target: Any) -> Outcome:
    """The F1 of all decisions together; of one pair, 1 when the class is right."""
    return _judged(prediction, target)


@metric(version=1, binary=True, reduce=_weighted_f1, aliases=("f1_weighted",))
def weighted_f1(prediction: Any, target: Any) -> Outcome:
    """The mean of the F1 of every class, by how often the class is right; of one pair, 1 when the class is right."""
    return _judged(prediction, target)


@metric(version=1, binary=True, reduce=_mean_per_class, aliases=("balanced_accuracy",))
def mean_per_class(prediction: Any, target: Any) -> Outcome:
    """The mean over classes of the share found (balanced accuracy); of one pair, 1 when the class is right."""
    return _judged(prediction, target)
