"""Folders that only their owner can read, and files that nobody else can have planted."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import IO, Any

from crucible_datasets import config

_ROOT = 0


def make_private(folder: str | os.PathLike[str]) -> None:
    """Create a folder and its parents for their owner only; those that are there keep their permissions."""
    missing, place = [], os.path.abspath(folder)
    while not os.path.lexists(place):
        missing.append(place)
        place = os.path.dirname(place)
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process was first
            os.mkdir(each, 0o700)
    os.makedirs(folder, exist_ok=True)


def open_own(path: str, mode: str = "r", encoding: str | None = None) -> IO[Any]:
    """Open a file to read it; one that another user has put there counts as missing."""
    file = open(path, mode, encoding=encoding)  # noqa: SIM115 – it is what is returned
    if _is_own(os.fstat(file.fileno())):
        return file
    file.close()
    raise FileNotFoundError(errno.ENOENT, "it belongs to another user", path)


def is_own(path: str) -> bool:
    """Whether a file or folder is there, and belongs to this user or to root."""
    try:
        return _is_own(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_own(facts: os.stat_result) -> bool:
    return config.SHARED_CACHE or not hasattr(os, "geteuid") or facts.st_uid in (os.geteuid(), _ROOT)
