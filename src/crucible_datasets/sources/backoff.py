"""Retries with exponential backoff, or after the delay that the server asks for, up to a time limit."""

from __future__ import annotations

import random
import time

RETRYABLE_STATUSES = {408, 429, 500, 502, 503, 504}
RETRY_TIMEOUT = 120.0  # seconds
_REACHED_BEFORE, _NEVER_REACHED = 15.0, 4.0
_FIRST_PAUSE = 0.05  # short, so that a connection that drops every few kilobytes still makes progress
_LONGEST_PAUSE = 30.0
_reachable: set[str] = set()  # hosts that have responded to this process


class TransientError(Exception):
    """A failure that is worth a retry, after `wait` seconds at the earliest.

    The request `may_have_succeeded` if only its response was lost.
    """

    def __init__(self, what: str, wait: float = 0.0, may_have_succeeded: bool = False) -> None:
        super().__init__(what)
        self.wait, self.may_have_succeeded = wait, may_have_succeeded

    @property
    def is_unreachable(self) -> bool:
        """Whether no connection could be made."""
        return str(self).startswith("ConnectError")


def wait_to_retry(failure: TransientError, attempt: int, began: float, retry_timeout: float) -> bool:
    """Sleep before the next attempt; False, without sleeping, if that would exceed the time limit."""
    pause = max(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt, 12)) * random.uniform(0.5, 1), failure.wait)
    if time.monotonic() - began + pause > retry_timeout:
        return False
    time.sleep(pause)
    return True


def unreachable_timeout(host: str) -> float:
    """How long to retry an unreachable host: one never reached is probably misspelt, or the network is down."""
    return _REACHED_BEFORE if host in _reachable else _NEVER_REACHED


def note_reachable(host: str) -> None:
    """Remember that a host has responded."""
    _reachable.add(host)
