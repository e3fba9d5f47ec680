"""Errors of storage, servers and databases."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any

from crucible_datasets.exceptions.base import DatasetsError, listed, without_secrets

_ELSEWHERE = " Name another place; for the cache, with the variable HF_HOME or HF_DATASETS_CACHE."
_MAKE_ROOM = " Free some space, for example with `crucible cache clean`, and try again."
_ADVICE = {errno.ENOSPC: _MAKE_ROOM, errno.EDQUOT: _MAKE_ROOM, errno.EROFS: _ELSEWHERE}


class StorageError(DatasetsError, OSError):
    """The disk is full or failing."""

    def __init__(self, path: str, code: int) -> None:
        super().__init__(path, code)
        self.path, self.errno = path, code

    def message(self, path: str, code: int) -> str:
        return f"{path}: {os.strerror(code)}.{_ADVICE.get(code, '')}"

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError does not keep errno in `__dict__`.
        return type(self), (self.path, self.errno)


class NotWritableError(StorageError, PermissionError):
    """The user has no permission to write."""

    def message(self, path: str, code: int) -> str:
        return f"{path}: {os.strerror(code)}.{_ELSEWHERE}"


class NotAFolderError(DatasetsError, FileExistsError, NotADirectoryError):
    """A dataset would be saved where a file is."""

    def message(self, path: str) -> str:
        self.path = path
        return f"{path} is a file. A dataset is saved to a folder: name another place, or remove the file."


class FileExistsDatasetsError(DatasetsError, FileExistsError):
    """A file would be replaced, which was not allowed."""

    def message(self, path: str) -> str:
        self.path = without_secrets(path)
        return f"{self.path} exists already. Remove it, or pass overwrite=True."


class OutOfBoundsError(DatasetsError, PermissionError, ValueError):
    """A value of a dataset names a URL or a file outside the dataset's folder. It was not opened."""

    def message(self, path: str, roots: Iterable[str]) -> str:
        self.path, self.roots = path, tuple(roots)
        named = listed(self.roots)
        known = f"lies outside of {named}, or does not exist there" if self.roots else "lies in no folder of it"
        return (
            f"{without_secrets(path)!r} is named by the data and {known}. It was not opened. "
            "Name the folders that data may reach in CRUCIBLE_MEDIA_ROOTS."
        )


class DownloadError(DatasetsError, ConnectionError):
    """A download failed, even after several attempts."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        self.url, self.reason, self.status, self.code = without_secrets(url), reason, status, code
        return f"Cannot read {self.url}: {reason}"


class AccessDeniedError(DownloadError, PermissionError):
    """Reading or writing was denied."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Access to {self.url} was denied: {reason}"


class UploadError(DownloadError):
    """An upload failed."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Cannot write {self.url}: {reason}"


class OfflineError(DatasetsError, ConnectionError):
    """The network is needed but disabled, for something that is not cached or is to be uploaded."""

    @classmethod
    def when_writing(cls, address: str) -> OfflineError:
        """The error for an upload."""
        return cls(address, "", True)

    def message(self, what: str, besides: str = "", is_written: bool = False) -> str:
        self.what = what
        if is_written:
            return f"Cannot write {what}: HF_HUB_OFFLINE forbids the network."
        text = f"{what} is not cached, and HF_HUB_OFFLINE forbids asking for it. Load it once with the network on."
        return f"{text} {besides}".rstrip()


class DatabaseError(DatasetsError, ConnectionError):
    """A database cannot be reached, or refuses a query."""

    def message(self, place: str, reason: str) -> str:
        self.place, self.reason = without_secrets(place), " ".join(reason.split())
        return f"Cannot use the database {self.place}: {self.reason}"
