"""Disks, servers and databases."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any

from crucible_datasets.exceptions.base import DatasetsError, listed, without_secrets


class StorageError(DatasetsError, OSError):
    """The disk is full, or fails."""

    def __init__(self, path: str, code: int) -> None:
        super().__init__(path, code)
        self.path, self.errno = path, code

    def message(self, path: str, code: int) -> str:
        full = code in {errno.ENOSPC, errno.EDQUOT}
        hint = " Free some space, for example with `crucible cache clean`, and try again." if full else ""
        return f"{path}: {os.strerror(code)}.{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError keeps errno outside of its attributes.
        return type(self), (self.path, self.errno)


class NotWritableError(StorageError, PermissionError):
    """This user may not write where something is to be written."""

    def message(self, path: str, code: int) -> str:
        where = "Name another place; for the cache, with the variable HF_HOME or HF_DATASETS_CACHE."
        return f"{path}: {os.strerror(code)}. {where}"


class NotAFolderError(DatasetsError, FileExistsError, NotADirectoryError):
    """A dataset was to be saved where a file is."""

    def message(self, path: str) -> str:
        self.path = path
        return f"{path} is a file. A dataset is saved to a folder: name another place, or remove the file."


class OutOfBoundsError(DatasetsError, PermissionError, ValueError):
    """A value of a dataset names a file outside of the dataset's own folder, or an address. Nothing was opened."""

    def message(self, path: str, roots: Iterable[str]) -> str:
        self.path, self.roots = path, tuple(roots)
        named = listed(self.roots)
        known = f"lies outside of {named}, or does not exist there" if self.roots else "lies in no folder of it"
        return (
            f"{without_secrets(path)!r} is named by the data and {known}. It was not opened. "
            "Name the folders that data may reach in CRUCIBLE_MEDIA_ROOTS."
        )


class DownloadError(DatasetsError, ConnectionError):
    """Bytes could not be fetched, also after several trials."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        self.url, self.reason, self.status, self.code = without_secrets(url), reason, status, code
        return f"Cannot read {self.url}: {reason}"


class AccessDeniedError(DownloadError, PermissionError):
    """A place is there, and who asks may not read it or write to it."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Access to {self.url} was denied: {reason}"


class UploadError(DownloadError):
    """Bytes could not be written to where they should go."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Cannot write {self.url}: {reason}"


class OfflineError(DatasetsError, ConnectionError):
    """Something is needed that is not cached, or is to be written elsewhere, while the network is switched off."""

    @classmethod
    def when_writing(cls, address: str) -> OfflineError:
        """The error for something that is not to be read, but written."""
        return cls(address, "", True)

    def message(self, what: str, besides: str = "", is_written: bool = False) -> str:
        self.what = what
        if is_written:
            return f"Cannot write {what}: HF_HUB_OFFLINE forbids the network."
        told = f"{what} is not cached, and HF_HUB_OFFLINE forbids asking for it. Load it once with the network on."
        return f"{told} {besides}".rstrip()


class DatabaseError(DatasetsError, ConnectionError):
    """A database cannot be reached, or refuses what it is asked."""

    def message(self, place: str, reason: str) -> str:
        self.place, self.reason = without_secrets(place), " ".join(reason.split())
        return f"Cannot use the database {self.place}: {self.reason}"
