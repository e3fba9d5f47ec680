"""Stage 2 of 6: files on their way to this disk.

The first comes alone, while it is found out what is in all of them, so that the first row is early; then several at a
time. Whoever needs a file waits for that one. The program ends when all are here, or when it fails: what came by then
is not fetched again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from crucible_datasets import progress
from crucible_datasets.exceptions import StorageError
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass

logger = get_logger(__name__)

Advance = Callable[[int], None]
_WORKERS = 8
_at_once = threading.BoundedSemaphore(_WORKERS)


def _none_at_work() -> None:
    # In a forked process nobody works: those who held the semaphore are not there to let go of it.
    global _at_once
    _at_once = threading.BoundedSemaphore(_WORKERS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_none_at_work)


class _AbandonedError(Exception):
    """The program has failed while a file was coming; what came of it stays for the next one."""


class Arrivals:
    """Some files that `bring(path, advance)` fetches, each once."""

    def __init__(self, bring: Callable[[str, Advance], None], paths: Sequence[str], size: int, title: str) -> None:
        self._bring, self._process = bring, os.getpid()
        self._left = dict.fromkeys(paths)  # in their order, and each is found at once
        self._here = {path: threading.Event() for path in paths}
        self._unsettled = len(self._here)
        self._shown = progress.Transfer(title, size, len(self._here))
        self._lock, self._first_came = threading.Lock(), threading.Event()

    def file(self, path: str) -> Arrival:
        """One of them."""
        return Arrival(self, path)

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Fetch the first file during the block and all others after it, beside what is going on; none if it fails."""
        _start(self._bring_first)
        try:
            yield
        except BaseException:
            self._leave_the_rest()
            raise
        # All at once, though they wait for the first file: a program that is ending may start no more of them.
        for _ in range(min(_WORKERS, len(self._here) - 1)):
            _start(self._bring_rest)

    def wait(self, path: str) -> None:
        """Have a file on this disk: wait for it if it is coming, else fetch it now."""
        if os.getpid() != self._process:  # a copy of the process that fetches: nobody works here
            self._bring(path, _unseen)
        elif self._taken(path):
            self._fetch(path, self._shown.update)
        elif not self._here[path].is_set():
            self._here[path].wait()
        if not os.path.exists(path):
            self._bring(path, _unseen)  # it failed before; who needs it gets the error

    def _taken(self, path: str) -> bool:
        with self._lock:
            waits = path in self._left
            self._left.pop(path, None)
            return waits

    def _bring_first(self) -> None:
        try:
            if (path := self._next()) is not None:
                self._try(path)
        finally:
            self._first_came.set()

    def _bring_rest(self) -> None:
        self._first_came.wait()
        while (path := self._next()) is not None:
            self._try(path)

    def _next(self) -> str | None:
        with self._lock:
            path = None if _has_failed() else next(iter(self._left), None)
            if path is not None:
                del self._left[path]
            return path

    def _try(self, path: str) -> None:
        try:
            with _at_once:
                self._fetch(path, self._advance)
        except _AbandonedError:
            pass
        except StorageError as error:
            logger.warning("The files that are still missing are fetched when they are read: %s", error)
            self._leave_the_rest()
        except Exception as error:  # noqa: BLE001 - whatever it was, who needs the file meets it again
            logger.warning("%s did not come, and is fetched again when it is read: %s", path, error)

    def _leave_the_rest(self) -> None:
        """A full disk stays full: who needs one of the others meets the error, and nobody reads it twenty times."""
        with self._lock:
            left, self._left = list(self._left), {}
            self._unsettled -= len(left)
            is_last = not self._unsettled
        for path in left:
            self._here[path].set()
        if is_last:
            self._shown.close()

    def _advance(self, number: int) -> None:
        if _has_failed():
            raise _AbandonedError
        self._shown.update(number)

    def _fetch(self, path: str, advance: Advance) -> None:
        try:
            self._bring(path, advance)
            self._shown.file_came()
        finally:
            self._here[path].set()
            with self._lock:
                self._unsettled -= 1
                is_last = not self._unsettled
            if is_last:
                self._shown.close()


@dataclass(frozen=True, eq=False)
class Arrival:
    """A file that is on its way, with others."""

    all: Arrivals
    path: str

    def wait(self) -> None:
        """Have it on this disk."""
        self.all.wait(self.path)


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="crucible-download").start()


def _has_failed() -> bool:
    """Whether the program ended with an error: nobody will want the rest now."""
    return not threading.main_thread().is_alive() and hasattr(sys, "last_value")


def _unseen(number: int) -> None:
    """Progress that nobody looks at."""
