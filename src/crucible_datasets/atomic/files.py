"""Atomic files, and syncing files and folders to disk."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from crucible_datasets.atomic.owners import is_abandoned, unfinished_in, unfinished_name
from crucible_datasets.exceptions import NotWritableError, StorageError

_FAILURES_OF_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG, errno.ESTALE}


_LOOK_EVERY = 0.01  # seconds
_MUCH = 8 << 20  # bytes that are synced at once


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def atomic_file(path: str | os.PathLike[str], is_lasting: bool = True) -> Iterator[str]:
    """Yield a temporary path next to `path` to write to; on exit, the file there replaces `path`.

    A file that is replaced keeps its permissions, where there are any. If the block raises, the new file is removed
    and `path` is unchanged. A pipe or a device is written to directly. Unless `is_lasting`, the file is not synced, and
    may be missing or corrupt after a power failure.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if os.path.exists(target) and not os.path.isfile(target):
        with storage_errors(target):
            yield target
        return
    remove_abandoned(folder, f".{name}")
    temporary = os.path.join(folder, unfinished_name(f".{name}"))
    try:
        with storage_errors(target):
            yield temporary
            with suppress(OSError):  # there is no old file, or the file system has no permissions
                shutil.copymode(target, temporary)
            if not is_lasting:
                os.replace(temporary, target)
                return
            make_durable(temporary)
            is_new = not os.path.lexists(target)
            os.replace(temporary, target)
            try:
                make_durable(folder)
            except OSError:
                # After an error no new file may be visible; one that has replaced an old file stays.
                if is_new:
                    os.unlink(target)
                raise
    except BaseException:
        remove_tree(temporary)
        raise


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """A context in which disk errors become a `StorageError` that names `path`."""
    try:
        yield
    except StorageError:
        raise
    except UnicodeEncodeError as error:
        if path.encode(errors="ignore").decode() == path:
            raise
        raise StorageError(path, errno.EILSEQ) from error  # Arrow opens only paths in UTF-8
    except PermissionError as error:
        if error.errno is None or not _concerns(error.filename, path):
            raise
        raise NotWritableError(path, error.errno) from error
    except OSError as error:
        if error.errno not in _FAILURES_OF_STORAGE:
            raise
        raise StorageError(path, error.errno) from error


def _concerns(named: object, path: str) -> bool:
    """Whether the file of an OS error is near a path, rather than one that a user's function has opened."""
    if not isinstance(named, str):
        return False
    return f"{named}/".startswith(f"{os.path.dirname(path)}/") or path.startswith(f"{named}/")


def make_durable(path: str) -> None:
    """Sync a file, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def flushed_early(path: str) -> Iterator[None]:
    """Sync a file in the background while the block writes to it, so that little is left to sync at the end.

    The system reports a disk error only once, so one that occurs here is raised at the end of the block.
    """
    done, failed = threading.Event(), list[OSError]()
    thread = threading.Thread(target=_flush, args=(path, done, failed), name="crucible-flush", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    if failed:
        raise failed[0]


def _flush(path: str, done: threading.Event, failed: list[OSError]) -> None:
    flushed = 0
    while not done.wait(_LOOK_EVERY):
        try:
            size = os.stat(path).st_size if os.path.exists(path) else 0
            if size - flushed >= _MUCH:
                make_durable(path)
                flushed = size
        except OSError as error:
            failed.append(error)
            return


def make_folders(folder: str, mode: int = 0o777) -> None:
    """Create a folder and its parents, and sync their names to disk."""
    for path in created_folders(folder, mode):
        make_durable(os.path.dirname(path))


def created_folders(folder: str | os.PathLike[str], mode: int) -> list[str]:
    """Create a folder and its parents, and return those that were missing; the others keep their permissions."""
    missing, path = [], os.path.abspath(folder)
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for path in reversed(missing):
        with suppress(FileExistsError):  # another process was first
            os.mkdir(path, mode)
    os.makedirs(folder, exist_ok=True)
    return missing


def make_tree_durable(folder: str) -> None:
    """Sync all files of a folder, several at a time."""
    paths = [folder, *(path for path in paths_in(folder) if _is_file_or_folder(path))]
    with ThreadPoolExecutor(min(8, len(paths))) as pool:
        list(pool.map(make_durable, paths))


def _is_file_or_folder(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def paths_in(folder: str, on_error: Callable[[OSError], None] = _raise) -> Iterator[str]:
    """Everything below a folder; the content of a folder comes before the folder."""
    for parent, folders, files in os.walk(folder, topdown=False, onerror=on_error):
        yield from (os.path.join(parent, name) for name in (*files, *folders))


def remove_tree(path: str) -> None:
    """Remove a file or folder as far as possible."""
    with suppress(OSError):
        os.unlink(path)
        return
    for each in (*paths_in(path, on_error=lambda error: None), path):
        with suppress(OSError):
            (os.rmdir if os.path.isdir(each) and not os.path.islink(each) else os.unlink)(each)


@contextmanager
def scratch_folder(what: str, parent: str | None = None) -> Iterator[str]:
    """A folder for temporary files, removed at the end, or after a kill when the next one for the same is made.

    It is in the system's temporary folder, unless another is given.
    """
    from tempfile import gettempdir  # it takes milliseconds to import, and loading data needs no such folder

    home = parent or gettempdir()
    remove_abandoned(home, what)
    folder = os.path.join(home, unfinished_name(what))
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_abandoned(folder: str, what: str | None = None, suffix: str | None = ".tmp") -> None:
    """Remove temporary files of dead processes in a folder, with one suffix or all."""
    for path, parts in unfinished_in(folder, what):
        with suppress(FileNotFoundError):
            silent_for = time.time() - os.lstat(path).st_mtime
            if suffix in {None, parts.suffix} and is_abandoned(parts.owner, silent_for):
                remove_tree(path)
