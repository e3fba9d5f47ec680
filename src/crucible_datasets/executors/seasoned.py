"""A seasoned keeper: a copy of the keeper that has imported packages, and starts the workers that need them.

Importing a package such as transformers takes seconds, and every copy of the keeper itself would do it anew. So a
copy takes the place of the program, imports what its tasks refer to, and workers are copies of that. It learns more
packages with later calls, as long as the program looks for modules in the same places. The keeper holds it like a
worker, so it does not outlive the program. Where copies of it would be unsafe, workers come from the keeper.

This module is the program's side; `seasoning` is what happens inside.
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

from crucible_datasets.executors import keeper
from crucible_datasets.executors.packages import installed_among
from crucible_datasets.logging import get_logger

_SECONDS_TO_LEAVE = 2.0
_lock = threading.Lock()
_current: Seasoned | None = None
_unsafe: set[str] = set()  # modules after whose import a process must not be copied
logger = get_logger(__name__)


class Seasoned:
    """The program's end of a seasoned keeper."""

    def __init__(self, base: keeper.Keeper) -> None:
        self.base, self.place, self._asked = base, _place(), time.monotonic()
        self._modules: set[str] = set()
        self._control, control = socket.socketpair()
        self._lease, lease = socket.socketpair()
        with control, lease, open(os.devnull, "w") as nowhere:
            base.start(lease.fileno(), control.fileno(), nowhere.fileno(), nowhere.fileno(), kind=keeper.KEEPER)
        self._end = weakref.finalize(self, _end, self._control, self._lease)
        keeper.forget_after_fork(self)

    def is_usable(self, base: keeper.Keeper) -> bool:
        """Whether it is there, is a copy of this keeper, and would find the same modules in the same places."""
        awake = time.monotonic() - self._asked < keeper.IDLE_SECONDS / 2
        return awake and self._end.alive and not wait([self._lease], 0) and self.base is base and self.place == _place()

    def learn(self, modules: set[str]) -> bool:
        """Import the modules that it does not have yet; whether it may be copied after that."""
        new = sorted(modules - self._modules)
        if not new:
            return True
        logger.info("Packages are imported once for all workers: %s.", ", ".join(new))
        unsafe = self._answer({"modules": new, **self.place, "arguments": sys.argv})
        self._modules.update(new)
        _unsafe.update(new if unsafe is None else [unsafe] if unsafe else [])
        return unsafe == ""

    def _answer(self, order: dict[str, Any]) -> str | None:
        """What it says to an order; None if it died of it."""
        reading, writing = os.pipe()
        self._send(keeper.IMPORTS, reading)
        os.close(reading)
        with suppress(BrokenPipeError), open(writing, "w") as pipe:
            pipe.write(json.dumps(order) + "\n")
        with self._control.dup() as control, control.makefile() as answers:
            wait([self._control, self._lease])
            line = answers.readline()
        return line.removesuffix("\n") if line else None

    def start(self, *files: int) -> None:
        """Start a worker that gets these files, as a `Keeper` does."""
        self._send(keeper.WORKER, *files)

    def _send(self, kind: bytes, *files: int) -> None:
        self._asked = time.monotonic()
        self.base.note_use()
        with suppress(BrokenPipeError):
            socket.send_fds(self._control, [kind], files)

    def stop(self) -> None:
        """End it at once."""
        self._lease.close()
        self._end()

    def forget(self) -> None:
        """In a forked copy of the program: leave it to the original."""
        self._end.detach()
        self._control.close()
        self._lease.close()


def keeper_for(referred: Iterable[str]) -> keeper.Keeper | Seasoned:
    """The keeper for workers of tasks that refer to these modules."""
    global _current
    base = keeper.current()
    modules = installed_among(referred) - _unsafe if base.start_method == "fork" else set()
    if not modules:
        return base
    with _lock:
        found = _current if _current is not None and _current.is_usable(base) else Seasoned(base)
        _current = None
        try:
            is_safe = found.learn(modules)
        except BaseException:
            found.stop()
            raise
        _current = found if is_safe else None
        return found if is_safe else base


def _place() -> dict[str, Any]:
    """Where this process looks for modules."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        folder = ""
    return {"folder": folder, "path": keeper.import_path()}


def _end(control: socket.socket, lease: socket.socket) -> None:
    control.close()
    if lease.fileno() >= 0:
        wait([lease], _SECONDS_TO_LEAVE)
    lease.close()


def _forget() -> None:
    global _current, _lock
    _current, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
