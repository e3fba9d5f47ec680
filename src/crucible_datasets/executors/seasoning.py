"""What a seasoned keeper does before it starts workers: it imports packages, and finds out whether it may be copied.

It may not when an import has started a thread that does not end before a copy is made, has opened a device or a
connection, or has imported a module of the user, which workers must see as it is when they start.
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

# pyarrow has one. It is stopped while a process is copied, by jemalloc itself.
_HARMLESS = "jemalloc_bg_thd"


class Seasoning:
    """Imports of this process, and whether it may be copied after them."""

    def __init__(self) -> None:
        self._modules = set(sys.modules)

    def import_(self, order: str) -> str:
        """Import the modules of an order, for a program at its place. The one after which copies are unsafe, if any."""
        asked = json.loads(order)
        with suppress(OSError):
            os.chdir(asked["folder"])
        sys.path[:], sys.argv[:] = asked["path"], asked["arguments"]
        importlib.invalidate_caches()
        files = set(_files())
        with _endings_of_its_own():
            unsafe = next((name for name in asked["modules"] if not self._is_safe_with(name, files)), "")
        signal.signal(signal.SIGINT, lambda *_: None)
        _be_quiet_again()
        gc.collect()
        gc.freeze()
        return unsafe

    def _is_safe_with(self, name: str, files: set[tuple[str, str]]) -> bool:
        with suppress(BaseException):  # Whoever needs it will say so.
            importlib.import_module(name)
        opened = set(_files()) - files
        return _is_alone() and not of_users(sys.modules.keys() - self._modules) and all(map(_is_plain, opened))

    def forget_endings(self) -> None:
        """In a worker: what its keeper has opened for all is not to be closed at the end of one."""
        for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
            finalizer.atexit = False


@contextmanager
def _endings_of_its_own() -> Iterator[None]:
    """Functions that are registered meanwhile run at the end of the process that registered them, not of its copies."""
    register = atexit.register

    def register_here(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        is_for_all = function == weakref.finalize._exitfunc  # type: ignore[attr-defined]
        register(function if is_for_all else _Ending(function), *args, **kwargs)
        return function

    atexit.register = register_here  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register


class _Ending:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.process = function, os.getpid()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if os.getpid() == self.process:
            self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return bool(self.function == other)  # for atexit.unregister

    __hash__ = None  # type: ignore[assignment]


def _be_quiet_again() -> None:
    """A worker would say all of it once more."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    # It gets those of the program.
    logging.root.handlers[:] = [each for each in logging.root.handlers if type(each) is not logging.StreamHandler]


def _is_alone() -> bool:
    """Whether there is one thread. Those of OpenBLAS end before a process is copied, so one copy tells."""
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
        with suppress(OSError):  # The one that listed them is closed.
            yield number, os.readlink(f"/proc/self/fd/{number}")


def _is_plain(file: tuple[str, str]) -> bool:
    number, place = file
    try:
        return stat.S_ISREG(os.fstat(int(number)).st_mode) or place in {"/dev/null", "/dev/urandom"}
    except OSError:
        return True
