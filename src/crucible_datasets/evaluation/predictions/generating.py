"""Answers that a function gives, sample by sample, a bounded number at a time."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from crucible_datasets.evaluation.predictions.forms import answers_in, require_answers
from crucible_datasets.evaluation.predictions.responses import as_mapping
from crucible_datasets.exceptions import ArgumentError, PredictionsError
from crucible_datasets.executors.stateful import is_async, ready

_AT_ONCE = 16  # of async functions
_AHEAD = 4  # questions that wait per worker
Submit = Callable[[Any, int], "Future[Any]"]


@dataclass(frozen=True)
class Failure:
    """Stands for an answer where the function failed."""

    status: str
    reason: str


class Answered(Protocol):
    """Answers that are known, by what was asked."""

    def get(self, sample: Any, epoch: int) -> tuple[bool, Any]: ...
    def put(self, sample: Any, epoch: int, answer: Any) -> None: ...


@dataclass(frozen=True)
class Generation:
    """How a function is asked."""

    function: Callable[..., Any]
    concurrency: int | None = None
    repeats: int = 1
    timeout: float | None = None
    tolerant: bool = False  # failures become answers instead of ending the run
    cache: Answered | None = None

    def ready(self) -> Generation:
        """The same with an object in the place of a class whose objects are asked."""
        return replace(self, function=ready(self.function))

    def answers(self, samples: Iterable[Any]) -> Generator[tuple[Any, list[Any]]]:
        """Every sample with what the function answered each time, in order."""
        self._check()
        waiting: deque[tuple[Any, list[Future[Any]]]] = deque()
        with (_on_a_loop if is_async(self.function) else _in_threads)(self) as submit:
            try:
                for sample in samples:
                    waiting.append((sample, [self._asked(submit, sample, epoch) for epoch in range(self.repeats)]))
                    while len(waiting) >= self._ahead:
                        yield self._settled(*waiting.popleft())
                while waiting:
                    yield self._settled(*waiting.popleft())
            except KeyboardInterrupt:
                yield from [self._settled(*one) for one in waiting if all(map(_is_answered, one[1]))]
                raise
            finally:
                for _, futures in waiting:
                    for future in futures:
                        future.cancel()

    @property
    def at_once(self) -> int:
        """How many calls run at a time: what was asked for; else one, since few models may be called from threads."""
        return self.concurrency or (_AT_ONCE if is_async(self.function) else 1)

    @property
    def _ahead(self) -> int:
        """How many questions wait, so that a slow answer holds up no other; what runs alone is not asked ahead."""
        return 1 if self.at_once == 1 else self.at_once * _AHEAD

    def _check(self) -> None:
        for name in ("concurrency", "repeats"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ArgumentError(name, value, "must be 1 or more.")
        if self.timeout is not None and not is_async(self.function):
            raise ArgumentError("timeout", self.timeout, "only async functions can be stopped; let yours do it itself.")

    def _asked(self, submit: Submit, sample: Any, epoch: int) -> Future[Any]:
        if self.cache is not None:
            known, answer = self.cache.get(sample, epoch)
            if known:
                done: Future[Any] = Future()
                done.set_result(answer)
                return done
        return submit(sample, epoch)

    def _settled(self, sample: Any, futures: list[Future[Any]]) -> tuple[Any, list[Any]]:
        return sample, [self._result(sample, future) for future in futures]

    def _result(self, sample: Any, future: Future[Any]) -> Any:
        try:
            return future.result()
        except Exception as error:
            if not self.tolerant:
                self._explain(error, sample)
                raise
            return Failure(
                "timeout" if isinstance(error, TimeoutError) else "error",
                f"{type(error).__name__}: {error}".rstrip(": "),
            )

    def _explain(self, error: Exception, sample: Any) -> None:
        """Say in an error of the function which sample it was asked for; asyncio says nothing at all of a timeout."""
        if isinstance(error, TimeoutError) and not error.args and self.timeout is not None:
            error.args = (f"No answer to sample {sample.id!r} within timeout={self.timeout} seconds.",)
        kept = "" if self.cache is None else " A rerun asks only for what was not answered yet."
        error.add_note(f"The model was asked for sample {sample.id!r}.{kept}")

    def kept(self, sample: Any, epoch: int, answer: Any) -> Any:
        """An answer, after it was put into the cache; what is none is refused before."""
        answer = as_mapping(answer)
        require_answers(answers_in(answer))
        if self.cache is not None and answer is not None:
            self.cache.put(sample, epoch, answer)
        return answer


def _is_answered(asked: Future[Any]) -> bool:
    return asked.done() and not asked.cancelled() and asked.exception() is None


@contextmanager
def _in_threads(how: Generation) -> Iterator[Submit]:
    def ask(sample: Any, epoch: int) -> Any:
        try:
            answer = how.function(sample)
        except StopIteration as error:  # the answers come from a generator, which would be said to have failed
            raise RuntimeError("The model raised StopIteration.") from error
        if inspect.iscoroutine(answer):
            answer.close()
            raise PredictionsError("The function gives a coroutine, not an answer: define it by `async def`.")
        return how.kept(sample, epoch, answer)

    if how.at_once == 1:
        yield lambda sample, epoch: _called(ask, sample, epoch)
        return
    pool = ThreadPoolExecutor(how.at_once, thread_name_prefix="predictions")
    try:
        yield lambda sample, epoch: pool.submit(ask, sample, epoch)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _called(ask: Callable[[Any, int], Any], sample: Any, epoch: int) -> Future[Any]:
    """A call right here: what runs one by one stays in the thread of the user."""
    done: Future[Any] = Future()
    try:
        done.set_result(ask(sample, epoch))
    except Exception as error:  # noqa: BLE001  it is raised where the answer is asked for
        done.set_exception(error)
    return done


@contextmanager
def _on_a_loop(how: Generation) -> Iterator[Submit]:
    """A loop in a thread of its own, so that it works inside a notebook's loop too."""
    loop = asyncio.new_event_loop()
    turns = asyncio.Semaphore(how.at_once)

    async def ask(sample: Any, epoch: int) -> Any:
        async with turns:
            return how.kept(sample, epoch, await asyncio.wait_for(how.function(sample), how.timeout))

    thread = threading.Thread(target=loop.run_forever, name="predictions", daemon=True)
    thread.start()
    try:
        yield lambda sample, epoch: asyncio.run_coroutine_threadsafe(ask(sample, epoch), loop)
    finally:
        asyncio.run_coroutine_threadsafe(_stopped(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stopped() -> None:
    """End whatever still runs, and see it end."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
