"""Making `os.fork` safe: no output appears twice, and no lock stays locked.

Text that is printed but not yet flushed would be copied into the forked process, so it is flushed before. Threads do
not exist there, but locks that they held stay locked. To avoid deadlocks, imports are finished before a fork, a `Lock`
is free in the forked process, and a `cached_property` has no lock.
"""

from __future__ import annotations

# Imported first, so that their fork handlers run after ours: they would keep threads from finishing imports.
import concurrent.futures.thread  # noqa: F401
import functools
import logging  # noqa: F401
import os
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

_SECONDS_FOR_IMPORTS = 10.0  # the importing thread may itself wait for the forking one
_LOOKS = 10
# Locks of other libraries that our threads may hold, while importing pandas or starting a progress bar.
_FOREIGN = {"pyarrow.lib": "_pandas_api._lock", "tqdm.std": "TqdmDefaultWriteLock.th_lock"}

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """As in Python 3.12. In 3.11 all instances of a class share one lock, so computing one blocks all others."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class Lock:
    """A reentrant lock that is free in a forked process, and waits for at most `seconds`."""

    __slots__ = ("_lock", "_process", "_seconds")

    def __init__(self, seconds: float = -1) -> None:
        self._lock, self._process, self._seconds = threading.RLock(), os.getpid(), seconds

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire(timeout=self._seconds)

    def __exit__(self, *error: object) -> None:
        with suppress(RuntimeError):  # not acquired, or acquired before the fork
            self._lock.release()


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        # It may be None, broken, interrupted within a write, or closed.
        with suppress(AttributeError, OSError, RuntimeError, ValueError):
            stream.flush()


def _finish_imports() -> None:
    """Acquire the import lock at a moment when no other thread is importing.

    Without it, nearly all forks hung in an import if other threads were using this library for the first time.
    """
    imports, looks = import_module("_imp"), 0
    deadline = time.monotonic() + _SECONDS_FOR_IMPORTS
    while True:
        imports.acquire_lock()
        owners = _owners_of_imports()
        # A lock without an owner may be about to be taken, or be referred to by a stored error.
        if not owners or (owners == {None} and looks > _LOOKS) or time.monotonic() > deadline:
            return
        imports.release_lock()
        looks += 1
        time.sleep(0.001)


def _owners_of_imports() -> set[int | None]:
    """The threads that are importing; none if the forking thread is, since others may wait for it."""
    known = list(getattr(import_module("importlib._bootstrap"), "_module_locks", {}).values())
    owners = {getattr(lock, "owner", None) for lock in (reference() for reference in known) if lock is not None}
    return set() if threading.get_ident() in owners else owners


def _go_on_importing() -> None:
    with suppress(RuntimeError):  # already released in the forked process
        import_module("_imp").release_lock()


def _free_foreign_locks() -> None:
    for module, path in _FOREIGN.items():
        with suppress(KeyError, AttributeError):  # not imported, or another version
            lock = attrgetter(path)(sys.modules[module])
            if lock.acquire(blocking=False):
                lock.release()
            else:
                lock._at_fork_reinit()


def _begin_copy() -> None:
    _go_on_importing()
    _free_foreign_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_flush_output)
    os.register_at_fork(before=_finish_imports, after_in_parent=_go_on_importing, after_in_child=_begin_copy)
