"""Stage 2 of 6: files on their way to this disk.

The first comes alone, so that the first row is early; then several at a time. Whoever needs a file waits for that one.
The program ends when all are here, or when it fails: what came by then is not fetched again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from crucible_datasets import progress
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)

Advance = Callable[[int], None]
_AT_ONCE = threading.BoundedSemaphore(8)
_WORKERS = 8


class Arrivals:
    """Some files that `bring(path, advance)` fetches, each once."""

    def __init__(self, bring: Callable[[str, Advance], None], paths: Sequence[str], size: int, title: str) -> None:
        self._bring, self._left, self._process = bring, list(paths), os.getpid()
        self._here = {path: threading.Event() for path in paths}
        self._bar = progress.tqdm(total=size, unit="B", unit_scale=True, desc=title)
        self._lock, self._working = threading.Lock(), 0

    def file(self, path: str) -> Arrival:
        """One of them."""
        return Arrival(self, path)

    def begin(self) -> None:
        """Fetch them, beside what is going on."""
        if not self._working:
            self._start_worker()

    def wait(self, path: str) -> None:
        """Have a file on this disk: wait for it if it is coming, else fetch it now."""
        if os.getpid() != self._process:  # a copy of the process that fetches: nobody works here
            self._bring(path, _unseen)
        elif self._taken(path):
            self._fetch(path)
        elif not self._here[path].is_set():
            self._here[path].wait()
        if not os.path.exists(path):
            self._bring(path, _unseen)  # it failed before; who needs it gets the error

    def _taken(self, path: str) -> bool:
        with self._lock:
            waits = path in self._left
            if waits:
                self._left.remove(path)
            return waits

    def _start_worker(self) -> None:
        with suppress(RuntimeError):  # the program is ending: who works already goes on alone
            threading.Thread(target=self._work, name="crucible-download").start()
            self._working += 1

    def _work(self) -> None:
        is_first = True
        while (path := self._next()) is not None:
            with _AT_ONCE:
                self._fetch(path, quietly=True)
            if is_first and self._working == 1:
                for _ in range(min(_WORKERS, len(self._left)) - 1):
                    self._start_worker()
            is_first = False

    def _next(self) -> str | None:
        with self._lock:
            return self._left.pop(0) if self._left and not _has_failed() else None

    def _fetch(self, path: str, quietly: bool = False) -> None:
        try:
            self._bring(path, self._bar.update)
        except (DatasetsError, OSError) as error:
            if not quietly:
                raise
            logger.warning("%s did not come, and is fetched again when it is read: %s", path, error)
        finally:
            self._here[path].set()
            if all(event.is_set() for event in self._here.values()):
                self._bar.close()


@dataclass(frozen=True, eq=False)
class Arrival:
    """A file that is on its way, with others."""

    all: Arrivals
    path: str

    def wait(self) -> None:
        """Have it on this disk."""
        self.all.wait(self.path)


def _has_failed() -> bool:
    """Whether the program ended with an error: nobody will want the rest now."""
    return not threading.main_thread().is_alive() and hasattr(sys, "last_value")


def _unseen(number: int) -> None:
    """Progress that nobody looks at."""
