"""What an executor is, and where executors are found.

An executor is one file with one `EXECUTOR`. It runs tasks that cover ranges of rows, reports progress in rows, and
yields the results in the order of the tasks. Wherever there is an argument `executor`, users give its name or an
executor object of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features.batch_decode import processors
from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry

T = TypeVar("T")
Advance = Callable[[int], None]  # called with the number of rows newly done


@dataclass(frozen=True)
class Task(Generic[T]):
    """A piece of work: `run(rank, advance)` gives its result.

    `rows` are the input rows that it covers; empty if unknown. `name` appears in error messages, preferably that of the
    user's function. `arrived` is called in the program with the task's result once it is done, and what it returns is
    the result that the caller gets.
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
        """The result that the caller gets: after `arrived`, if there is one."""
        return result if self.arrived is None else self.arrived(result)


@dataclass(frozen=True, eq=False)
class Once(Generic[T]):
    """A value that tasks share: it is sent once, and each worker unpickles it once."""

    value: T


class Runner(Protocol):
    """Runs tasks and yields their results in order."""

    def __call__(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]: ...


class Executor(Protocol):
    """One way to run tasks.

    Nothing starts before the first result is requested. An error in a task is raised to the caller, and the other tasks
    are stopped, as they are when the iterator is closed. A worker that dies raises `WorkerDiedError`.
    """

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def shares_disk(self) -> bool:
        """Whether its workers read and write the files of this machine."""

    def sees_files(self) -> bool:
        """Whether its workers find the files of this machine under the same paths."""

    def run(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]: ...
    def workers(self) -> int:
        """How many tasks it runs at once by default."""


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
        return processors()


EXECUTORS: Registry[Executor] = Registry("executor", "crucible_datasets.executors", "EXECUTOR")


def run_all(tasks: Sequence[Task[T]], advance: Advance) -> Iterator[T]:
    """The results of the tasks: a single one runs in this process, several in a process each."""
    executor = EXECUTORS["processes" if len(tasks) > 1 else "serial"]
    return executor.run(tasks, len(tasks), advance)


def executor_of(asked: str | Executor) -> Executor:
    """The executor with this name, or the given executor itself."""
    if isinstance(asked, str):
        return EXECUTORS[asked]
    if not all(hasattr(asked, name) for name in ("run", "shares_disk", "sees_files", "workers")):
        raise ArgumentError("executor", asked, f"expected one of {', '.join(EXECUTORS.names())}, or an executor.")
    return asked
