"""Tasks in processes of their own.

Processes are spawned, not forked: a fork of a process with threads can hang for ever.
Tasks travel by cloudpickle, so lambdas and closures work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

import cloudpickle

from crucible_datasets.exceptions import WorkerDiedError

T = TypeVar("T")


def run(tasks: Sequence[Callable[[], T]], num_proc: int) -> Iterator[T]:
    """The results of the tasks, in their order, worked out by `num_proc` processes."""
    with ProcessPoolExecutor(num_proc, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_call, cloudpickle.dumps(task)) for task in tasks]
        try:
            for number, future in enumerate(futures):
                try:
                    yield future.result()
                except BrokenProcessPool as error:
                    raise WorkerDiedError(number, len(tasks)) from error
        finally:
            for future in futures:
                future.cancel()


def _call(pickled: bytes) -> Any:
    return cloudpickle.loads(pickled)()
