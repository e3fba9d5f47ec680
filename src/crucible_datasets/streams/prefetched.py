"""Prefetching: a thread reads the next batches while the current one is used.

Each batch comes with its position, so reading ahead does not affect the state of a reader. The first batch is read
without a thread, which is enough for a short look at a stream. An error is raised after the batches before it. The
thread ends when the reader stops. A reader that continues in a forked process, which has no such thread, reads again
from its position.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Iterator
from operator import attrgetter
from typing import TypeVar, cast

from crucible_datasets import config
from crucible_datasets.formats.prefetch import begun
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage, Step
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.source import Source

Item = tuple[Position, Batch]
T = TypeVar("T")
_MOST_HELPERS = min(4, max(1, (os.cpu_count() or 1) - 1))


@dataclass(frozen=True)
class Prefetched(Step):
    """The batches of the stage below, with the same positions, some of them read in advance."""

    def batches(self, at: Position = None) -> Iterator[Item]:
        items, process = self.source.batches(at), os.getpid()
        item = next(items, None)
        ahead: _Ahead | None = None
        try:
            while item is not None:
                yield item
                if os.getpid() != process:
                    yield from self._behind(*item)
                    return
                ahead = ahead or _begun(items)
                item = ahead.next() if ahead is not None else next(items, None)
        finally:
            if ahead is not None:
                ahead.stop()

    def _behind(self, position: Position, given: Batch) -> Iterator[Item]:
        """What comes after a batch, read again in a forked process, which has neither the thread nor its files."""
        left = len(given)
        for place, batch in self.batches(position):
            if left and left < len(batch):  # batch boundaries may differ
                yield cast(Source, self.source).inside(place, left), batch.slice(left)
            elif not left:
                yield place, batch
            left = max(left - len(batch), 0)

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        return self.source.forward(at, num_rows)


def with_prefetch(stage: Stage) -> Stage:
    """The stage with its files prefetched, unless the settings disable it."""
    if config.STREAMING_PREFETCH_BATCHES < 1:
        return stage
    if isinstance(stage, Source):
        return Prefetched(stage) if stage.shards and all(map(attrgetter("reads_files"), stage.shards)) else stage
    below = stage.below()
    return stage.over([with_prefetch(one) for one in below]) if below else stage


class _Budget:
    """How many bytes all prefetching threads of this process hold."""

    def __init__(self) -> None:
        self._lock, self._bytes = threading.Lock(), 0

    def add(self, size: int) -> None:
        with self._lock:
            self._bytes += size

    @property
    def is_used_up(self) -> bool:
        return self._bytes >= config.STREAMING_PREFETCH_BYTES


_BUDGET = _Budget()
_HELPERS = threading.BoundedSemaphore(_MOST_HELPERS)


def _forget_after_fork() -> None:
    global _BUDGET, _HELPERS
    _BUDGET, _HELPERS = _Budget(), threading.BoundedSemaphore(_MOST_HELPERS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def in_parallel(items: Generator[T]) -> Generator[T] | None:
    """The same items, made by another thread from now on, if this is a prefetching thread and few others have a helper.

    Other threads get None: what they read may continue in a forked process, where no thread would make the items.
    """
    helpers = _HELPERS
    may_help = isinstance(threading.current_thread(), _PrefetchThread) and not _BUDGET.is_used_up
    if not may_help or not helpers.acquire(blocking=False):
        return None

    def released() -> Generator[T]:
        try:
            yield from items
        finally:
            helpers.release()

    try:
        return begun(released(), 2 * config.STREAMING_PREFETCH_BATCHES)
    except RuntimeError:  # no thread can be started
        helpers.release()
        return None


class _PrefetchThread(threading.Thread):
    """A thread that reads batches in advance."""


class _Ahead:
    """Items that a thread reads in advance: up to `most`, but one while all threads together hold too many bytes."""

    def __init__(self, items: Iterator[Item], most: int) -> None:
        self._items, self._most, self._budget, self._process = items, most, _BUDGET, os.getpid()
        self._ready: deque[tuple[Item, int]] = deque()
        self._changed = threading.Condition()
        self._is_stopped = self._is_done = False
        self._error: BaseException | None = None
        self._thread = _PrefetchThread(target=self._read, name="crucible-prefetch", daemon=True)
        self._thread.start()

    def next(self) -> Item | None:
        """The next item; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._is_done)
            if not self._ready:
                if self._error is not None:
                    raise self._error
                return None
            item, size = self._ready.popleft()
            self._budget.add(-size)
            self._changed.notify_all()
            return item

    def stop(self) -> None:
        """Stop the thread, which does not exist in a forked process."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        self._thread.join()
        self._budget.add(-sum(size for _, size in self._ready))
        self._ready.clear()

    def _read(self) -> None:
        try:
            for item in self._items:
                if not self._put(item):
                    break
        except BaseException as error:  # noqa: BLE001  whoever takes the items raises it
            self._error = error
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._is_done = True
                self._changed.notify_all()

    def _put(self, item: Item) -> bool:
        size = item[1].nbytes
        with self._changed:
            self._ready.append((item, size))
            self._budget.add(size)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_stopped or self._has_room())
            return not self._is_stopped

    def _has_room(self) -> bool:
        """Whether another item may be read. Memory freed by other threads is noticed at the next request."""
        return len(self._ready) < self._most and not (self._ready and self._budget.is_used_up)


def _begun(items: Iterator[Item]) -> _Ahead | None:
    """A thread that reads the items in advance; None where no thread can be started: at exit, or beyond a limit."""
    try:
        return _Ahead(items, config.STREAMING_PREFETCH_BATCHES)
    except RuntimeError:
        return None
