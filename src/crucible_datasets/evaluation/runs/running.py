"""Execution of a run: batches of answers are scored, stored and counted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from crucible_datasets.evaluation.predictions.forms import Answers, check_missing, known_answers, warn_uneven
from crucible_datasets.evaluation.predictions.generating import Generation
from crucible_datasets.evaluation.results.openrun import OpenRun, drop_if_empty, refuse_other
from crucible_datasets.evaluation.results.places import new_run_id, now
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.runs.batches import Remaining, answered, judged, remaining
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.questions import Questions
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleList, SampleResult
from crucible_datasets.evaluation.runs.remote import judged_by_workers
from crucible_datasets.evaluation.runs.shown import reason_of
from crucible_datasets.exceptions import RunExistsError, RunFinishedError
from crucible_datasets.executors.base import Executor
from crucible_datasets.logging import get_logger
from crucible_datasets.progress import bar

_LOOKED_AT = 100  # samples of a run in which no answer is right
_SHOWN = 60  # characters of a target
_logger = get_logger(__name__)


@dataclass(frozen=True)
class EvaluationCall:
    """The arguments of `evaluate`, checked and resolved."""

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
    executor: Executor | None = None  # where answers are generated and scored; None: in this thread


def run(call: EvaluationCall, predictions: Any) -> EvaluationResult:
    """Score all predictions; with a store, every batch is stored before the next begins."""
    info, began = _info(call), time.perf_counter()
    predictions = predictions if isinstance(predictions, Generation) else _checked(call, predictions)
    if call.store is None:
        result = _in_memory(call, info, predictions)
        return _warned(EvaluationResult(_duration(result.info, began), result.samples, result.summary))
    try:
        begun = call.store.open_run(info, resume=call.resume)
    except (RunExistsError, RunFinishedError):
        if not call.resume:
            raise
        return _finished(call.store, info)
    with begun as kept:
        try:
            return _warned(_into_store(kept, call, predictions, began))
        except BaseException as error:
            if not call.resume:
                drop_if_empty(kept)
            if os.path.isdir(kept.folder):
                error.add_note(f"What was judged is stored. To continue, pass run_id={kept.run_id!r} and resume=True.")
            raise


def _warned(result: EvaluationResult) -> EvaluationResult:
    """The result; warns of samples without a verdict, because the model or the metric failed."""
    for key, summary in result.summary.items():
        if summary.counts.get("error") and set(summary.counts) == {"error"}:
            _logger.warning("%s failed on every sample%s.", key, reason_of(result, key, "error"))
            continue
        missing = 0 if result.info.missing == "wrong" else summary.counts.get("missing", 0)
        failed = sum(summary.counts.values()) - summary.n - missing
        if failed > 0:
            status = "error" if summary.counts.get("error") else "timeout"
            text = "%s: %d of %d answers are not counted, since the model or the metric failed%s."
            text += " With a store, the same call with resume=True asks for these again."
            _logger.warning(text, key, failed, sum(summary.counts.values()), reason_of(result, key, status))
        if summary.value == 0 and summary.higher_is_better:
            _warn_of_targets_among_wrong_answers(result, key)
    return result


def _warn_of_targets_among_wrong_answers(result: EvaluationResult, key: str) -> None:
    """Warn if no answer is right although some give their targets: it is the data or the rule that is wrong."""
    first = [result.samples[row] for row in range(min(_LOOKED_AT, len(result.samples)))]
    giving = [sample for sample in first if _gives_target(sample)]
    if giving:
        text = (
            "%s: no answer is right, though %d of the first %d give their target, such as %s: %r for %r. The rule may"
        )
        text += (
            " read something else, or targets may be whole solutions, as in the raw rows of a benchmark: see extract=,"
        )
        text += " fields= and load_benchmark()."
        one = giving[0]
        target = str(one.target)
        shown = target if len(target) <= _SHOWN else f"…{target[-_SHOWN:]}"
        _logger.warning(text, key, len(giving), len(first), one.id, one.prediction, shown)


def _gives_target(sample: SampleResult) -> bool:
    """Whether the prediction is a target, or what a target ends with after a blank."""
    prediction = sample.prediction.strip() if isinstance(sample.prediction, str) else ""
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    texts = [target.strip() for target in targets if isinstance(target, str)]
    return bool(prediction) and any(text == prediction or text.split()[-1:] == [prediction] for text in texts)


def _finished(store: ResultStore, info: RunInfo) -> EvaluationResult:
    """The run if it has been finished already, for a call that is repeated after a crash."""
    found = store.load(info.run_id)
    refuse_other(found.info, info)
    return found


def _checked(call: EvaluationCall, predictions: Any) -> Answers:
    """The answers to every sample, checked before the run begins."""
    ids = call.questions.ids
    answers = known_answers(predictions, ids, *call.columns, call.how.numbers_are_one)
    check_missing(answers, ids, call.how.missing)
    if not call.how.together:
        warn_uneven(answers, ids)
    return answers


def _in_memory(call: EvaluationCall, info: RunInfo, predictions: Any) -> EvaluationResult:
    samples, counting = SampleList(), Counting(info, call.how.metrics)
    for batch in _judged(call, predictions, {}, {}):
        samples += batch
        counting.add(batch)
    info = msgspec.structs.replace(info, num_samples=counting.num_samples)
    return EvaluationResult(info, samples, counting.summary())


def _into_store(kept: OpenRun, call: EvaluationCall, predictions: Any, began: float) -> EvaluationResult:
    done, unjudged = (kept.done(), kept.unjudged()) if call.resume else ({}, {})
    counting = Counting(kept.info, call.how.metrics)
    for batch in _judged(call, predictions, done, unjudged):
        kept.extend(batch)
        counting.add(batch)
    # The summary of a resumed run includes the earlier samples, so it is computed from the journals.
    return kept.finish(None if done else counting.summary(), time.perf_counter() - began)


def _duration(info: RunInfo, began: float) -> RunInfo:
    return msgspec.structs.replace(info, duration=time.perf_counter() - began)


def _info(call: EvaluationCall) -> RunInfo:
    from crucible_datasets import __version__

    questions, where = call.questions, call.questions.provenance
    return RunInfo(
        run_id=call.run_id or new_run_id(call.model, questions.name),
        model=call.model,
        dataset=questions.name,
        split=where.split,
        config=where.config,
        dataset_hash=where.content_hash,
        revision=where.revision,
        rules=call.how.rules,
        metrics=list(call.how.metrics),
        created_at=now(),
        tags=call.tags,
        options=call.options,
        library_version=__version__,
        num_samples=len(questions.ids),
        missing=call.how.missing,
        cluster_by=call.cluster_by,
    )


def _judged(
    call: EvaluationCall, predictions: Any, done: dict[str, int], unjudged: dict[str, list[Any]]
) -> Iterator[list[SampleResult]]:
    """The results of samples that are not done yet; those that lack only verdicts are not asked again."""
    samples, ids = call.questions.samples, call.questions.ids
    parts: list[tuple[Remaining, Generation | None]] = []
    asking = predictions if isinstance(predictions, Generation) else None
    if asking is not None and unjudged:
        unjudged = {name: answers for name, answers in unjudged.items() if len(answers) >= asking.repeats}
        parts.append((answered(samples, ids, unjudged), None))
        done = done | dict.fromkeys(unjudged, asking.repeats)
    parts.append((remaining(samples, ids, predictions, done), asking))
    with bar(total=len(ids), desc=f"Evaluating {call.model}", unit=" samples") as progress:
        for part, generation in parts:
            if call.executor is not None:
                yield from judged_by_workers(call.executor, call.how, part, generation, len(ids), progress.update)
                continue
            for batch in judged(call.how, part, generation and generation.ready(), len(ids)):
                yield batch
                progress.update(len({result.id for result in batch}))
