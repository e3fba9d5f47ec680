"""A time limit for all headers of a response together; `http.client` has one per read only."""

from __future__ import annotations

import time
from http.client import HTTPResponse
from socket import SocketIO
from typing import Any


class HeaderTimeoutResponse(HTTPResponse):
    """A response whose headers must arrive within the timeout of the socket."""

    def __init__(self, sock: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(sock, *arguments, **named)
        self._socket = sock

    def begin(self) -> None:
        """Read the status line and headers."""
        stream: Any = self.fp.raw
        read_timeout = self._socket.gettimeout()
        until = time.monotonic() + read_timeout

        def readinto(buffer: Any) -> int | None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("the headers did not arrive in time")
            self._socket.settimeout(left)
            return SocketIO.readinto(stream, buffer)

        stream.readinto = readinto
        try:
            super().begin()
        finally:
            del stream.readinto
            self._socket.settimeout(read_timeout)
