"""Samples and their answers, judged batch by batch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.forms import Answers, answers_in, lacks_an_answer
from crucible_datasets.evaluation.predictions.generating import Failure, Generation
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.evaluation.runs.recorded_inputs import noted
from crucible_datasets.exceptions import MissingPredictionsError

_ROWS, _SECONDS = 4096, 2.0  # of a batch: rows of fast predictions, seconds of slow ones

Given = tuple[Any, list[Any] | None]  # a sample and its answers; None where these are to be asked for


class _Row(NamedTuple):
    sample: Any
    epoch: int
    prediction: Any


@dataclass(frozen=True)
class Left:
    """The samples of a run that are not done yet, and their answers; None where these are to be asked for."""

    samples: Samples
    answers: Answers | None

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Given]:
        return zip(self.samples, repeat(None, len(self)) if self.answers is None else self.answers, strict=True)


def left_of(samples: Samples, ids: list[str], predictions: Answers | Generation, done: dict[str, int]) -> Left:
    """What is not done yet of samples with these ids."""
    if isinstance(predictions, Generation):
        answers, wanted = None, [predictions.repeats] * len(ids)
    else:
        answers, wanted = predictions, [max(len(given), 1) for given in predictions]
    if not done:
        return Left(samples, answers)
    places = [place for place, (name, times) in enumerate(zip(ids, wanted, strict=True)) if done.get(name, 0) < times]
    return Left(samples.select(places), answers and [answers[place] for place in places])


def judged(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[list[SampleResult]]:
    """The results of samples, of which the run has so many, batch by batch."""
    for rows in _batches(_rows(how, _answered(how, given, generation, total))):
        yield [
            result_of(row.sample, row.epoch, None if isinstance(row.prediction, Failure) else row.prediction, outcomes)
            for row, outcomes in zip(rows, _outcomes(how, rows), strict=True)
        ]


def _rows(how: Judging, answered: Iterable[tuple[Any, list[Any]]]) -> Iterator[_Row]:
    if not how.together:
        for sample, answers in answered:
            for epoch, one in enumerate(answers or [None]):
                yield _Row(sample, epoch, one)
        return
    for sample, answers in answered:
        failed = [one for one in answers if isinstance(one, Failure)]
        whole = [one for one in answers if one is not None and not isinstance(one, Failure)]
        # One of ten completions that failed is a wrong one; without it, nine would be judged.
        absent = [None] * (len(answers) - len(whole)) if whole and how.missing == "wrong" else []
        yield _Row(sample, 0, whole + absent or (failed[0] if failed else None))


def _answered(
    how: Judging, given: Iterable[Given], generation: Generation | None, total: int
) -> Iterator[tuple[Any, list[Any]]]:
    if generation is None:
        yield from ((sample, answers or []) for sample, answers in given)
        return
    with closing(generation.answers(sample for sample, _ in given)) as asked:
        for sample, answers in asked:
            found = [one for answer in answers for one in answers_in(answer, how.numbers_are_one)]
            if how.missing == "error" and lacks_an_answer(found):
                raise MissingPredictionsError([str(sample.id)], total, True)
            yield sample, found


def _batches(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Rows in batches; those before an error or an interrupt are a batch too, so that they are judged and kept."""
    batch: list[_Row] = []
    began = time.monotonic()
    try:
        for row in rows:
            batch.append(row)
            if len(batch) >= _ROWS or time.monotonic() - began > _SECONDS:
                yield batch
                batch, began = [], time.monotonic()
    except (Exception, KeyboardInterrupt):
        if batch:
            yield batch
        raise
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


def result_of(sample: Any, epoch: int, prediction: Any, outcomes: dict[str, Outcome]) -> SampleResult:
    """What a run keeps of a sample."""
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
