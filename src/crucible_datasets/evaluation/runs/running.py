"""A run from answers to result: batches of rows are judged, kept, counted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.forms import Answers, answers_in, check_missing, known_answers
from crucible_datasets.evaluation.predictions.generating import Failure, Generation
from crucible_datasets.evaluation.results.openrun import OpenRun, drop_if_empty
from crucible_datasets.evaluation.results.places import new_run_id, now
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.noting import noted
from crucible_datasets.evaluation.runs.questions import Questions
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleList, SampleResult
from crucible_datasets.exceptions import MissingPredictionsError
from crucible_datasets.progress import bar

_ROWS, _SECONDS = 4096, 2.0  # of a batch: rows of fast predictions, seconds of slow ones


@dataclass(frozen=True)
class Asked:
    """What a call of `evaluate` asks for."""

    questions: Questions
    how: Judging
    model: str
    tags: list[str]
    options: dict[str, Any]
    cluster_by: str | None
    columns: tuple[str | None, str | None]
    store: ResultStore | None
    run_id: str | None
    resume: bool


@dataclass(frozen=True)
class _Row:
    sample: Any
    epoch: int
    prediction: Any


def run(asked: Asked, predictions: Any) -> EvaluationResult:
    """Judge all predictions; with a store, every batch is kept before the next."""
    began = time.perf_counter()
    info = _info(asked)
    predictions = predictions if isinstance(predictions, Generation) else _checked(asked, predictions)
    if asked.store is None:
        result = _in_memory(asked, info, predictions)
        return EvaluationResult(_lasted(result.info, began), result.samples, result.summary)
    with asked.store.open_run(info, resume=asked.resume) as kept:
        try:
            return _into(kept, asked, predictions, began)
        except BaseException:
            if not asked.resume:
                drop_if_empty(kept)
            raise


def _checked(asked: Asked, predictions: Any) -> Answers:
    """The answers to every sample: whatever is wrong with them is raised before a run is begun."""
    ids = asked.questions.ids
    answers = known_answers(predictions, ids, *asked.columns, asked.how.numbers_are_one)
    check_missing(answers, ids, asked.how.missing)
    return answers


def _in_memory(asked: Asked, info: RunInfo, predictions: Any) -> EvaluationResult:
    samples, counting = SampleList(), Counting(info, asked.how.metrics)
    for batch in _judged(asked, predictions, {}):
        samples += batch
        counting.add(batch)
    info = msgspec.structs.replace(info, num_samples=counting.num_samples)
    return EvaluationResult(info, samples, counting.summary())


def _into(kept: OpenRun, asked: Asked, predictions: Any, began: float) -> EvaluationResult:
    done = kept.done() if asked.resume else {}
    counting = Counting(kept.info, asked.how.metrics)
    for batch in _judged(asked, predictions, done):
        kept.extend(batch)
        counting.add(batch)
    # Of a run that was continued, the summary needs the samples of before too: it is made of the journals.
    return kept.finish(None if done else counting.summary(), time.perf_counter() - began)


def _lasted(info: RunInfo, began: float) -> RunInfo:
    return msgspec.structs.replace(info, duration=time.perf_counter() - began)


def _info(asked: Asked) -> RunInfo:
    from crucible_datasets import __version__

    questions, where = asked.questions, asked.questions.provenance
    return RunInfo(
        run_id=asked.run_id or new_run_id(asked.model, questions.name),
        model=asked.model,
        dataset=questions.name,
        split=where.split,
        config=where.config,
        dataset_hash=where.content_hash,
        revision=where.revision,
        rules=asked.how.rules,
        metrics=list(asked.how.metrics),
        created_at=now(),
        tags=asked.tags,
        options=asked.options,
        library_version=__version__,
        missing=asked.how.missing,
        cluster_by=asked.cluster_by,
    )


def _judged(asked: Asked, predictions: Any, done: dict[str, int]) -> Iterator[list[SampleResult]]:
    with bar(total=len(asked.questions.ids), desc=f"Evaluating {asked.model}", unit=" samples") as progress:
        for rows in _batches(_rows(asked, predictions, done)):
            yield [_result(row, outcomes) for row, outcomes in zip(rows, _outcomes(asked, rows), strict=True)]
            progress.update(len({row.sample.id for row in rows}))


def _rows(asked: Asked, predictions: Any, done: dict[str, int]) -> Iterator[_Row]:
    for sample, answers in _answered(asked, predictions, done):
        if asked.how.together:
            failed = [one for one in answers if isinstance(one, Failure)]
            whole = [one for one in answers if one is not None and not isinstance(one, Failure)]
            yield _Row(sample, 0, whole or (failed[0] if failed else None))
        else:
            yield from (_Row(sample, epoch, one) for epoch, one in enumerate(answers or [None]))


def _answered(asked: Asked, predictions: Any, done: dict[str, int]) -> Iterator[tuple[Any, list[Any]]]:
    """Every sample that is not done yet, with its answers."""
    questions = asked.questions
    if isinstance(predictions, Generation):
        left = (sample for sample in questions.samples if done.get(str(sample.id), 0) < predictions.repeats)
        for sample, answers in predictions.answers(left):
            given = [one for answer in answers for one in answers_in(answer, asked.how.numbers_are_one)]
            if asked.how.missing == "error" and all(one is None for one in given):
                raise MissingPredictionsError([str(sample.id)], len(questions.ids))
            yield sample, given
        return
    for sample, given in zip(questions.samples, predictions, strict=True):
        if done.get(str(sample.id), 0) < max(len(given), 1):
            yield sample, given


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


def _outcomes(asked: Asked, rows: list[_Row]) -> list[dict[str, Outcome]]:
    given = [None if isinstance(row.prediction, Failure) else row.prediction for row in rows]
    found = asked.how.outcomes(given, [row.sample.target for row in rows], [row.sample for row in rows])
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
