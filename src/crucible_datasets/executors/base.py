"""What an executor is, and where executors are found.

An executor is one file with one `EXECUTOR`. It runs tasks that cover runs of rows, tells how many rows
are done while they run, and gives their results in the order of the tasks. Users name one, or give an
object that they made, wherever there is an argument `executor`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry

T = TypeVar("T")
Advance = Callable[[int], None]  # so many more rows are done


@dataclass(frozen=True)
class Task(Generic[T]):
    """A piece of work: `run(rank, advance)` gives its result.

    `rows` are those of the input that it covers; empty where they are not known. Errors call it by
    its `name`, best that of the user's function. `arrived` is called in the program once the task is done, at the
    latest when its turn comes; what it makes of the task's result is the result.
    """

    run: Callable[[int | None, Advance], T]
    rows: range
    name: str = ""
    arrived: Callable[[T], Any] | None = None

    @property
    def title(self) -> str:
        """Its name, or that of the function it runs."""
        function: Any = self.run
        while isinstance(function, partial):
            function = function.func
        return self.name or getattr(function, "__qualname__", type(function).__name__)

    def taken(self, result: Any) -> Any:
        """The result, once the program has taken it in."""
        return result if self.arrived is None else self.arrived(result)


@dataclass(frozen=True, eq=False)
class Once(Generic[T]):
    """A value that tasks share: it goes to other machines once, and each worker opens it once."""

    value: T


class Runner(Protocol):
    """Runs tasks; the results come in the order of the tasks."""

    def __call__(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]: ...


class Executor(Protocol):
    """One way to run tasks.

    Nothing starts before the first result is asked for. What a task raises is raised here, and then, as when
    the iterator is closed, the other tasks are stopped. A worker that dies is a `WorkerDiedError`.
    """

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def shares_disk(self) -> bool:
        """Whether its workers read and write the files of this machine."""

    def sees_files(self) -> bool:
        """Whether its workers find the files of this machine under their names."""

    def run(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]: ...
    def workers(self) -> int:
        """How many tasks it can run at once, when the caller leaves that to it."""


@dataclass(frozen=True)
class LocalExecutor:
    """An executor of this machine: `run(tasks, workers, advance)`."""

    name: str
    run: Runner
    aliases: tuple[str, ...] = ()
    shares_disk = True

    def sees_files(self) -> bool:
        return True

    def workers(self) -> int:
        return os.process_cpu_count() if hasattr(os, "process_cpu_count") else len(os.sched_getaffinity(0))


EXECUTORS: Registry[Executor] = Registry("executor", "crucible_datasets.executors", "EXECUTOR")


def run_all(tasks: Sequence[Task[T]], advance: Advance) -> Iterator[T]:
    """The results of the tasks: of a single one worked out here, of several in a process for each."""
    executor = EXECUTORS["processes" if len(tasks) > 1 else "serial"]
    return executor.run(tasks, len(tasks), advance)


def executor_of(asked: str | Executor) -> Executor:
    """The executor of a name, or the one that was given."""
    if isinstance(asked, str):
        return EXECUTORS[asked]
    if not all(hasattr(asked, name) for name in ("run", "shares_disk", "sees_files", "workers")):
        raise ArgumentError("executor", asked, f"expected one of {', '.join(EXECUTORS.names())}, or an executor.")
    return asked
