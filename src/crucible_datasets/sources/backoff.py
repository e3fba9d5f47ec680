"""How long one goes on trying: with growing pauses, or those that a server asks for, as long as patience lasts."""

from __future__ import annotations

import random
import time

PASSING = {408, 429, 500, 502, 503, 504}  # answers after which another trial may succeed
PATIENCE = 120.0  # seconds
_WHEN_SEEN_BEFORE, _WHEN_NEVER_SEEN = 15.0, 4.0
_FIRST_PAUSE = 0.05  # a line that is cut every few kilobytes still delivers
_LONGEST_PAUSE = 30.0
_seen: set[str] = set()  # hosts that have answered to this process


class PassingError(Exception):
    """An accident after which another trial may succeed, in `wait` seconds at the earliest.

    What was asked for `may_be_done` all the same, where only the answer was lost.
    """

    def __init__(self, what: str, wait: float = 0.0, may_be_done: bool = False) -> None:
        super().__init__(what)
        self.wait, self.may_be_done = wait, may_be_done

    @property
    def is_nobody_there(self) -> bool:
        """Whether nobody could be reached at all."""
        return str(self).startswith("ConnectError")


def paused(accident: PassingError, trial: int, began: float, patience: float) -> bool:
    """Wait before the next trial; False once patience is at its end."""
    pause = max(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(trial, 12)) * random.uniform(0.5, 1), accident.wait)
    if time.monotonic() - began + pause > patience:
        return False
    time.sleep(pause)
    return True


def patience_with_nobody(host: str) -> float:
    """How long to look for a host that is not there: one never seen is misspelt, or the network down, not busy."""
    return _WHEN_SEEN_BEFORE if host in _seen else _WHEN_NEVER_SEEN


def see(host: str) -> None:
    """Remember that a host was there."""
    _seen.add(host)
