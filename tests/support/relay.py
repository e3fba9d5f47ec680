"""A relay in front of a server, which counts the bytes that the server sends and can hold them back."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Relay:
    """`sent` bytes have been passed on to clients; after `halt_at` of them nothing is, until `release`."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._changed = threading.Condition()
        self._open: list[socket.socket] = []
        self.sent, self.halt_at = 0, 0

    @property
    def is_halted(self) -> bool:
        return 0 < self.halt_at <= self.sent

    def count_anew(self, halt_at: int = 0) -> None:
        """Forget what was sent, and what was held back with its connections."""
        with self._changed:
            self._close_all()
            self.sent, self.halt_at = 0, halt_at

    def release(self) -> None:
        """Pass on what was held back, and all that follows."""
        with self._changed:
            self.halt_at = 0
            self._changed.notify_all()

    def serve(self) -> None:
        """Pass on connections until the relay is closed."""
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", self._to))
                self._open += [here, there]
                for passing in (self._pass_requests, self._pass_responses):
                    threading.Thread(target=passing, args=(here, there), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            self._close_all()

    def _pass_requests(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while piece := here.recv(1 << 16):
                there.sendall(piece)
            there.shutdown(socket.SHUT_WR)

    def _pass_responses(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while piece := there.recv(1 << 16):
                while piece:
                    allowed = self._allowed(len(piece), here)
                    here.sendall(piece[:allowed])
                    piece = piece[allowed:]
            here.shutdown(socket.SHUT_WR)

    def _allowed(self, wanted: int, here: socket.socket) -> int:
        """How many bytes may be passed on now; waits while there are none."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_halted or here.fileno() < 0)
            if here.fileno() < 0:
                raise OSError("closed")
            allowed = min(wanted, self.halt_at - self.sent) if self.halt_at else wanted
            self.sent += allowed
            return allowed

    def _close_all(self) -> None:
        while self._open:
            one = self._open.pop()
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._changed.notify_all()


@contextmanager
def relayed(options: dict[str, Any]) -> Iterator[tuple[Relay, dict[str, Any]]]:
    """A relay in front of the server on this machine that options name, and the options to go through it."""
    said = json.dumps(options)
    named = re.search(r"127\.0\.0\.1:(\d+)", said)
    assert named is not None
    relay = Relay(int(named[1]))
    thread = threading.Thread(target=relay.serve)
    thread.start()
    try:
        yield relay, json.loads(said.replace(named[0], f"127.0.0.1:{relay.port}"))
    finally:
        relay.close()
        thread.join()
