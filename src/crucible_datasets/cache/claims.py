"""One process makes an entry while the others wait for it, without file locks.

A process claims an entry by creating a folder of its own, in which the entry will be written, and then looks for
claims of others. If there is none, it begins. Otherwise the claim whose name sorts first stays, and the other
processes withdraw theirs and wait. A claim whose owner is dead, or has not touched it for some seconds, does not
count. So a stuck or inconsistent file system costs duplicate work, but never a wrong result or an endless wait: only
complete entries are renamed into place, and the first one stays.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.atomic.owners import is_alive, unfinished_in, unfinished_name

T = TypeVar("T")

BEING_MADE = {".tmp", ".parts"}  # the suffixes of folders in which entries are being made
HEARTBEAT_SECONDS = 1.0
STALE_SECONDS = 10.0


@contextmanager
def found_or_claimed(
    work: str, name: str, find: Callable[[], T | None], suffix: str = ".tmp"
) -> Iterator[tuple[T | None, str]]:
    """Yield what `find` returns and no folder; or None and a new empty folder to fill, while all others wait."""
    mine, skew = _claim(work, name, suffix)
    pause = 0.001
    try:
        while True:
            if mine:
                # A stale claim does not count. Whoever looks from now on sees ours.
                os.utime(mine)
            rivals = [path for path in _rivals(work, name, skew) if path != mine]
            if not rivals:
                found = find()
                if found is not None:
                    yield found, ""
                    return
                if mine:
                    with _heartbeat(mine):
                        yield None, mine
                    return
                mine, skew = _claim(work, name, suffix)
                continue
            if mine and min(rivals) < mine:
                os.rmdir(mine)
                mine = ""
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
    finally:
        if mine:
            remove_tree(mine)


def _claim(work: str, name: str, suffix: str) -> tuple[str, float]:
    """A new folder, and how far the clock of the file system is ahead of this machine's."""
    mine = os.path.join(work, unfinished_name(name, suffix))
    os.mkdir(mine, 0o700)
    return mine, os.stat(mine).st_mtime - time.time()


def _rivals(work: str, name: str, skew: float) -> list[str]:
    """The claims of other processes to the same entry."""
    now, rivals = time.time() + skew, []
    for path, parts in unfinished_in(work, name):
        with suppress(FileNotFoundError):
            silent_for = now - os.stat(path).st_mtime
            silent = abs(silent_for) > STALE_SECONDS
            # Our own claims do not count: an entry that needs itself would wait for itself.
            if parts.suffix in BEING_MADE and not (silent or parts.is_mine or is_alive(parts.owner) is False):
                rivals.append(path)
    return rivals


@contextmanager
def _heartbeat(folder: str) -> Iterator[None]:
    done = threading.Event()

    def beat() -> None:
        while not done.wait(HEARTBEAT_SECONDS):
            with suppress(OSError):
                os.utime(folder)

    thread = threading.Thread(target=beat, name="cache heartbeat", daemon=True)
    # Since Python 3.12 no thread can be started at exit. Without a heartbeat others may do the same work too.
    with suppress(RuntimeError):
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()
