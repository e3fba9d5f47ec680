"""Copies of a process (forks) that are made while its threads are at work.

The threads are not in the copy, but what they held is held there for ever. Three things see to it that nobody waits
for it: imports end before a process is copied, a `Lock` is free in the copy, and a `cached_property` has none.
"""

from __future__ import annotations

# What these two do before a fork comes after what is done here, since it keeps threads from ending their imports.
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

_SECONDS_FOR_IMPORTS = 10.0  # whoever imports may itself wait for the thread that forks
_LOOKS = 10
# Locks of others that our threads hold while they import pandas or begin a progress bar.
_FOREIGN = {"pyarrow.lib": "_pandas_api._lock", "tqdm.std": "TqdmDefaultWriteLock.th_lock"}

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """As in Python 3.12. In 3.11 the objects of a class share one lock: whoever works one out keeps all waiting."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class Lock:
    """A lock that its thread may take again, that is free in a copy, and that is waited for so many seconds at most."""

    __slots__ = ("_lock", "_process", "_seconds")

    def __init__(self, seconds: float = -1) -> None:
        self._lock, self._process, self._seconds = threading.RLock(), os.getpid(), seconds

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire(timeout=self._seconds)

    def __exit__(self, *error: object) -> None:
        with suppress(RuntimeError):  # it is another's, or was taken before the fork
            self._lock.release()


def _finish_imports() -> None:
    """Begin to hold the lock of all imports, at a time when no other thread is in the middle of one.

    Of forks beside threads that used this library for the first time, nearly all hung in an import without it.
    """
    imports, looks = import_module("_imp"), 0
    deadline = time.monotonic() + _SECONDS_FOR_IMPORTS
    while True:
        imports.acquire_lock()
        owners = _owners_of_imports()
        # A lock of nobody may be taken in a moment; it may also be what a kept error still refers to.
        if not owners or (owners == {None} and looks > _LOOKS) or time.monotonic() > deadline:
            return
        imports.release_lock()
        looks += 1
        time.sleep(0.001)


def _owners_of_imports() -> set[int | None]:
    """The threads that import modules; none, when the one that forks does: the others may wait for it."""
    known = list(getattr(import_module("importlib._bootstrap"), "_module_locks", {}).values())
    owners = {getattr(lock, "owner", None) for lock in (reference() for reference in known) if lock is not None}
    return set() if threading.get_ident() in owners else owners


def _go_on_importing() -> None:
    with suppress(RuntimeError):  # the copy has let go of it
        import_module("_imp").release_lock()


def _free_foreign_locks() -> None:
    for module, path in _FOREIGN.items():
        with suppress(KeyError, AttributeError):  # never used, or made differently
            lock = attrgetter(path)(sys.modules[module])
            if lock.acquire(blocking=False):
                lock.release()
            else:
                lock._at_fork_reinit()


def _begin_copy() -> None:
    _go_on_importing()
    _free_foreign_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_finish_imports, after_in_parent=_go_on_importing, after_in_child=_begin_copy)
