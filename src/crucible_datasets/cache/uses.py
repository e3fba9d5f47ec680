"""Which entries are in use: those that a process found or made which still lives.

Each process keeps one small file with a line for every entry it has touched. It counts as long
as the process lives, or for a day when the process belongs to another machine.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from crucible_datasets.atomic.owners import is_abandoned, me, unfinished_in, unfinished_name

_SUFFIX = ".uses"


class Uses:
    """The uses of a cache, as its processes note them in the folder `work`."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._noted: dict[str, tuple[str, set[str]]] = {}

    def note(self, name: str) -> None:
        """This process uses an entry from now on."""
        path, noted = self._noted.setdefault(
            me(), (os.path.join(self._work, unfinished_name("process", _SUFFIX)), set())
        )
        if name in noted:
            return
        with suppress(OSError):  # a cache that only others may write to; they cannot know of us
            os.makedirs(self._work, exist_ok=True)
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
