"""What an executor is, and where executors are found.

An executor is one file with one `EXECUTOR`. It runs tasks that cover runs of rows, tells how many rows
are done while they run, and gives their results in the order of the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from crucible_datasets.registry import Registry

T = TypeVar("T")
Advance = Callable[[int], None]  # so many more rows are done


@dataclass(frozen=True)
class Task(Generic[T]):
    """A piece of work: `run(rank, advance)` gives its result.

    `rows` are those of the input that it covers; empty where they are not known. Errors call it by
    its `name`, best that of the user's function.
    """

    run: Callable[[int | None, Advance], T]
    rows: range
    name: str = ""

    @property
    def title(self) -> str:
        """Its name, or that of the function it runs."""
        function: Any = self.run
        while isinstance(function, partial):
            function = function.func
        return self.name or getattr(function, "__qualname__", type(function).__name__)


class Runner(Protocol):
    """Runs tasks; the results come in the order of the tasks."""

    def __call__(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Executor:
    """One way to run tasks: `run(tasks, workers, advance)`.

    Nothing starts before the first result is asked for. What a task raises is raised here, and then, as when
    the iterator is closed, the other tasks are stopped. A worker that dies is a `WorkerDiedError`.
    """

    name: str
    run: Runner
    aliases: tuple[str, ...] = ()


EXECUTORS: Registry[Executor] = Registry("executor", "crucible_datasets.executors", "EXECUTOR")


def run_all(tasks: Sequence[Task[T]], advance: Advance) -> Iterator[T]:
    """The results of the tasks: of a single one worked out here, of several in a process for each."""
    executor = EXECUTORS["processes" if len(tasks) > 1 else "serial"]
    return executor.run(tasks, len(tasks), advance)
