"""The size of the cache, without visiting every entry.

`.ledger` has one number per line: when all entries were last measured, their total size then, and the size of each
entry added since. It may become inaccurate, so it is trusted for a limited time only.
"""

from __future__ import annotations

import os
import time

from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.atomic.owners import unfinished_name

_TRUSTED_SECONDS = 600


class Ledger:
    """The sizes of entries that the processes sharing a cache have added."""

    def __init__(self, root: str) -> None:
        self._path, self._work = os.path.join(root, ".ledger"), os.path.join(root, ".work")

    def begin(self, size: int) -> None:
        """Start over: all entries were measured, and have this total size."""
        temporary = os.path.join(
            self._work, unfinished_name("ledger")
        )  # the next writer removes it if this process dies
        try:
            with open(temporary, "w", encoding="ascii") as file:
                file.write(f"{int(time.time())}\n{size}\n")
            os.replace(temporary, self._path)
        except BaseException:
            remove_tree(temporary)
            raise

    def add(self, size: int) -> int | None:
        """Add an entry; the total size now, or None if all entries must be measured again."""
        try:
            with open(os.open(self._path, os.O_RDWR | os.O_APPEND), "r+b", buffering=0) as file:
                file.write(b"%d\n" % size)
                file.seek(0)
                measured, *sizes = map(int, file.read().split())
        except (OSError, ValueError):
            return None
        is_trusted = 0 <= time.time() - measured <= _TRUSTED_SECONDS
        return sum(sizes) if is_trusted else None
