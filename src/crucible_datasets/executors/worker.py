"""A worker process: runs tasks one after another until its channel is closed.

It reports progress at most ten times a second.
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
from crucible_datasets.executors.pickling import opened, packed_result

_SECONDS_BETWEEN_REPORTS = 0.1


class Channel:
    """The worker's end of the channel: tasks come in, progress and results go out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._rows, self._last_report = 0, time.monotonic()

    def next(self) -> bytes:
        """The next message; the process ends when there is none."""
        try:
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            leave()

    def advance(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            if time.monotonic() - self._last_report >= _SECONDS_BETWEEN_REPORTS:
                self._report()

    def answer(self, kind: str, message: bytes) -> None:
        with self._lock:
            self._report()
            self._send(kind, message)

    def _report(self) -> None:
        if self._rows:
            self._send("advance", self._rows)
        self._rows, self._last_report = 0, time.monotonic()

    def _send(self, *message: Any) -> None:
        try:
            self._connection.send_bytes(pickle.dumps(message))
        except OSError:
            os._exit(1)  # The program is gone.


def main(file: int, shared: int | None = None) -> NoReturn:
    """Run the tasks that the parent program sends over the channel."""
    connection = Connection(file)
    _prepare(connection)
    channel = Channel(connection)
    pickle.loads(channel.next()).apply()  # noqa: S301  (from the program itself)
    while True:
        channel.answer(*_outcome(channel, channel.next(), shared))


def _outcome(channel: Channel, message: bytes, shared: int | None) -> tuple[str, bytes]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # importing modules again repeats warnings that the program has shown
            title, rank, run = opened(message, shared)
        return "result", packed_result(title, run(rank, channel.advance))
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
        sys.modules["numpy.random"].seed()  # otherwise all forks would draw the same numbers


def die_with_parent() -> None:
    """Be killed when the parent dies, even by SIGKILL. On other systems the next report finds the channel closed."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def leave() -> NoReturn:
    """Exit as the interpreter would: run exit functions and flush output."""
    try:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(0)
