"""Stage 2 of 6: files that are downloaded in the background while others are read.

The first file is downloaded alone, while the footers of all files are read, so that the first row comes early; then
several at a time. Whoever reads a file waits for that one. The program exits when all downloads are done, or when it
fails; what has arrived by then is not downloaded again.
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


def _forget_holders() -> None:
    # The threads that held the semaphore do not exist in a forked process, and could never release it.
    global _at_once
    _at_once = threading.BoundedSemaphore(_WORKERS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_holders)


class _AbandonedError(Exception):
    """The program has failed during a download; what has arrived is kept for the next run."""


class BackgroundDownloads:
    """Files that `download(path, advance)` fetches, each once."""

    def __init__(self, download: Callable[[str, Advance], None], paths: Sequence[str], size: int, title: str) -> None:
        self._download, self._process = download, os.getpid()
        self._left = dict.fromkeys(paths)  # an ordered set
        self._here = {path: threading.Event() for path in paths}
        self._unsettled = len(self._here)
        self._shown = progress.Transfer(title, size, len(self._here))
        self._lock, self._first_came = threading.Lock(), threading.Event()

    def file(self, path: str) -> PendingFile:
        """One of the files, to wait for."""
        return PendingFile(self, path)

    @contextmanager
    def started(self) -> Iterator[None]:
        """Download the first file during the block and all others after it, in threads; none if the block fails."""
        _start(self._download_first)
        try:
            yield
        except BaseException:
            self._abandon_the_rest()
            raise
        # All threads start now, though they wait for the first file: a program that is exiting cannot start any.
        for _ in range(min(_WORKERS, len(self._here) - 1)):
            _start(self._download_rest)

    def wait(self, path: str) -> None:
        """Return when a file is on this disk: wait for its download, or download it now."""
        if os.getpid() != self._process:  # a fork, in which no thread downloads
            self._download(path, _no_progress)
        elif self._taken(path):
            self._fetch(path, self._shown.update)
        elif not self._here[path].is_set():
            self._here[path].wait()
        if not os.path.exists(path):
            self._download(path, _no_progress)  # the download failed; whoever needs the file gets the error

    def _taken(self, path: str) -> bool:
        with self._lock:
            waits = path in self._left
            self._left.pop(path, None)
            return waits

    def _download_first(self) -> None:
        try:
            if (path := self._next()) is not None:
                self._try(path)
        finally:
            self._first_came.set()

    def _download_rest(self) -> None:
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
            self._abandon_the_rest()
        except Exception as error:  # noqa: BLE001 - whatever it was, who needs the file meets it again
            logger.warning("%s did not come, and is fetched again when it is read: %s", path, error)

    def _abandon_the_rest(self) -> None:
        """Stop after an error that would recur for every file, such as a full disk, and log it only once."""
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
            self._download(path, advance)
            self._shown.file_done()
        finally:
            self._here[path].set()
            with self._lock:
                self._unsettled -= 1
                is_last = not self._unsettled
            if is_last:
                self._shown.close()


@dataclass(frozen=True, eq=False)
class PendingFile:
    """A file that is being downloaded in the background."""

    all: BackgroundDownloads
    path: str

    def wait(self) -> None:
        """Return when it is on this disk."""
        self.all.wait(self.path)


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="crucible-download").start()


def _has_failed() -> bool:
    """Whether the program has ended with an error, so that nobody needs the rest."""
    return not threading.main_thread().is_alive() and hasattr(sys, "last_value")


def _no_progress(number: int) -> None:
    """Ignore progress."""
