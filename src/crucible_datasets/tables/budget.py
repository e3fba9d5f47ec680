"""The memory that decoded data may take in this process, whichever tables it belongs to.

The least recently used holders are released first. A holder that is garbage collected no longer counts.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Protocol
from weakref import ReferenceType, ref

from crucible_datasets import config

# Every use of a holder is stamped with the next number.
tick = count(1).__next__


class Holder(Protocol):
    """Something that caches decoded data until told to release it."""

    used: int

    def release(self) -> None:
        """Release the data."""


class Budget:
    """How many bytes each holder keeps, and which must release theirs."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[ReferenceType[Holder], int]] = {}
        self._gone: deque[int] = deque()
        self.after_fork()

    def after_fork(self) -> None:
        """Start with a free lock: another thread of the parent may have held it."""
        self._lock = threading.RLock()

    @property
    def limit(self) -> int:
        return config.DECODED_MEMORY_BUDGET

    @property
    def held(self) -> int:
        """The bytes that are held now."""
        with self._lock:
            self._forget_the_gone()
            return sum(size for _, size in self._held.values())

    def has_room(self, size: int) -> bool:
        """Whether so many bytes fit without releasing others."""
        return self.held + size <= self.limit

    def admit(self, holder: Holder, size: int, keep: Callable[[], None]) -> None:
        """Account for more bytes of the holder `keep`; others, least recently used first, are released to fit."""
        with self._lock:
            self._forget_the_gone()
            key = id(holder)
            before = self._held[key][1] if key in self._held else 0
            self._held[key] = ref(holder, lambda _: self._gone.append(key)), before + size
            keep()
            over = sum(size for _, size in self._held.values()) - self.limit
            for other in sorted(self._held, key=self._last_use):
                if over <= 0 or other == key:
                    continue
                found, freed = self._held.pop(other)
                if (loser := found()) is not None:
                    loser.release()
                over -= freed

    def settle(self, change: Callable[[], None]) -> None:
        """Change what a holder keeps while no holder is being released."""
        with self._lock:
            change()

    def _last_use(self, key: int) -> int:
        holder = self._held[key][0]()
        return 0 if holder is None else holder.used

    def _forget_the_gone(self) -> None:
        # Weak references put themselves into a queue: they may die at any time, even while the lock is held.
        while self._gone:
            key = self._gone.popleft()
            if key in self._held and self._held[key][0]() is None:
                del self._held[key]


BUDGET = Budget()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BUDGET.after_fork)
