"""A run from answers to result: batches of rows are judged, kept, counted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from crucible_datasets.evaluation.predictions.forms import Answers, check_missing, known_answers, tell_uneven
from crucible_datasets.evaluation.predictions.generating import Generation
from crucible_datasets.evaluation.results.openrun import OpenRun, drop_if_empty, refuse_other
from crucible_datasets.evaluation.results.places import new_run_id, now
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.runs.batches import judged, left_of
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.questions import Questions
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleList, SampleResult
from crucible_datasets.evaluation.runs.remote import judged_away
from crucible_datasets.evaluation.runs.shown import reason_of
from crucible_datasets.exceptions import RunExistsError, RunFinishedError
from crucible_datasets.executors.base import Executor
from crucible_datasets.logging import get_logger
from crucible_datasets.progress import bar

_logger = get_logger(__name__)


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
    executor: Executor | None = None  # who asks and judges; None is this thread


def run(asked: Asked, predictions: Any) -> EvaluationResult:
    """Judge all predictions; with a store, every batch is kept before the next."""
    began = time.perf_counter()
    info = _info(asked)
    predictions = predictions if isinstance(predictions, Generation) else _checked(asked, predictions)
    if asked.store is None:
        result = _in_memory(asked, info, predictions)
        return _told(EvaluationResult(_lasted(result.info, began), result.samples, result.summary))
    try:
        begun = asked.store.open_run(info, resume=asked.resume)
    except (RunExistsError, RunFinishedError):
        if not asked.resume:
            raise
        return _finished(asked.store, info)
    with begun as kept:
        try:
            return _told(_into(kept, asked, predictions, began))
        except BaseException as error:
            if not asked.resume:
                drop_if_empty(kept)
            if os.path.isdir(kept.folder):
                error.add_note(f"What was judged is stored. To continue, pass run_id={kept.run_id!r} and resume=True.")
            raise


def _told(result: EvaluationResult) -> EvaluationResult:
    """The result, with a warning where every sample failed: that is a mistake in a function, and no score."""
    for key, one in result.summary.items():
        if one.counts.get("error") and set(one.counts) == {"error"}:
            _logger.warning("%s failed on every sample%s.", key, reason_of(result, key, "error"))
    return result


def _finished(store: ResultStore, info: RunInfo) -> EvaluationResult:
    """A run that there is nothing left to do of: whoever calls again after a crash cannot know that."""
    found = store.load(info.run_id)
    refuse_other(found.info, info)
    return found


def _checked(asked: Asked, predictions: Any) -> Answers:
    """The answers to every sample: whatever is wrong with them is raised before a run is begun."""
    ids = asked.questions.ids
    answers = known_answers(predictions, ids, *asked.columns, asked.how.numbers_are_one)
    check_missing(answers, ids, asked.how.missing)
    if not asked.how.together:
        tell_uneven(answers, ids)
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
    ids = asked.questions.ids
    total, left = len(ids), left_of(asked.questions.samples, ids, predictions, done)
    asking = predictions if isinstance(predictions, Generation) else None
    with bar(total=total, desc=f"Evaluating {asked.model}", unit=" samples") as progress:
        if asked.executor is not None:
            yield from judged_away(asked.executor, asked.how, left, asking, total, progress.update)
            return
        for batch in judged(asked.how, left, asking and asking.ready(), total):
            yield batch
            progress.update(len({result.id for result in batch}))
