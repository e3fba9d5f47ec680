"""The fork server: a clean process that forks workers for this program, and makes sure that none is left behind.

It is a fresh interpreter that has imported this library, runs no user code, and forks itself for every worker.
So a worker starts in milliseconds and inherits no lock, thread or state of the program, whose main module is not
imported again. The server is reused by later calls, and exits when it has been idle for long or its program is gone.

For every worker the program holds a lease, a socket to which the server writes the worker's exit code. When the
program closes the lease, or dies, the server kills the worker. This module is the program's side; `forkserver_main`
is what runs in the server.
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
# Only Linux forks: the system libraries of macOS do not work in a forked process.
START = "fork" if sys.platform == "linux" else "spawn"
# What a server imports besides this library, if the program has: the threads that these packages start survive a fork.
# pyarrow imports pandas, if installed, with its first array: a quarter of a second for every worker.
_PRELOADED = {"numpy", "pandas", "pyarrow", "pyarrow.compute", "pyarrow.parquet"}
EXIT_CODE = struct.Struct("<i")
WORKER, FORK_SERVER, IMPORTS = b"w", b"k", b"i"  # what a server is asked for
_lock = threading.Lock()
_servers: weakref.WeakSet[Any] = weakref.WeakSet()
_current: ForkServer | None = None


class ForkServer:
    """The program's end of a fork server."""

    def __init__(self, inherited: dict[str, Any], start: str) -> None:
        self.inherited, self.start_method, self._asked = inherited, start, time.monotonic()
        self._control, theirs = socket.socketpair()
        loaded = [name for name in sys.modules if name.startswith("crucible_datasets.") or name in _PRELOADED]
        arguments = f"{theirs.fileno()}, {start!r}, {loaded if start == 'fork' else []!r}"
        with theirs:
            self._process = subprocess.Popen(
                command("forkserver_main", arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._end = weakref.finalize(self, _end, self._control, self._process)
        _servers.add(self)

    def is_usable(self) -> bool:
        """Whether it is alive, and its workers would inherit the environment that this process has now."""
        awake = time.monotonic() - self._asked < IDLE_SECONDS / 2 and self._process.poll() is None
        return awake and self.inherited == _inherited() and self.start_method == START

    def start(self, *files: int, kind: bytes = WORKER) -> None:
        """Start a worker with these file descriptors: lease, channel, stdout, stderr, and shared data if any."""
        self.note_use()
        with suppress(BrokenPipeError):  # a dead server has closed the lease, which the caller notices
            socket.send_fds(self._control, [kind], files)

    def note_use(self) -> None:
        """Restart the idle timer."""
        self._asked = time.monotonic()

    def forget(self) -> None:
        """In a fork of the program: leave the server to the parent."""
        self._end.detach()
        self._control.close()
        self._process.returncode = 0


def current() -> ForkServer:
    """The fork server of this process, started if necessary."""
    global _current
    with _lock:
        if _current is None or not _current.is_usable():
            _current = ForkServer(_inherited(), START)
        return _current


def forget_after_fork(server: Any) -> None:
    """Make forks of the program call `server.forget()`."""
    _servers.add(server)


def command(module: str, arguments: str) -> list[str]:
    """The command line for an interpreter like this one that runs `main` of a module of this package."""
    code = f"import sys; sys.path[:] = {import_path()!r}; from {__package__}.{module} import main; main({arguments})"
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [os.fsdecode(get_executable()), *flags, "-c", code]


def import_path() -> list[str]:
    """`sys.path` of this process without entries that are not text."""
    return [entry for entry in sys.path if isinstance(entry, str)]


def _inherited() -> dict[str, Any]:
    """What a process inherits from its parent; many libraries read it only at import."""
    import resource

    limits = [resource.getrlimit(number) for number in range(getattr(resource, "RLIM_NLIMITS", 8))]
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    # pytest changes this variable for every test, and nobody reads it at import.
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
    for server in list(_servers):
        server.forget()
    _current, _lock = None, threading.Lock()
    _servers.clear()


os.register_at_fork(after_in_child=_forget_all)
