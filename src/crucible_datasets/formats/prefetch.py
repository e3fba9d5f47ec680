"""Items that a thread produces while earlier ones are used; at exit, iterations that are not finished end quietly."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Generator, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()
_CHECK_SECONDS = 0.1  # seconds between checks whether the consumer has stopped


# A generator that is still alive when Python clears its modules would fail in its `finally`, or wait for a thread that
# does not run any more.
_OPEN: weakref.WeakSet[Generator[Any]] = weakref.WeakSet()


def closed_at_exit(items: Generator[T]) -> Generator[T]:
    """The generator, which is closed when the program exits, with all that it reads from."""
    _OPEN.add(items)
    return items


@atexit.register
def _close_all() -> None:
    for items in list(_OPEN):
        with suppress(Exception):  # another thread may be reading, and nobody would see an error
            items.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_OPEN.clear)  # they belong to the threads of the process that was forked


def ahead(items: Iterator[T], most: int = 1) -> Generator[T]:
    """The same items in the same order, up to `most` of them produced in advance.

    An error is raised at its position. When the consumer stops, the thread stops as well and closes `items`.
    """
    first = next(items, _END)
    if first is _END:
        return
    yield first  # type: ignore[misc]
    yield from begun(items, most)


def begun(items: Iterator[T], most: int) -> Generator[T]:
    """What `ahead` yields, with a thread that starts now rather than at the first `next`."""
    queue: Queue[Any] = Queue(most)
    stop = threading.Event()
    thread = threading.Thread(target=_make, args=(items, queue, stop), name="crucible-ahead", daemon=True)
    thread.start()
    taken = _taken(queue, stop, thread)
    next(taken)  # a generator that has not started would not stop its thread when it is closed
    return taken


def _taken(queue: Queue[Any], stop: threading.Event, thread: threading.Thread) -> Generator[Any]:
    try:
        yield None
        while (item := queue.get())[0] is not _END:
            yield item[0]
        if item[1] is not None:
            raise item[1]
    finally:
        stop.set()
        with suppress(Empty):
            queue.get_nowait()  # the thread may be waiting for a free slot
        thread.join()


def _make(items: Iterator[Any], queue: Queue[Any], stop: threading.Event) -> None:
    error: BaseException | None = None
    try:
        for item in items:
            if not _put((item, None), queue, stop):
                break
    except BaseException as raised:  # noqa: BLE001  whoever takes the items raises it
        error = raised
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    _put((_END, error), queue, stop)


def _put(item: Any, queue: Queue[Any], stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_CHECK_SECONDS)
        except Full:
            continue
        return True
    return False
