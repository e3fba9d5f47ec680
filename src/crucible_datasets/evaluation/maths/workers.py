"""The pool of workers, usable from any thread and event loop.

There is one fork server per process, started on first use, and a socket per worker. No signals are used in this
process.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crucible_datasets.evaluation.maths.judgement import Judgement
from crucible_datasets.exceptions import MathsWorkerError
from crucible_datasets.registry import need

SECONDS = 1.5  # CPU seconds for one pair
_GRACE = 10.0  # seconds to wait longer on an overloaded machine
_SECONDS_TO_START = 120.0
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from crucible_datasets.evaluation.maths.worker import main; main(int(sys.argv[2]))"
)


class ForkServer:
    """The process that has imported math-verify."""

    def __init__(self) -> None:
        need("math_verify", "eval")
        self.control, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-W", "ignore", "-c", _START, json.dumps(_paths()), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.control.settimeout(_SECONDS_TO_START)
        if self.control.recv(16) != b"ready":
            self.close()
            raise MathsWorkerError("it did not start")

    def worker(self) -> Worker:
        """One more worker."""
        mine, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"worker"], [theirs.fileno()])
        return Worker(mine)

    def close(self) -> None:
        """End the fork server; its workers end when their sockets are closed."""
        self.control.close()
        self.process.kill()
        self.process.wait()


def _paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path]


class Worker:
    """A socket to one worker, which handles one request at a time."""

    def __init__(self, link: socket.socket) -> None:
        self.link, self.number = link, 0
        self._lines = link.makefile("rb")

    def judge(self, target: str, answer: str, kind: str, seconds: float) -> Judgement:
        """The judgement of the worker on one pair; a timeout or an error if it did not finish."""
        self.number += 1
        self.link.settimeout(seconds + _GRACE)
        try:
            self.link.sendall(json.dumps([self.number, seconds, target, answer, kind]).encode() + b"\n")
            while True:
                number, *said = json.loads(self._lines.readline())
                if number == self.number:
                    return Judgement(*said)
        except (OSError, ValueError) as error:
            raise MathsWorkerError(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Close the socket, which ends the worker."""
        self._lines.close()
        self.link.close()


_lock = threading.Lock()
_idle: list[Worker] = []
_server: ForkServer | None = None


@contextmanager
def borrowed() -> Iterator[Worker]:
    """A worker for exclusive use, taken from the pool and returned to it."""
    worker = _taken()
    try:
        yield worker
    except BaseException:
        worker.close()
        raise
    with _lock:
        _idle.append(worker)


def judge(target: str, answer: str, kind: str = "verify", seconds: float = SECONDS) -> Judgement:
    """The judgement of math-verify, within `seconds`. A lost worker is replaced once; then the status is error."""
    for _ in range(2):
        try:
            with borrowed() as worker:
                return worker.judge(target, answer, kind, seconds)
        except MathsWorkerError as error:
            problem = error
            close_all()
    return Judgement(False, "error", None, str(problem))


def _taken() -> Worker:
    global _server
    with _lock:
        if _idle:
            return _idle.pop()
        if _server is None:
            _server = ForkServer()
        return _server.worker()


def close_all() -> None:
    """Stop the fork server and all idle workers."""
    global _server
    with _lock:
        workers, server = list(_idle), _server
        _idle.clear()
        _server = None
    for worker in workers:
        worker.close()
    if server is not None:
        server.close()


def _forget() -> None:
    """After a fork: start without workers, since they belong to the parent."""
    global _server, _lock
    _lock = threading.Lock()
    _idle.clear()
    _server = None


atexit.register(close_all)
os.register_at_fork(after_in_child=_forget)
