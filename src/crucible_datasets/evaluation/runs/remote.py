"""Generating and scoring in worker processes. This process stores answers and results as soon as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.forms import Answers
from crucible_datasets.evaluation.predictions.generating import Answered, Generation
from crucible_datasets.evaluation.runs.batches import Remaining, judged, result_of
from crucible_datasets.evaluation.runs.columns import Columns, columns_of, rows_of
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.executors.base import Advance, Executor, Once, Task
from crucible_datasets.executors.failures import opened_error, packed_error
from crucible_datasets.forking import cached_property
from crucible_datasets.internal_api import portable

# Parts per worker: a worker that dies loses one part, and generated answers are expensive.
_PARTS_EACH, _PARTS_OF_CALLS_EACH = 4, 16
_MOST_JUDGED, _MOST_ASKED = 4096, 64

Sent = tuple[Columns, Columns, bytes | None]  # results, generated answers, and the error that ended the part


@dataclass(eq=False)
class Known:
    """Answers from the cache and new ones, by sample id and repetition."""

    answers: Mapping[tuple[str, int], Any]
    new: list[tuple[str, int, Any]] = field(default_factory=list)

    def get(self, sample: Any, epoch: int) -> tuple[bool, Any]:
        key = str(sample.id), epoch
        return key in self.answers, self.answers.get(key)

    def put(self, sample: Any, epoch: int, answer: Any) -> None:
        self.new.append((str(sample.id), epoch, answer))


@dataclass(frozen=True, eq=False)
class Work:
    """How a worker generates and scores."""

    how: Judging
    generation: Generation | None
    total: int

    @cached_property
    def asking(self) -> Generation | None:
        """The generation, shared by all parts in a worker, so that a model is loaded once."""
        return self.generation and self.generation.ready()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "asking"}


@dataclass(frozen=True, eq=False)
class Part:
    """Samples for one worker. They are read when they are sent, or by the worker."""

    work: Once[Work]
    samples: Samples
    answers: Columns | None  # the position of a sample, and one of its answers; None if they must be generated
    known: Columns
    sees_files: bool

    def __getstate__(self) -> dict[str, Any]:
        dataset = portable(self.samples.dataset, self.sees_files)
        return {**vars(self), "samples": Samples(dataset, self.samples.name)}

    def __call__(self, rank: int | None, advance: Advance) -> Sent:
        work, found = self.work.value, list[SampleResult]()
        known = Known({(name, epoch): answer for name, epoch, answer in rows_of(self.known)})
        rest = Remaining(self.samples, None if self.answers is None else _lists(self.answers, len(self.samples)))
        error = None
        try:
            for batch in judged(work.how, rest, work.asking and replace(work.asking, cache=known), work.total):
                found += batch
                advance(len({result.id for result in batch}))
        except Exception as raised:  # noqa: BLE001  (it is raised in the program, once the answers are kept)
            error = packed_error(raised)
        return columns_of(map(_row, found)), columns_of(known.new), error


def judged_by_workers(
    executor: Executor,
    how: Judging,
    rest: Remaining,
    generation: Generation | None,
    total: int,
    advance: Advance,
) -> Iterator[list[SampleResult]]:
    """The results of samples, part by part, in their order."""
    if not len(rest):
        return
    work = Once(Work(how, generation and replace(generation, cache=None), total))
    workers, sees_files = executor.workers(), executor.sees_files()
    size = _part_size(len(rest), workers, generation)
    cache = None if generation is None else generation.cache
    tasks = []
    for rows in (range(at, min(at + size, len(rest))) for at in range(0, len(rest), size)):
        samples = rest.samples.select(rows)
        answers = None if rest.answers is None else _flat(rest.answers[rows.start : rows.stop])
        part = Part(work, samples, answers, columns_of(_known(samples, generation)), sees_files)
        tasks.append(Task(part, rows, "the evaluation", _Arrival(samples, list(how.metrics), cache)))
    yield from executor.run(tasks, workers, advance)


def _part_size(count: int, workers: int, generation: Generation | None) -> int:
    if generation is None:
        return min(-(-count // (workers * _PARTS_EACH)), _MOST_JUDGED)
    # At least as many samples as run concurrently.
    least, most = generation.at_once, max(_MOST_ASKED, generation.at_once * 4)
    return max(min(-(-count // (workers * _PARTS_OF_CALLS_EACH)), most), least)


def _known(samples: Samples, generation: Generation | None) -> Iterator[tuple[str, int, Any]]:
    """The cached answers to the samples of a part."""
    if generation is not None and generation.cache is not None:
        for sample in samples:
            for epoch in range(generation.repeats):
                is_known, answer = generation.cache.get(sample, epoch)
                if is_known:
                    yield str(sample.id), epoch, answer


def _flat(answers: Answers) -> Columns:
    return columns_of((place, one) for place, given in enumerate(answers) for one in given)


def _lists(columns: Columns, count: int) -> Answers:
    lists: Answers = [[] for _ in range(count)]
    for place, one in rows_of(columns):
        lists[place].append(one)
    return lists


def _row(result: SampleResult) -> tuple[Any, ...]:
    """The fields of a result that are not known to the receiver."""
    fields = [(one.value, one.extracted, one.status, one.detail) for one in result.outcomes.values()]
    return result.id, result.epoch, result.prediction, *chain.from_iterable(fields)


@dataclass(frozen=True, eq=False)
class _Arrival:
    """Receives what a worker sends of its part."""

    samples: Samples
    metrics: list[str]
    cache: Answered | None

    def __call__(self, sent: Sent) -> list[SampleResult]:
        results, new, error = sent
        samples = {str(sample.id): sample for sample in self.samples}
        if self.cache is not None:
            for name, epoch, answer in rows_of(new):
                self.cache.put(samples[name], epoch, answer)
        if error is not None:
            raise opened_error(error)
        outcomes = _shared_outcomes(self.metrics)
        return [
            result_of(samples[name], epoch, prediction, outcomes(fields))
            for name, epoch, prediction, *fields in rows_of(results)
        ]


def _shared_outcomes(metrics: list[str]) -> Callable[[list[Any]], dict[str, Outcome]]:
    """A function that creates outcomes from their fields; equal outcomes are one object."""
    made: dict[Any, Outcome] = {}

    def outcome(value: Any, extracted: Any, status: str, detail: Any) -> Outcome:
        if detail is not None:
            return Outcome(value, extracted, status, detail)
        key = type(value), value, extracted, status
        return made.get(key) or made.setdefault(key, Outcome(value, extracted, status))

    return lambda fields: {
        key: outcome(*fields[at : at + 4]) for at, key in zip(range(0, len(fields), 4), metrics, strict=True)
    }
