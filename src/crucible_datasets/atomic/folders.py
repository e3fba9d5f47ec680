"""Atomic folders: all old or all new, and neither is ever lost.

The new folder is written next to the old one, then both are exchanged in one system call. If the system has none, the
old one is renamed out of the way first; if the folder itself cannot be renamed (a mounted volume, the working folder),
the new one waits inside it under a reserved name and its files are moved out one by one. What a crash interrupts,
`finish_interrupted` completes: before the decisive rename everything stays old, after it everything becomes new.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from crucible_datasets.atomic.files import (
    make_durable,
    make_tree_durable,
    remove_abandoned,
    remove_tree,
    storage_errors,
)
from crucible_datasets.atomic.owners import Unfinished, is_alive, taken_apart, unfinished_in, unfinished_name

T = TypeVar("T")

_ASIDE, _INCOMING = ".old", ".incoming"
_SECONDS_TO_FINISH = 5.0


@contextmanager
def atomic_folder(
    folder: str | os.PathLike[str], replaces: Callable[[str], bool] = lambda name: False
) -> Iterator[str]:
    """Yield a new folder to write into; on exit, it replaces `folder`.

    If the block raises, the new folder is removed and the old one stays. Other files in the old folder are kept, unless
    the new one has something of that name or `replaces(name)`.
    """
    target = os.path.realpath(folder)
    finish_interrupted(target)
    stays = _cannot_be_renamed(target)
    name = unfinished_name(f".{os.path.basename(target)}")
    temporary = os.path.join(target if stays else os.path.dirname(target), name)
    try:
        with storage_errors(target):
            os.makedirs(temporary)
            yield temporary
            if stays:
                make_tree_durable(temporary)
                _move_in(temporary, target, replaces)
            else:
                if os.path.isdir(target):
                    carry_over(target, temporary, replaces)
                make_tree_durable(temporary)
                _take_place(temporary, target)
    finally:
        remove_tree(temporary)


def seen_whole(folder: str | os.PathLike[str], read: Callable[[], T]) -> T:
    """The result of `read`, which is called again if the folder was replaced meanwhile."""
    while True:
        finish_interrupted(folder)
        with _held(folder) as before:
            try:
                result = read()
            except Exception:
                if _identity(folder) == before:
                    raise
                continue
            if _identity(folder) == before:
                return result


def finish_interrupted(folder: str | os.PathLike[str]) -> None:
    """Complete a replacement of `folder` that a crash interrupted, or wait for one in progress."""
    target = os.path.realpath(folder)
    parent, name = os.path.split(target)
    for path, parts in unfinished_in(target, ".incoming"):
        if parts.suffix == _INCOMING and _given_up(path, parts):
            claimed = os.path.join(target, unfinished_name(".incoming", _INCOMING))
            with suppress(FileNotFoundError):  # another process is finishing it
                os.rename(path, claimed)
                _move_out(claimed, target)
    for path, parts in unfinished_in(parent, f".{name}"):
        if parts.suffix == _ASIDE and not os.path.lexists(target) and _given_up(path, parts):
            with suppress(OSError):  # another process has put it, or something newer, in place
                os.rename(path, target)
    remove_abandoned(parent, f".{name}")
    remove_abandoned(target, f".{name}")
    if os.path.lexists(target):
        remove_abandoned(parent, f".{name}", _ASIDE)


def _given_up(path: str, parts: Unfinished) -> bool:
    """Whether a replacement is abandoned; one in progress gets time to finish."""
    patience = time.monotonic() + _SECONDS_TO_FINISH
    while os.path.lexists(path) and not parts.is_mine and is_alive(parts.owner) is not False:
        if time.monotonic() > patience:
            return True
        time.sleep(0.01)
    return os.path.lexists(path)


@contextmanager
def _held(folder: str | os.PathLike[str]) -> Iterator[tuple[int, int] | None]:
    """The identity of a folder, which no other gets as long as this one is held open."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # there is none, or the system opens no folders
        yield _identity(folder)
        return
    try:
        facts = os.fstat(handle)
        yield facts.st_dev, facts.st_ino
    finally:
        os.close(handle)


def _identity(folder: str | os.PathLike[str]) -> tuple[int, int] | None:
    try:
        facts = os.stat(folder)
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


def _cannot_be_renamed(folder: str) -> bool:
    if not os.path.isdir(folder):
        return False
    here = os.path.realpath(os.curdir)
    return (
        os.path.ismount(folder)
        or os.path.commonpath([folder, here]) == folder
        or not os.access(os.path.dirname(folder), os.W_OK)
    )


# Renamed into place


def _take_place(temporary: str, target: str) -> None:
    is_new = not os.path.lexists(target)
    if is_new:
        os.rename(temporary, target)
    elif not _exchange(temporary, target):
        _swap_in_two_steps(temporary, target)
        return
    try:
        make_durable(os.path.dirname(target))
    except OSError:
        if is_new:
            remove_tree(target)
        else:
            _exchange(temporary, target)
        raise


def _swap_in_two_steps(temporary: str, target: str) -> None:
    parent, name = os.path.split(target)
    aside = os.path.join(parent, unfinished_name(f".{name}", _ASIDE))
    os.rename(target, aside)
    try:
        os.rename(temporary, target)
        make_durable(parent)
    except OSError:
        if os.path.lexists(target):
            os.rename(target, temporary)
        os.rename(aside, target)
        raise
    remove_tree(aside)


def _exchange(one: str, other: str) -> bool:
    """Exchange two paths atomically; False if the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    here, exchange = -100, 2
    if call(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}:
        return False
    raise OSError(code, os.strerror(code), other)


@cache
def _renameat2() -> Any:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call


def carry_over(old: str, new: str, replaces: Callable[[str], bool]) -> None:
    """Add to the new folder what only the old one has, by hard links if possible."""
    shutil.copymode(old, new)
    for name in os.listdir(old):
        source, copy = os.path.join(old, name), os.path.join(new, name)
        if os.path.lexists(copy) or replaces(name) or taken_apart(name):
            continue
        if os.path.isdir(source) and not os.path.islink(source):
            shutil.copytree(source, copy, symlinks=True, copy_function=linked)
        else:
            linked(source, copy)


def linked(source: str, copy: str) -> None:
    """Make a hard link to a file; a copy where there are none."""
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOSYS}:
            raise
        shutil.copy2(source, copy, follow_symlinks=False)


# Moved in, where the folder must stay


def _move_in(temporary: str, target: str, replaces: Callable[[str], bool]) -> None:
    make_durable(target)
    incoming = os.path.join(target, unfinished_name(".incoming", _INCOMING))
    new = set(os.listdir(temporary))
    os.rename(temporary, incoming)
    try:
        make_durable(target)
    except OSError:
        os.rename(incoming, temporary)
        raise
    _move_out(incoming, target)
    for name in os.listdir(target):
        if name not in new and not taken_apart(name) and replaces(name):
            remove_tree(os.path.join(target, name))


def _move_out(incoming: str, target: str) -> None:
    for name in os.listdir(incoming):
        source, place = os.path.join(incoming, name), os.path.join(target, name)
        if os.path.isdir(source) or os.path.isdir(place):
            remove_tree(place)
        os.replace(source, place)
    make_durable(target)
    os.rmdir(incoming)
