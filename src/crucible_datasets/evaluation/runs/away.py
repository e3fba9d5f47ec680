"""Samples that workers ask for and judge, part by part. Answers and results are kept here, as soon as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from crucible_datasets.evaluation.predictions.cache import key_of
from crucible_datasets.evaluation.predictions.generating import Answered, Generation
from crucible_datasets.evaluation.runs.batches import Given, judged
from crucible_datasets.evaluation.runs.judging import Judging
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.executors.base import Advance, Executor, Once, Task
from crucible_datasets.executors.failures import opened_error, packed_error

# Parts for each worker: one that dies loses one of them. Of answers that are asked for, each may cost a lot.
_PARTS_EACH, _PARTS_OF_CALLS_EACH = 4, 16
_MOST_JUDGED, _MOST_ASKED = 4096, 64

New = list[tuple[str, int, Any]]  # answers that were asked for: the id of the sample, the how-manieth time, and which
Sent = tuple[list[SampleResult], New, bytes | None]  # results, answers, and the error that ended the part


@dataclass(eq=False)
class Known:
    """What was answered before, and what is answered on the way."""

    answers: dict[str, Any] = field(default_factory=dict)
    new: New = field(default_factory=list)

    def get(self, sample: Any, epoch: int) -> tuple[bool, Any]:
        key = key_of(sample, epoch) if self.answers else ""
        return key in self.answers, self.answers.get(key)

    def put(self, sample: Any, epoch: int, answer: Any) -> None:
        self.new.append((str(sample.id), epoch, answer))


@dataclass(frozen=True, eq=False)
class Work:
    """What is done with every sample."""

    how: Judging
    generation: Generation | None
    total: int

    @cached_property
    def asking(self) -> Generation | None:
        """The same for all parts that a worker does, so that what takes long to load is loaded once."""
        return self.generation and self.generation.ready()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "asking"}


@dataclass(frozen=True, eq=False)
class Part:
    """Samples that one worker asks for and judges."""

    work: Once[Work]
    given: list[Given]
    known: Known

    def __call__(self, rank: int | None, advance: Advance) -> Sent:
        work, known, found = self.work.value, replace(self.known, new=[]), list[SampleResult]()
        asking = work.asking and replace(work.asking, cache=known)
        try:
            for batch in judged(work.how, self.given, asking, work.total):
                found += batch
                advance(len({result.id for result in batch}))
        except Exception as error:  # noqa: BLE001  (it is raised in the program, once the answers are kept)
            return found, known.new, packed_error(error)
        return found, known.new, None


def judged_away(
    executor: Executor,
    how: Judging,
    given: Iterable[Given],
    generation: Generation | None,
    total: int,
    advance: Advance,
) -> Iterator[list[SampleResult]]:
    """The results of samples, part by part, in their order."""
    everything, cache = list(given), None if generation is None else generation.cache
    if not everything:
        return
    work = Once(Work(how, generation and replace(generation, cache=None), total))
    workers = executor.workers()
    size = _part_size(len(everything), workers, generation)
    tasks = [
        _task(Part(work, part, _known(part, generation)), range(at, at + len(part)), cache)
        for at in range(0, len(everything), size)
        if (part := everything[at : at + size])
    ]
    yield from executor.run(tasks, workers, advance)


def _part_size(count: int, workers: int, generation: Generation | None) -> int:
    if generation is None:
        return min(-(-count // (workers * _PARTS_EACH)), _MOST_JUDGED)
    # What runs at once should not wait for the last of a few.
    least, most = generation.at_once, max(_MOST_ASKED, generation.at_once * 4)
    return max(min(-(-count // (workers * _PARTS_OF_CALLS_EACH)), most), least)


def _known(part: list[Given], generation: Generation | None) -> Known:
    if generation is None or generation.cache is None:
        return Known()
    asked = [(sample, epoch) for sample, _ in part for epoch in range(generation.repeats)]
    found = [(one, *generation.cache.get(*one)) for one in asked]
    return Known({key_of(*one): answer for one, is_known, answer in found if is_known})


def _task(part: Part, rows: range, cache: Answered | None) -> Task[Sent]:
    samples = {str(sample.id): sample for sample, _ in part.given}

    def arrived(sent: Sent) -> list[SampleResult]:
        results, new, error = sent
        if cache is not None:
            for name, epoch, answer in new:
                cache.put(samples[name], epoch, answer)
        if error is not None:
            raise opened_error(error)
        return results

    return Task(part, rows, "the evaluation", arrived)
