"""Coroutine functions: many calls run concurrently, with results in the order of the calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from crucible_datasets import config
from crucible_datasets.lazy_imports import LazyModule

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LazyModule("asyncio")  # rarely needed, and importing it takes as long as a small map

T = TypeVar("T")
Outcome = tuple[Any, BaseException | None]
_CANCELLED = RuntimeError("cancelled because another call failed")


class Loop:
    """One event loop for all calls of a shard, so that clients created in it stay usable; created on first use."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._thread: ThreadPoolExecutor | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine."""
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._thread = ThreadPoolExecutor(1) if _is_running() else None
        if self._thread is not None:  # a notebook already runs a loop in this thread
            return self._thread.submit(self._runner.run, work).result()
        return self._runner.run(work)

    def close(self) -> None:
        """End the loop, if there is one."""
        if self._runner is not None:
            if self._thread is not None:
                self._thread.submit(self._runner.close).result()
                self._thread.shutdown()
            else:
                self._runner.close()


def is_cancelled(error: BaseException | None) -> bool:
    """Whether a call was cancelled because another one failed."""
    return error is _CANCELLED


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


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

    for given in arguments:
        await free.acquire()
        if failed.is_set():
            free.release()
            break
        tasks.append(asyncio.create_task(one(given)))
    return await _collected(tasks, failed)


async def _collected(tasks: list[asyncio.Task[Outcome]], failed: asyncio.Event) -> list[Outcome]:
    waiting: asyncio.Future[Any] = asyncio.ensure_future(failed.wait())
    everything: asyncio.Future[Any] = asyncio.ensure_future(asyncio.gather(*tasks, return_exceptions=True))
    await asyncio.wait({waiting, everything}, return_when=asyncio.FIRST_COMPLETED)
    if failed.is_set():
        for task in tasks:
            task.cancel()
    waiting.cancel()
    results = await everything
    return [_outcome(found) for found in results]


def _outcome(found: Outcome | BaseException) -> Outcome:
    if not isinstance(found, BaseException):
        return found
    return None, _CANCELLED if isinstance(found, asyncio.CancelledError) else found
