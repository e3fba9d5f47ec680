"""Stage 2 of 6: files that are downloaded in the background while others are read.

The first file is downloaded alone, while the footers of all files are read, so that the first row comes early; then
those that are wanted, several at a time. Whoever reads a file waits for that one, or downloads it if nobody does. The
program exits when all downloads are done, or when it fails; what has arrived by then is not downloaded again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from crucible_datasets import progress
from crucible_datasets.exceptions import StorageError
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass

logger = get_logger(__name__)

Advance = Callable[[int], None]
_WORKERS = 8
# Seconds from one thread's start to the next one's: eight at once would slow down whoever reads the first rows.
_STAGGER = 0.03
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
    """Files that `download(path, advance)` fetches, each once; `sizes` are their sizes in bytes."""

    def __init__(self, download: Callable[[str, Advance], None], sizes: Mapping[str, int], title: str) -> None:
        self._download, self._sizes, self._title, self._process = download, sizes, title, os.getpid()
        self._first = next(iter(sizes))
        self._untouched = dict.fromkeys(sizes)  # an ordered set: files that nobody downloads yet
        self._queue: dict[str, None] = {}  # those of them that threads will download
        self._here = {path: threading.Event() for path in sizes}
        self._shown: progress.Transfer | None = None
        self._unsettled: set[str] = set()  # files of the progress bar that have not arrived
        self._came_of_first = 0  # bytes, before there was a bar
        self._lock, self._first_came, self._none_left = threading.Lock(), threading.Event(), threading.Event()
        self._first_came.set()

    def file(self, path: str) -> PendingFile:
        """One of the files, to wait for."""
        return PendingFile(self, path)

    def start_first(self) -> None:
        """Download the first file in a thread, before any other."""
        self._first_came.clear()
        if not _start(self._download_first):
            self._first_came.set()

    def start(self, paths: Iterable[str]) -> None:
        """Download these files in threads."""
        with self._lock:
            missing = (path for path in paths if path in self._here and not self._here[path].is_set())
            new = [path for path in missing if path not in self._unsettled]
            queued = [path for path in new if path in self._untouched]
            self._queue.update(dict.fromkeys(queued))
            self._unsettled.update(new)
            self._none_left.clear()
            self._show(new)
        # All threads start now, though they wait for the first file: a program that is exiting cannot start any.
        for number in range(min(_WORKERS, len(queued))):
            _start(partial(self._download_rest, number * _STAGGER))

    def _show(self, paths: Sequence[str]) -> None:
        if not paths:
            return
        size = sum(self._sizes[path] for path in paths)
        if self._shown is not None:
            self._shown.expect(size, len(paths))
            return
        self._shown = progress.Transfer(self._title, size, len(paths))
        if self._first in paths:
            self._shown.update(self._came_of_first)

    def wait(self, path: str) -> None:
        """Return when a file is on this disk: wait for its download, or download it now."""
        if os.getpid() != self._process:  # a fork, in which no thread downloads
            self._download(path, _no_progress)
        elif self._taken(path):
            self._download_now(path)
        elif not self._here[path].is_set():
            self._here[path].wait()
        if not os.path.exists(path):
            self._download(path, _no_progress)  # the download failed; whoever needs the file gets the error

    def _download_now(self, path: str) -> None:
        if path in self._unsettled:
            self._fetch(path, self._advance)
            return
        with progress.Transfer(self._title, self._sizes[path], 1) as shown:
            self._fetch(path, shown.update)

    def _taken(self, path: str) -> bool:
        with self._lock:
            self._queue.pop(path, None)
            is_untouched = path in self._untouched
            self._untouched.pop(path, None)
            return is_untouched

    def _download_first(self) -> None:
        try:
            if self._taken(self._first):
                self._try(self._first)
        finally:
            self._first_came.set()

    def _download_rest(self, delay: float) -> None:
        self._first_came.wait()
        self._none_left.wait(delay)
        while (path := self._next()) is not None:
            self._try(path)

    def _next(self) -> str | None:
        with self._lock:
            path = None if _has_failed() else next(iter(self._queue), None)
            if path is None:
                self._none_left.set()
            else:
                del self._queue[path], self._untouched[path]
            return path

    def _try(self, path: str) -> None:
        try:
            with _at_once:
                self._fetch(path, self._advance_or_stop)
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
            left, self._queue = list(self._queue), {}
        for path in left:
            if self._taken(path):
                self._settle(path)

    def _advance_or_stop(self, number: int) -> None:
        if _has_failed():
            raise _AbandonedError
        self._advance(number)

    def _advance(self, number: int) -> None:
        with self._lock:
            if self._shown is None:
                self._came_of_first += number
            else:
                self._shown.update(number)

    def _fetch(self, path: str, advance: Advance) -> None:
        try:
            self._download(path, advance)
            if self._shown is not None and path in self._unsettled:
                self._shown.file_done()
        finally:
            self._settle(path)

    def _settle(self, path: str) -> None:
        """Whether it arrived or not, nobody needs to wait for it any longer."""
        self._here[path].set()
        with self._lock:
            self._unsettled.discard(path)
            if self._shown is not None and not self._unsettled:
                self._shown.close()
                self._shown = None


@dataclass(frozen=True, eq=False)
class PendingFile:
    """A file that is being downloaded in the background."""

    all: BackgroundDownloads
    path: str

    def wait(self) -> None:
        """Return when it is on this disk."""
        self.all.wait(self.path)


def _start(work: Callable[[], None]) -> bool:
    """Whether a thread could be started; where none can, files are downloaded by whoever reads them."""
    try:
        threading.Thread(target=work, name="crucible-download").start()
    except RuntimeError:  # beyond a limit of the system, or at exit
        return False
    return True


def _has_failed() -> bool:
    """Whether the program has ended with an error, so that nobody needs the rest."""
    return not threading.main_thread().is_alive() and hasattr(sys, "last_value")


def _no_progress(number: int) -> None:
    """Ignore progress."""
