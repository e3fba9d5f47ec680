"""How full the cache is, without a look at every entry.

`.ledger` says when all entries were last looked at and how large they were, then how large each one is
that was added since: a number a line. It need not be right for ever, so it is believed for a while only.
"""

from __future__ import annotations

import os
import time

from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.atomic.owners import unfinished_name

_BELIEVED_SECONDS = 600


class Ledger:
    """What the processes that share a cache have added to it."""

    def __init__(self, root: str) -> None:
        self._path, self._work = os.path.join(root, ".ledger"), os.path.join(root, ".work")

    def begin(self, size: int) -> None:
        """All entries were looked at, and are this large."""
        beside = os.path.join(self._work, unfinished_name("ledger"))  # which the next one removes, if this one dies
        try:
            with open(beside, "w", encoding="ascii") as file:
                file.write(f"{int(time.time())}\n{size}\n")
            os.replace(beside, self._path)
        except BaseException:
            remove_tree(beside)
            raise

    def add(self, size: int) -> int | None:
        """One more entry; how large all of them are now, or None when only a look can tell."""
        try:
            with open(os.open(self._path, os.O_RDWR | os.O_APPEND), "r+b", buffering=0) as file:
                file.write(b"%d\n" % size)
                file.seek(0)
                seen, *sizes = map(int, file.read().split())
        except (OSError, ValueError):
            return None
        is_believed = 0 <= time.time() - seen <= _BELIEVED_SECONDS
        return sum(sizes) if is_believed else None
