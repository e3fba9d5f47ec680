"""Several answers to each question: variance between questions, and between answers to one question.

More answers per question reduce only the second part; more questions reduce both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, codes_of, numbers, of_one_length
from crucible_datasets.exceptions import ArgumentError


class RepeatedVariance(Struct, frozen=True):
    """The two components of the variance of scores; `within` is None if no question has several answers."""

    mean: float
    stderr: float | None
    between: float | None
    within: float | None
    num_questions: int
    num_values: int

    @property
    def reliability(self) -> float | None:
        """The intraclass correlation: the share of the variance of single answers that is between questions."""
        if self.between is None or self.within is None or not self.between + self.within:
            return None
        return self.between / (self.between + self.within)

    def expected_stderr(self, questions: int | None = None, answers: float | None = None) -> float | None:
        """The standard error of the mean with this number of questions, and of answers to each."""
        if self.between is None or self.within is None:
            return None
        per_question = answers or self.num_values / self.num_questions
        return math.sqrt((self.between + self.within / per_question) / (questions or self.num_questions))


def repeated_variance(values: Any, questions: Any = None) -> RepeatedVariance:
    """The components of the variance, by one-way ANOVA; questions may differ in their number of answers.

    `values` has one row per question and one column per answer, padded with NaN; or one value per answer, with the
    question of each in `questions`. Every question has the same weight in the mean.
    """
    scores, codes, size = _long(values, questions)
    if not size:
        raise ArgumentError("values", [], "there is no answer.")
    number = np.bincount(codes, minlength=size).astype(np.float64)
    means = np.bincount(codes, weights=scores, minlength=size) / number
    stderr = float(means.std(ddof=1) / math.sqrt(size)) if size > 1 else None
    spare = len(scores) - size
    within = float(((scores - means[codes]) ** 2).sum()) / spare if spare else None
    between = _between(scores, means, number, within) if within is not None and size > 1 else None
    return RepeatedVariance(float(means.mean()), stderr, between, within, size, len(scores))


def _between(scores: Floats, means: Floats, number: Floats, within: float) -> float:
    freedom = len(means) - 1
    spread = float((number * (means - scores.mean()) ** 2).sum()) / freedom
    typical = (len(scores) - float((number**2).sum()) / len(scores)) / freedom
    return max(0.0, (spread - within) / typical)


def _long(values: Any, questions: Any) -> tuple[Floats, Codes, int]:
    if questions is not None:
        data = numbers("values", values)
        of_one_length(values=data, questions=questions)
        codes, names = codes_of(questions)
        return data, codes, len(names)
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ArgumentError("values", table.shape, "expected one line per question, or `questions` beside the values.")
    table = table[~np.isnan(table).all(axis=1)]
    lines, columns = np.nonzero(~np.isnan(table))
    return numbers("values", table[lines, columns]), lines.astype(np.int64), len(table)
