"""Scoring of samples and their answers in batches."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.forms import Answers, generated_answers, has_missing
from crucible_datasets.evaluation.predictions.generating import Generation
from crucible_datasets.evaluation.predictions.responses import Failure
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.evaluation.runs.recorded_inputs import noted
from crucible_datasets.exceptions import MissingPredictionsError

_ROWS, _SECONDS = 4096, 2.0  # per batch: at most so many rows, or the rows of so many seconds
# The first batch, which shows how long rows take, and the smallest: as many as metrics judge at the same time.
_FEWEST_ROWS = max(16, os.cpu_count() or 1)

Given = tuple[Any, list[Any] | None]  # a sample and its answers; None if they must be generated


class _Row(NamedTuple):
    sample: Any
    epoch: int
    prediction: Any


@dataclass(frozen=True)
class Remaining:
    """The samples of a run that are not done yet, and their answers; None if they must be generated."""

    samples: Samples
    answers: Answers | None

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Given]:
        return zip(self.samples, repeat(None, len(self)) if self.answers is None else self.answers, strict=True)


def remaining(samples: Samples, ids: list[str], predictions: Answers | Generation, done: dict[str, int]) -> Remaining:
    """The samples with these ids that are not done yet."""
    if isinstance(predictions, Generation):
        answers, wanted = None, [predictions.repeats] * len(ids)
    else:
        answers, wanted = predictions, [max(len(given), 1) for given in predictions]
    if not done:
        return Remaining(samples, answers)
    places = [place for place, (name, times) in enumerate(zip(ids, wanted, strict=True)) if done.get(name, 0) < times]
    return Remaining(samples.select(places), answers and [answers[place] for place in places])


def answered(samples: Samples, ids: list[str], answers: dict[str, list[Any]]) -> Remaining:
    """The samples that have answers, with these."""
    places = [place for place, name in enumerate(ids) if name in answers]
    return Remaining(samples.select(places), [answers[ids[place]] for place in places])


def judged(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[list[SampleResult]]:
    """The results of samples in batches; `total` is the number of samples of the run."""
    for rows in _batches(_rows(how, _answered(how, given, generation, total))):
        yield [
            result_of(row.sample, row.epoch, _text(row.prediction), outcomes)
            for row, outcomes in zip(rows, _outcomes(how, rows), strict=True)
        ]


def _rows(how: Judging, answered: Iterable[tuple[Any, list[Any]]]) -> Iterator[_Row]:
    if not how.together:
        for sample, answers in answered:
            for epoch, one in enumerate(answers or [None]):
                yield _Row(sample, epoch, one)
        return
    for sample, answers in answered:
        failure = next((answer for answer in answers if isinstance(answer, Failure) and answer.is_outage), None)
        present = [text for answer in answers if (text := _text(answer)) is not None]
        # A missing completion counts as a wrong one; left out, it would reduce the number of completions.
        absent = [None] * (len(answers) - len(present)) if present and how.missing == "wrong" else []
        yield _Row(sample, 0, failure or present + absent or None)


def _answered(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[tuple[Any, list[Any]]]:
    if generation is None:
        yield from ((sample, answers or []) for sample, answers in given)
        return
    with closing(generation.answers(sample for sample, _ in given)) as asked:
        for sample, answers in asked:
            found = [
                one for answer in answers for one in generated_answers(answer, generation.reads, how.numbers_are_one)
            ]
            if how.missing == "error" and has_missing(found):
                raise MissingPredictionsError([str(sample.id)], total, True)
            yield sample, found


def _batches(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Rows in batches. Rows before an error or an interrupt form a last batch, so that they are scored and stored."""
    batch: list[_Row] = []
    began, most = time.monotonic(), min(_FEWEST_ROWS, _ROWS)
    try:
        for row in rows:
            batch.append(row)
            if len(batch) >= most or time.monotonic() - began > _SECONDS:
                judging = time.monotonic()
                yield batch
                # A judge may take seconds for each row: what it said is kept, and progress shown, in good time.
                most = _next_most(most, time.monotonic() - judging)
                batch, began = [], time.monotonic()
    except (Exception, KeyboardInterrupt):
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _next_most(rows: int, seconds: float) -> int:
    """How many rows the next batch may have, after so many took so long to judge."""
    if seconds < _SECONDS / 4:
        return min(rows * 4, _ROWS)
    return max(rows // 4, min(rows, _FEWEST_ROWS)) if seconds > _SECONDS else rows


def _text(prediction: Any) -> Any:
    """What a model said, which is scored and stored."""
    return prediction.text if isinstance(prediction, Failure) else prediction


def _outcomes(how: Judging, rows: list[_Row]) -> list[dict[str, Outcome]]:
    samples = [row.sample for row in rows]
    predictions = [row.prediction for row in rows]
    # Of a refusal or a text that was cut off, a corpus metric needs the length.
    texts = [item.text or "" if isinstance(item, Failure) and item.is_reply else _text(item) for item in predictions]
    outcomes = how.outcomes(texts, [sample.target for sample in samples], samples)
    for row, prediction in enumerate(predictions):
        if isinstance(prediction, Failure):
            outcomes[row] = {
                key: _failed(prediction, outcome, how.metrics[key].higher_is_better)
                for key, outcome in outcomes[row].items()
            }
    return outcomes


def _failed(failure: Failure, outcome: Outcome, higher_is_better: bool) -> Outcome:
    """The outcome of a failure: wrong for a refusal or a text that was cut off, never for an outage."""
    detail = {**(outcome.detail or {}), "error": failure.reason}
    if failure.is_reply:
        return Outcome(0.0 if higher_is_better else outcome.value, outcome.extracted, failure.status, detail)
    return Outcome(None if failure.is_outage else outcome.value, status=failure.status, detail=detail)


def result_of(sample: Any, epoch: int, prediction: Any, outcomes: dict[str, Outcome]) -> SampleResult:
    """The result of a sample that a run stores."""
    return SampleResult(
        id=str(sample.id),
        prediction=prediction,
        target=sample.target,
        outcomes=outcomes,
        input=noted(sample.input),
        choices=sample.choices,
        metadata=sample.metadata,
        epoch=epoch,
    )
