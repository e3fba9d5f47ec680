"""Which entries are in use: those that a running process has found or made.

Each process keeps one small file with a line for every entry it has touched. The file counts as long as the process
is alive, or for a day if the process runs on another machine.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from crucible_datasets.atomic.owners import is_abandoned, me, unfinished_in, unfinished_name
from crucible_datasets.atomic.private import make_private

_SUFFIX = ".uses"


class Uses:
    """The entries in use, as the processes that share a cache record them in the folder `work`."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._noted: dict[str, tuple[str, set[str]]] = {}

    def note(self, name: str) -> None:
        """Record that this process uses an entry."""
        path, noted = self._noted.setdefault(
            me(), (os.path.join(self._work, unfinished_name("process", _SUFFIX)), set())
        )
        if name in noted:
            return
        with suppress(OSError):  # a read-only cache: its owners cannot know of us
            make_private(self._work)
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{name}\n")
            noted.add(name)

    def live(self) -> set[str]:
        """The entries in use."""
        names: set[str] = set()
        for path, parts in unfinished_in(self._work, "process"):
            with suppress(FileNotFoundError):
                silent_for = time.time() - os.stat(path).st_mtime
                if parts.suffix == _SUFFIX and not is_abandoned(parts.owner, silent_for):
                    with open(path, encoding="utf-8") as file:
                        names.update(file.read().splitlines())
        return names
