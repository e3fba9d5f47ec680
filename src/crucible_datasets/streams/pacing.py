"""How many rows to pass to a user's function before yielding the results.

The first row is processed alone, and a slow function stays at one row, so that nobody waits for rows not requested
yet. A fast one is called for hundreds of rows at a time, so that the overhead per batch is small.
"""

from __future__ import annotations

from dataclasses import field
from time import perf_counter

from crucible_datasets.records import dataclass

_MOST_ROWS = 512
_SECONDS = 0.02


@dataclass
class Pace:
    """A batch size that adapts to the time a batch takes: `with pace: work(pace.size)`."""

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
