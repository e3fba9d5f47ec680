"""A worker: a process that runs one task after the other until its channel is closed.

Progress is told ten times a second at most.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from crucible_datasets.executors.failures import packed_error
from crucible_datasets.executors.parcels import opened, packed_result

_SECONDS_BETWEEN_REPORTS = 0.1


class Channel:
    """The worker's end of the channel: tasks come in, progress and results go out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._rows, self._told = 0, time.monotonic()

    def next(self) -> bytes:
        """The next message; the process ends when there is none."""
        try:
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            leave()

    def advance(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            if time.monotonic() - self._told >= _SECONDS_BETWEEN_REPORTS:
                self._tell()

    def answer(self, kind: str, parcel: bytes) -> None:
        with self._lock:
            self._tell()
            self._send(kind, parcel)

    def _tell(self) -> None:
        if self._rows:
            self._send("advance", self._rows)
        self._rows, self._told = 0, time.monotonic()

    def _send(self, *message: Any) -> None:
        try:
            self._connection.send_bytes(pickle.dumps(message))
        except OSError:
            os._exit(1)  # The program is gone.


def main(channel: int, shared: int | None = None) -> NoReturn:
    """Work for the program at the other end."""
    connection = Connection(channel)
    _prepare(connection)
    talk = Channel(connection)
    pickle.loads(talk.next()).take_over()  # noqa: S301  (from the program itself)
    while True:
        talk.answer(*_outcome(talk, talk.next(), shared))


def _outcome(talk: Channel, parcel: bytes, shared: int | None) -> tuple[str, bytes]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Modules are imported that the program has imported long ago.
            title, rank, run = opened(parcel, shared)
        return "result", packed_result(title, run(rank, talk.advance))
    except BaseException as error:  # noqa: BLE001  (the program raises it)
        return "error", packed_error(error)


def _prepare(connection: Connection) -> None:
    signal.signal(signal.SIGINT, lambda *_: None)
    os.register_at_fork(after_in_child=connection.close)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    die_with_parent()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # Else all copies would draw the same numbers.


def die_with_parent() -> None:
    """Should both the program and the keeper be killed. Elsewhere the next report finds the channel closed."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def leave() -> NoReturn:
    """End this process as an interpreter would."""
    try:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(0)
