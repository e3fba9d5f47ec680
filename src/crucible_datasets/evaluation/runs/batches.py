"""Samples and their answers, judged batch by batch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.forms import Answers, answers_in
from crucible_datasets.evaluation.predictions.generating import Failure, Generation
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.noting import noted
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.exceptions import MissingPredictionsError

_ROWS, _SECONDS = 4096, 2.0  # of a batch: rows of fast predictions, seconds of slow ones

Given = tuple[Any, list[Any] | None]  # a sample and its answers; None where these are to be asked for


@dataclass(frozen=True)
class _Row:
    sample: Any
    epoch: int
    prediction: Any


def left_of(samples: Iterable[Any], predictions: Answers | Generation, done: dict[str, int]) -> Iterator[Given]:
    """Every sample that is not done yet, with its answers."""
    if isinstance(predictions, Generation):
        return ((sample, None) for sample in samples if done.get(str(sample.id), 0) < predictions.repeats)
    pairs = zip(samples, predictions, strict=True)
    return ((sample, given) for sample, given in pairs if done.get(str(sample.id), 0) < max(len(given), 1))


def judged(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[list[SampleResult]]:
    """The results of samples, of which the run has so many, batch by batch."""
    for rows in _batches(_rows(how, _answered(how, given, generation, total))):
        yield [_result(row, outcomes) for row, outcomes in zip(rows, _outcomes(how, rows), strict=True)]


def _rows(how: Judging, answered: Iterable[tuple[Any, list[Any]]]) -> Iterator[_Row]:
    for sample, answers in answered:
        if how.together:
            failed = [one for one in answers if isinstance(one, Failure)]
            whole = [one for one in answers if one is not None and not isinstance(one, Failure)]
            yield _Row(sample, 0, whole or (failed[0] if failed else None))
        else:
            yield from (_Row(sample, epoch, one) for epoch, one in enumerate(answers or [None]))


def _answered(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[tuple[Any, list[Any]]]:
    if generation is None:
        yield from ((sample, answers or []) for sample, answers in given)
        return
    for sample, answers in generation.answers(sample for sample, _ in given):
        found = [one for answer in answers for one in answers_in(answer, how.numbers_are_one)]
        if how.missing == "error" and all(one is None for one in found):
            raise MissingPredictionsError([str(sample.id)], total)
        yield sample, found


def _batches(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    began = time.monotonic()
    for row in rows:
        batch.append(row)
        if len(batch) >= _ROWS or time.monotonic() - began > _SECONDS:
            yield batch
            batch, began = [], time.monotonic()
    if batch:
        yield batch


def _outcomes(how: Judging, rows: list[_Row]) -> list[dict[str, Outcome]]:
    given = [None if isinstance(row.prediction, Failure) else row.prediction for row in rows]
    found = how.outcomes(given, [row.sample.target for row in rows], [row.sample for row in rows])
    for place, row in enumerate(rows):
        if isinstance(row.prediction, Failure):
            found[place] = {key: _failed(one, row.prediction) for key, one in found[place].items()}
    return found


def _failed(outcome: Outcome, failure: Failure) -> Outcome:
    """What counts as missing, with the status and the reason of the failure."""
    return Outcome(outcome.value, status=failure.status, detail={**(outcome.detail or {}), "error": failure.reason})


def _result(row: _Row, outcomes: dict[str, Outcome]) -> SampleResult:
    sample = row.sample
    return SampleResult(
        id=str(sample.id),
        prediction=None if isinstance(row.prediction, Failure) else row.prediction,
        target=sample.target,
        outcomes=outcomes,
        input=noted(sample.input),
        choices=sample.choices,
        metadata=sample.metadata,
        epoch=row.epoch,
    )
