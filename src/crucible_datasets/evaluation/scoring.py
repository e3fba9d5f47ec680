"""Scores of single pairs and lists of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any

from crucible_datasets.evaluation.metrics.base import Judge, Metric, metric_of


def score(metric_name: str | Metric | Judge, prediction: Any, target: Any, **options: Any) -> float:
    """The value of one prediction under a metric; nan if the pair does not count.

    >>> score("exact_match", "The answer: Paris!", "the answer paris")
    1.0
    >>> score("exact_match", "So she has 18 left. #### 18", "18", extract="gsm8k/official@1")
    1.0
    """
    value = metric_of(metric_name).score(prediction, target, **options).value
    return nan if value is None else value


def score_corpus(
    metric_name: str | Metric | Judge, predictions: Iterable[Any], targets: Iterable[Any], **options: Any
) -> float:
    """The value of all predictions together: corpus BLEU, macro F1, or the mean.

    >>> score_corpus("macro_f1", ["cat", "dog", "dog"], ["cat", "dog", "cat"])
    0.6666666666666666
    """
    chosen = metric_of(metric_name)
    return chosen.aggregate(chosen.score_many(predictions, targets, **options), **options)
