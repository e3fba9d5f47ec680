"""Whether bytes come as fast as they should, on however many connections."""

from __future__ import annotations

import time

SLOWEST = 1000  # bytes a second, less than a modem of 1995 brings


class BrokenError(Exception):
    """A connection that was there has failed, or brings too little; another one may do."""


class Pace:
    """The pace of one transfer. Time counts only while bytes are waited for: who reads them may take its time."""

    def __init__(self, silence: float) -> None:
        self._silence, self._fewest = silence, SLOWEST * silence
        self.began = self._connected = time.monotonic()  # when bytes last came as they should; when a connection began
        self._came = 0

    def connect(self) -> None:
        """Begin another connection, which has as long as the first one."""
        self._connected = time.monotonic()

    def see(self, number: int) -> None:
        """Count bytes that came; an error when this connection has brought too few for too long."""
        self._came += number
        now = time.monotonic()
        if self._came >= self._fewest:
            self.began, self._came = now, 0
        elif now - max(self.began, self._connected) > self._silence:
            raise BrokenError(f"fewer than {self._fewest:.0f} bytes came in {self._silence:g} seconds")

    def pass_over(self, seconds: float) -> None:
        """Leave out time in which nobody waited for bytes."""
        self.began += seconds
        self._connected += seconds
