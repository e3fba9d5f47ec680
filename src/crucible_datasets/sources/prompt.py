"""Answers of the standard library whose head comes in time as a whole, and not only each byte of it."""

from __future__ import annotations

import time
from http.client import HTTPResponse
from socket import SocketIO
from typing import Any


class PromptResponse(HTTPResponse):
    """An answer that has as long for its whole head as the socket would wait for one byte."""

    def __init__(self, sock: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self._socket = sock

    def begin(self) -> None:
        """Read the head."""
        stream: Any = self.fp.raw
        silence = self._socket.gettimeout()
        until = time.monotonic() + silence

        def readinto(buffer: Any) -> int | None:
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            return SocketIO.readinto(stream, buffer)

        stream.readinto = readinto
        try:
            super().begin()
        finally:
            del stream.readinto
            self._socket.settimeout(silence)
