"""One process makes an entry while the others wait for it, without any lock.

Who wants to make an entry announces it with a folder of its own, which is also where the entry
will be written, and looks who else has announced the same. Alone, it begins. Otherwise the one
whose name sorts first waits for the rest to go, and the rest withdraw and wait. A folder whose owner
is dead, or gives no sign of life for some seconds, does not count: a stuck or lying file system
costs double work, never a wrong result and never a wait without end, because only whole
entries are renamed into place and the first one stays.
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

MADE_NOW = {".tmp", ".parts"}  # the suffixes of folders in which entries are being made
SECONDS_BETWEEN_SIGNS = 1.0
SECONDS_OF_SILENCE = 10.0


@contextmanager
def found_or_turn(
    work: str, name: str, find: Callable[[], T | None], suffix: str = ".tmp"
) -> Iterator[tuple[T | None, str]]:
    """Yield what `find` gives and no folder; or None and a new empty folder, while all others wait."""
    mine, skew = _announced(work, name, suffix)
    pause = 0.001
    try:
        while True:
            if mine:
                # A folder that has been silent for long does not count. Whoever looks after this moment sees it.
                os.utime(mine)
            rivals = [path for path in _rivals(work, name, skew) if path != mine]
            if not rivals:
                found = find()
                if found is not None:
                    yield found, ""
                    return
                if mine:
                    with _signs_of_life(mine):
                        yield None, mine
                    return
                mine, skew = _announced(work, name, suffix)
                continue
            if mine and min(rivals) < mine:
                os.rmdir(mine)
                mine = ""
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
    finally:
        if mine:
            remove_tree(mine)


def _announced(work: str, name: str, suffix: str) -> tuple[str, float]:
    """A new folder, and how far the clock of the file system is ahead of ours."""
    mine = os.path.join(work, unfinished_name(name, suffix))
    os.mkdir(mine)
    return mine, os.stat(mine).st_mtime - time.time()


def _rivals(work: str, name: str, skew: float) -> list[str]:
    """The folders in which others are making the same entry now."""
    now, rivals = time.time() + skew, []
    for path, parts in unfinished_in(work, name):
        with suppress(FileNotFoundError):
            silent_for = now - os.stat(path).st_mtime
            silent = abs(silent_for) > SECONDS_OF_SILENCE
            # An entry that needs itself would wait for itself.
            if parts.suffix in MADE_NOW and not (silent or parts.is_mine or is_alive(parts.owner) is False):
                rivals.append(path)
    return rivals


@contextmanager
def _signs_of_life(folder: str) -> Iterator[None]:
    done = threading.Event()

    def give_signs() -> None:
        while not done.wait(SECONDS_BETWEEN_SIGNS):
            with suppress(OSError):
                os.utime(folder)

    thread = threading.Thread(target=give_signs, name="signs of life", daemon=True)
    # Since Python 3.12 a program that is ending starts no threads. Without signs, others may do the same work too.
    with suppress(RuntimeError):
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.ident is not None:
            thread.join()
