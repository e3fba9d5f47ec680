"""What a preloaded server does before it forks workers: import packages, and check that it is still safe to fork.

It is unsafe if an import has started a thread that survives a fork in the parent, has opened a device or a connection,
or has imported a module of the user, which workers must see in its current version.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import logging
import os
import signal
import stat
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from crucible_datasets.executors.packages import of_users

# A thread of pyarrow's allocator. jemalloc stops it during a fork.
_HARMLESS = "jemalloc_bg_thd"


class Preloader:
    """Imports packages, and reports whether this process may be forked afterwards."""

    def __init__(self) -> None:
        self._modules = set(sys.modules)

    def import_(self, order: str) -> str:
        """Import the modules of an order. The name of the one after which forking is unsafe, else an empty text."""
        asked = json.loads(order)
        with suppress(OSError):
            os.chdir(asked["folder"])
        sys.path[:], sys.argv[:] = asked["path"], asked["arguments"]
        importlib.invalidate_caches()
        files = set(_files())
        with _exit_functions_of_this_process_only():
            unsafe = next((name for name in asked["modules"] if not self._is_safe_with(name, files)), "")
        signal.signal(signal.SIGINT, lambda *_: None)
        _reset_output()
        gc.collect()
        gc.freeze()
        return unsafe

    def _is_safe_with(self, name: str, files: set[tuple[str, str]]) -> bool:
        with suppress(BaseException):  # the task that needs it will raise the error
            importlib.import_module(name)
        opened = set(_files()) - files
        return _is_alone() and not of_users(sys.modules.keys() - self._modules) and all(map(_is_plain, opened))

    def disarm_finalizers(self) -> None:
        """In a worker: do not run finalizers of objects that the server created for all workers."""
        for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
            finalizer.atexit = False


@contextmanager
def _exit_functions_of_this_process_only() -> Iterator[None]:
    """Exit functions that imports register run when this process exits, not when its forks do."""
    register = atexit.register

    def register_here(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        is_for_all = function == weakref.finalize._exitfunc  # type: ignore[attr-defined]
        register(function if is_for_all else _ExitFunction(function), *args, **kwargs)
        return function

    atexit.register = register_here  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register


class _ExitFunction:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.process = function, os.getpid()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if os.getpid() == self.process:
            self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return bool(self.function == other)  # for atexit.unregister

    __hash__ = None  # type: ignore[assignment]


def _reset_output() -> None:
    """Flush what imports have printed, which forks would print again, and remove log handlers that they installed."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # Workers get the handlers of the program.
    logging.root.handlers[:] = [each for each in logging.root.handlers if type(each) is not logging.StreamHandler]


def _is_alone() -> bool:
    """Whether there is only one thread. OpenBLAS ends its threads before a fork, so a trial fork tells."""
    if _threads() > 1:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    return _threads() == 1


def _threads() -> int:
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{thread}/comm") as name:
            count += name.read().strip() != _HARMLESS
    return count


def _files() -> Iterator[tuple[str, str]]:
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            yield number, os.readlink(f"/proc/self/fd/{number}")


def _is_plain(file: tuple[str, str]) -> bool:
    number, place = file
    try:
        return stat.S_ISREG(os.fstat(int(number)).st_mode) or place in {"/dev/null", "/dev/urandom"}
    except OSError:
        return True
