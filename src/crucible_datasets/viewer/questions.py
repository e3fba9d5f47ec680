"""Filters, queries and searches of pages, each in a process of its own.

A query may run for ever, take all memory or crash a library. So it is computed by a worker process with a limit on its
memory, which is killed when its time is over, or when nobody waits for the answer any more. The viewer gets the answer
or a `QuestionError`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import wait
from threading import BoundedSemaphore
from time import monotonic
from typing import Any

import numpy as np

from crucible_datasets import config
from crucible_datasets.executors.base import Task
from crucible_datasets.executors.failures import opened_error
from crucible_datasets.executors.pickling import TaskPickler, opened_result
from crucible_datasets.executors.preloaded import server_for
from crucible_datasets.executors.processes import Worker, WorkerPool
from crucible_datasets.viewer.errors import QuestionDroppedError, QuestionError

_AT_ONCE = BoundedSemaphore(2)
_OF_LIBRARIES = 1 << 30  # bytes, beyond the budget of data, for libraries and their blocks in flight
_MOST_WRITTEN = 64 << 30  # bytes of one file of results
_POLL = 0.05

Unwanted = Callable[[], bool]


def rows_where(rows: Any, condition: str, number: str) -> np.ndarray:
    """The values of the column `number` in the rows that meet a condition."""
    return np.asarray(rows.filter(condition).select_columns([number]).with_format("numpy")[:][number])


def answered(name: str, text: str, unwanted: Unwanted, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in a process of its own; `name` and `text` say what was asked."""
    end = monotonic() + config.VIEWER_QUERY_SECONDS
    while not _AT_ONCE.acquire(timeout=_POLL):
        _refuse_late(name, text, unwanted, end)
    try:
        with TaskPickler() as pickler:
            task: Task[Any] = Task(
                partial(_bounded, config.DECODED_MEMORY_BUDGET, function, *arguments), range(0), name
            )
            packed = pickler.packed(0, task)
            with WorkerPool(server_for(pickler.modules), 1, pickler.shared) as pool:
                (worker,) = pool.workers
                worker.send(packed)
                result = _received(worker, name, text, unwanted, end)
                pool.finish()
                return result
    except MemoryError:
        raise QuestionError(name, text, _out_of_memory()) from None
    finally:
        _AT_ONCE.release()


def _received(worker: Worker, name: str, text: str, unwanted: Unwanted, end: float) -> Any:
    while True:
        _refuse_late(name, text, unwanted, end)
        ready = wait([worker.channel, worker.lease], _POLL)
        for kind, content in worker.received() if ready else ():
            if kind == "result":
                return opened_result(name, content)
            if kind == "error":
                raise opened_error(content)
        if worker.lease in ready:
            ended = f"it ended its process (exit code {worker.exit_code()}), as one does that takes too much memory"
            raise QuestionError(name, text, f"{ended} or crashes a library")


def _refuse_late(name: str, text: str, unwanted: Unwanted, end: float) -> None:
    if unwanted():
        raise QuestionDroppedError(name, text)
    if monotonic() > end:
        taken = f"it took longer than {config.VIEWER_QUERY_SECONDS:g} s (CRUCIBLE_VIEWER_QUERY_SECONDS)"
        raise QuestionError(name, text, taken)


def _out_of_memory() -> str:
    return f"it needs more memory than the {config.DECODED_MEMORY_BUDGET:,} bytes of CRUCIBLE_MEMORY_BUDGET"


def _bounded(budget: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """In the worker process: the result of a function, computed within the limits.

    The last two of the arguments are those of every task: its rank, and the function that is told of its progress.
    """
    *own, _, _ = arguments
    with suppress(ImportError, OSError, ValueError):  # limits that this system does not have
        import resource

        used = int(_status("VmData")) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (used + budget + _OF_LIBRARIES,) * 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_WRITTEN, _MOST_WRITTEN))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return function(*own)


def _status(name: str) -> str:
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith(f"{name}:"))
