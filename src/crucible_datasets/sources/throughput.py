"""Minimum throughput of a transfer, over any number of connections."""

from __future__ import annotations

import time

SLOWEST = 1000  # bytes per second, slower than a modem of 1995


class BrokenConnectionError(Exception):
    """An established connection has failed or is too slow; another one may work."""


class Throughput:
    """The throughput of one transfer. Only time spent waiting for bytes counts: their reader may be slow."""

    def __init__(self, read_timeout: float) -> None:
        self._read_timeout, self._fewest = read_timeout, SLOWEST * read_timeout
        self.began = self._connected = time.monotonic()  # of the current measurement; of the current connection
        self._came = 0

    def connect(self) -> None:
        """Start another connection, with a time limit of its own."""
        self._connected = time.monotonic()

    def count(self, number: int) -> None:
        """Count received bytes; an error if this connection has been too slow for too long."""
        self._came += number
        now = time.monotonic()
        if self._came >= self._fewest:
            self.began, self._came = now, 0
        elif now - max(self.began, self._connected) > self._read_timeout:
            raise BrokenConnectionError(
                f"fewer than {self._fewest:.0f} bytes arrived in {self._read_timeout:g} seconds"
            )

    def exclude(self, seconds: float) -> None:
        """Exclude time that was not spent waiting for bytes."""
        self.began += seconds
        self._connected += seconds
