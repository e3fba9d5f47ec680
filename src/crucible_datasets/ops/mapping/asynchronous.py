"""Coroutines: many run concurrently in the event loop of this process, with results in the order of the calls.

The loop never ends, so that a client which was used once stays usable: in the next call, and by a metric after a model.
It runs in a thread of its own, so that it also works inside the loop of a notebook.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from crucible_datasets import config
from crucible_datasets.forking import Lock
from crucible_datasets.lazy_imports import LazyModule

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")  # rarely needed, and importing it takes as long as a small map

T = TypeVar("T")
Outcome = tuple[Any, BaseException | None]
_CANCELLED = RuntimeError("cancelled because another call failed")


class EventLoop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._is_closing = False
        self._thread = threading.Thread(target=self._serve, name="event loop", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._is_closing:
            with suppress(BaseException):  # SystemExit and KeyboardInterrupt of a call stop the loop; the call has them
                self._loop.run_forever()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this loop, and so must not wait for it."""
        return threading.get_ident() == self._thread.ident

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine, which is cancelled if the caller is interrupted."""
        future = self.submit(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel everything that runs, and end the thread."""
        self.run(_cancel_all())
        self._is_closing = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


_lock = Lock()
_of_process: EventLoop | None = None
_of_parents: list[EventLoop] = []  # a fork must not close the loop of its parent, with which it shares files


@contextmanager
def event_loop() -> Iterator[EventLoop]:
    """The loop of this process; in a call that runs in it, another loop, so that the call can wait for it."""
    global _of_process
    with _lock:
        if _of_process is None:
            _of_process = EventLoop()
            atexit.register(_close)
    if not _of_process.is_current:
        yield _of_process
        return
    loop = EventLoop()
    try:
        yield loop
    finally:
        loop.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine."""
    with event_loop() as loop:
        return loop.run(work)


def _close() -> None:
    global _of_process
    if _of_process is not None:
        _of_process.close()
        _of_process = None


def _forget_loop_of_parent() -> None:
    global _of_process
    if _of_process is not None:
        _of_parents.append(_of_process)
        _of_process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loop_of_parent)


def is_cancelled(error: BaseException | None) -> bool:
    """Whether a call was cancelled because another one failed."""
    return error is _CANCELLED


async def in_order(
    function: Callable[..., Coroutine[Any, Any, Any]], arguments: Iterable[tuple[Any, ...]], stop_at_errors: bool
) -> list[Outcome]:
    """The result or error of each call. A limited number run at once; an error that stops the run cancels the rest."""
    free = asyncio.Semaphore(config.MAX_NUM_RUNNING_ASYNC_MAP_FUNCTIONS_IN_PARALLEL)
    failed = asyncio.Event()
    tasks: list[asyncio.Task[Outcome]] = []

    async def one(given: tuple[Any, ...]) -> Outcome:
        try:
            return await function(*given), None
        except (Exception, asyncio.CancelledError) as error:  # it is the function's, and comes out as the outcome
            if failed.is_set() and isinstance(error, asyncio.CancelledError):
                raise  # ours
            if stop_at_errors:
                failed.set()
            return None, error
        finally:
            free.release()

    try:
        for given in arguments:
            await free.acquire()
            if failed.is_set():
                free.release()
                break
            tasks.append(asyncio.create_task(one(given)))
        return await _collected(tasks, failed)
    finally:  # also if the caller is interrupted
        for task in tasks:
            task.cancel()


async def _collected(tasks: list[asyncio.Task[Outcome]], failed: asyncio.Event) -> list[Outcome]:
    waiting: asyncio.Future[Any] = asyncio.ensure_future(failed.wait())
    everything: asyncio.Future[Any] = asyncio.ensure_future(asyncio.gather(*tasks, return_exceptions=True))
    await asyncio.wait({waiting, everything}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if failed.is_set():
        for task in tasks:
            task.cancel()
    results = await everything
    return [_outcome(found) for found in results]


def _outcome(found: Outcome | BaseException) -> Outcome:
    if not isinstance(found, BaseException):
        return found
    return None, _CANCELLED if isinstance(found, asyncio.CancelledError) else found
