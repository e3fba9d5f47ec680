"""Folders that only their owner can read, and files that nobody else can have planted."""

from __future__ import annotations

import errno
import os
from typing import IO, Any

from crucible_datasets import config
from crucible_datasets.atomic.files import created_folders

_ROOT = 0


def make_private(folder: str | os.PathLike[str]) -> None:
    """Create a folder and its parents for their owner only; those that are there keep their permissions."""
    created_folders(folder, 0o700)


def own_folder(folder: str) -> str:
    """The folder, or one beside it if another user has put it there, which is neither trusted nor written to."""
    return f"{folder}-{os.geteuid()}" if os.path.lexists(folder) and not is_own(folder) else folder


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
