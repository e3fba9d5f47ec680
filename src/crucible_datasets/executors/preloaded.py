"""A preloaded server: a fork of the fork server that has imported packages, and forks the workers that need them.

Importing a package such as transformers takes seconds, and every worker would repeat it. So a fork of the server
imports what the tasks refer to, and the workers are forked from it. Later calls may add packages, as long as the
program's working folder and `sys.path` are the same. The fork server treats it like a worker, so it does not outlive
the program. Where forking it would be unsafe, workers come from the plain fork server.

This module is the program's side; `preloading` is what runs in the server.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from crucible_datasets.executors import forkserver
from crucible_datasets.executors.packages import installed_among
from crucible_datasets.logging import get_logger

_SECONDS_TO_LEAVE = 2.0
_lock = threading.Lock()
_current: PreloadedServer | None = None
_unsafe: set[str] = set()  # modules after whose import a process must not be forked
logger = get_logger(__name__)


class PreloadedServer:
    """The program's end of a preloaded server."""

    def __init__(self, base: forkserver.ForkServer) -> None:
        self.base, self.place, self._asked = base, _place(), time.monotonic()
        self._modules: set[str] = set()
        self._control, control = socket.socketpair()
        self._lease, lease = socket.socketpair()
        with control, lease, open(os.devnull, "w") as nowhere:
            base.start(
                lease.fileno(), control.fileno(), nowhere.fileno(), nowhere.fileno(), kind=forkserver.FORK_SERVER
            )
        self._end = weakref.finalize(self, _end, self._control, self._lease)
        forkserver.forget_after_fork(self)

    def is_usable(self, base: forkserver.ForkServer) -> bool:
        """Whether it is alive, a fork of this server, and searches the same places for modules."""
        awake = time.monotonic() - self._asked < forkserver.IDLE_SECONDS / 2
        return awake and self._end.alive and not wait([self._lease], 0) and self.base is base and self.place == _place()

    def preload(self, modules: set[str]) -> bool:
        """Import the modules that it does not have yet; whether it may still be forked after that."""
        new = sorted(modules - self._modules)
        if not new:
            return True
        logger.info("Packages are imported once for all workers: %s.", ", ".join(new))
        unsafe = self._answer({"modules": new, **self.place, "arguments": sys.argv})
        self._modules.update(new)
        _unsafe.update(new if unsafe is None else [unsafe] if unsafe else [])
        return unsafe == ""

    def _answer(self, order: dict[str, Any]) -> str | None:
        """Its answer to an order; None if it died carrying it out."""
        reading, writing = os.pipe()
        self._send(forkserver.IMPORTS, reading)
        os.close(reading)
        with suppress(BrokenPipeError), open(writing, "w") as pipe:
            pipe.write(json.dumps(order) + "\n")
        with self._control.dup() as control, control.makefile() as answers:
            wait([self._control, self._lease])
            line = answers.readline()
        return line.removesuffix("\n") if line else None

    def start(self, *files: int) -> None:
        """Start a worker with these file descriptors, as `ForkServer.start` does."""
        self._send(forkserver.WORKER, *files)

    def _send(self, kind: bytes, *files: int) -> None:
        self._asked = time.monotonic()
        self.base.note_use()
        with suppress(BrokenPipeError):
            socket.send_fds(self._control, [kind], files)

    def stop(self) -> None:
        """Stop it immediately."""
        self._lease.close()
        self._end()

    def forget(self) -> None:
        """In a fork of the program: leave it to the parent."""
        self._end.detach()
        self._control.close()
        self._lease.close()


def server_for(referred: Iterable[str]) -> forkserver.ForkServer | PreloadedServer:
    """The server for workers whose tasks refer to these modules."""
    global _current
    base = forkserver.current()
    modules = installed_among(referred) - _unsafe if base.start_method == "fork" else set()
    if not modules:
        return base
    with _lock:
        found = _current if _current is not None and _current.is_usable(base) else PreloadedServer(base)
        _current = None
        try:
            is_safe = found.preload(modules)
        except BaseException:
            found.stop()
            raise
        _current = found if is_safe else None
        return found if is_safe else base


def _place() -> dict[str, Any]:
    """Where this process searches for modules."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        folder = ""
    return {"folder": folder, "path": forkserver.import_path()}


def _end(control: socket.socket, lease: socket.socket) -> None:
    control.close()
    if lease.fileno() >= 0:
        wait([lease], _SECONDS_TO_LEAVE)
    lease.close()


def _forget() -> None:
    global _current, _lock
    _current, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
