"""The keeper: a clean process that starts workers for this one, and sees to it that none is left behind.

It is a new interpreter that imports the library, starts no work of its own, and copies itself for every
worker that is asked for. So a worker starts in milliseconds, has never run anybody's code, and carries
no lock or thread of the program that it works for; the main module is not imported again. The keeper
stays for the next call, and leaves when it was idle for long or when its program is gone.

Of every worker the program holds a lease, a socket. The keeper writes the exit code to it. When the
program gives up the lease, or dies, the keeper kills the worker. This module is the program's side;
`keeping` is what the keeper does.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from multiprocessing.spawn import get_executable
from typing import Any

IDLE_SECONDS = 300
# Only Linux: the system libraries of macOS do not work in a copy of a process.
START = "fork" if sys.platform == "linux" else "spawn"
# What a keeper imports besides this library, if the program has: the threads they start know how to be copied.
# pyarrow imports pandas, if it is there, at the first array it gets: a quarter of a second for every worker.
_READY = {"numpy", "pandas", "pyarrow", "pyarrow.compute", "pyarrow.parquet"}
EXIT_CODE = struct.Struct("<i")
WORKER, KEEPER, IMPORTS = b"w", b"k", b"i"  # what a keeper is asked for
_lock = threading.Lock()
_keepers: weakref.WeakSet[Any] = weakref.WeakSet()
_current: Keeper | None = None


class Keeper:
    """The program's end of a keeper."""

    def __init__(self, inherited: dict[str, Any], start: str) -> None:
        self.inherited, self.start_method, self._asked = inherited, start, time.monotonic()
        self._control, theirs = socket.socketpair()
        loaded = [name for name in sys.modules if name.startswith("crucible_datasets.") or name in _READY]
        arguments = f"{theirs.fileno()}, {start!r}, {loaded if start == 'fork' else []!r}"
        with theirs:
            self._process = subprocess.Popen(
                command("keeping", arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._end = weakref.finalize(self, _end, self._control, self._process)
        _keepers.add(self)

    def is_usable(self) -> bool:
        """Whether it is there, and its workers would inherit what a new process would inherit now."""
        awake = time.monotonic() - self._asked < IDLE_SECONDS / 2 and self._process.poll() is None
        return awake and self.inherited == _inherited() and self.start_method == START

    def start(self, *files: int, kind: bytes = WORKER) -> None:
        """Start a worker that gets these files: lease, channel, stdout, stderr, shared data if any."""
        self.note_use()
        with suppress(BrokenPipeError):  # A keeper that is dead holds no lease, which tells it.
            socket.send_fds(self._control, [kind], files)

    def note_use(self) -> None:
        """Put off the time at which it counts as idle."""
        self._asked = time.monotonic()

    def forget(self) -> None:
        """In a forked copy of the program: leave the keeper to the original."""
        self._end.detach()
        self._control.close()
        self._process.returncode = 0


def current() -> Keeper:
    """The keeper of this process."""
    global _current
    with _lock:
        if _current is None or not _current.is_usable():
            _current = Keeper(_inherited(), START)
        return _current


def forget_after_fork(kept: Any) -> None:
    """Make forked copies of the program call its `forget`."""
    _keepers.add(kept)


def command(module: str, arguments: str) -> list[str]:
    """The command of an interpreter like this one that runs `main` of a module of this package."""
    code = f"import sys; sys.path[:] = {import_path()!r}; from {__package__}.{module} import main; main({arguments})"
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [os.fsdecode(get_executable()), *flags, "-c", code]


def import_path() -> list[str]:
    """Where this process looks for modules; `sys.path` may hold things that are no text."""
    return [entry for entry in sys.path if isinstance(entry, str)]


def _inherited() -> dict[str, Any]:
    """What a process has from its parent; libraries read much of it only when they are imported."""
    import resource

    limits = [resource.getrlimit(number) for number in range(getattr(resource, "RLIM_NLIMITS", 8))]
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    # pytest sets a variable anew for every test, and nobody reads it at import.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return {"environment": environment, "limits": limits, "cores": cores}


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forget_all() -> None:
    global _current, _lock
    for keeper in list(_keepers):
        keeper.forget()
    _current, _lock = None, threading.Lock()
    _keepers.clear()


os.register_at_fork(after_in_child=_forget_all)
