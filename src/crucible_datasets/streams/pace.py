"""How many rows to ask a user's function for at once.

The first row comes alone, and a slow function stays at one row: nobody waits for rows that were not asked
for yet. A fast one is called for hundreds of rows in a row, so that what is done per batch costs little.
"""

from __future__ import annotations

from dataclasses import field
from time import perf_counter

from crucible_datasets.records import dataclass

_MOST_ROWS = 512
_SECONDS = 0.02


@dataclass
class Pace:
    """Used around the work on each batch: `with pace: work(pace.size)`."""

    size: int = 1
    _started: float = field(default=0.0, init=False)

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, *exception: object) -> None:
        seconds = perf_counter() - self._started
        if seconds < _SECONDS / 2:
            self.size = min(self.size * 2, _MOST_ROWS)
        elif seconds > _SECONDS:
            self.size = max(self.size // 2, 1)
