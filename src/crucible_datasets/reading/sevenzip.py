"""7z archives, through the package `py7zr`, which decodes them as a whole: all members are put aside at once."""

from __future__ import annotations

import os
from lzma import LZMAError
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.streams import Budget
from crucible_datasets.reading.spool import Extent, Spool
from crucible_datasets.registry import need


class SevenZipArchive:
    """An open 7z archive."""

    fault = None  # its list of members is at the end, so it is lost or whole

    def __init__(self, source: BinaryIO, path: str) -> None:
        self.path = path
        self._spool = Spool()
        self._extents: dict[str, list[Extent]] = {}
        try:
            self._read(source)
        except BaseException:
            self._spool.close()
            raise

    def sizes(self) -> list[tuple[str, int]]:
        """The files in it."""
        return [(name, sum(stop - start for start, stop in extents)) for name, extents in self._extents.items()]

    def open(self, name: str) -> BinaryIO:
        """The bytes of one file."""
        return self._spool.stream(self._extents[name], f"{self.path}::{name}")

    def close(self) -> None:
        self._spool.close()

    def _read(self, source: BinaryIO) -> None:
        py7zr = need("py7zr", extra="7z")
        budget = Budget(self.path, source.seek(0, os.SEEK_END))
        source.seek(0)
        try:
            with py7zr.SevenZipFile(source) as archive:
                files = [info for info in archive.list() if info.is_file and not info.is_symlink]
                if len(files) > config.MAX_ARCHIVE_MEMBERS:
                    limit = config.MAX_ARCHIVE_MEMBERS
                    raise LimitExceededError(self.path, "its number of members", limit, "config.MAX_ARCHIVE_MEMBERS")
                budget.require(sum(info.uncompressed for info in files))
                # Without a path, and with a factory for every file that is wanted, nothing is written to the disk.
                archive.extract(targets=[info.filename for info in files], factory=_writers(self, budget))
        except (py7zr.exceptions.ArchiveError, LZMAError, EOFError, OSError, ValueError, TypeError) as error:
            if isinstance(error, LimitExceededError):
                raise
            raise FileFormatError(self.path, f"the 7z archive cannot be read: {error}") from error

    def _put_aside(self, name: str, data: bytes) -> None:
        self._extents[name].append(self._spool.append(data))


def _writers(archive: SevenZipArchive, budget: Budget) -> Any:
    """What the package asks for a place to write each member to."""
    io = need("py7zr.io", extra="7z")

    class Writer(io.Py7zIO):  # type: ignore[misc,name-defined]
        def __init__(self, name: str) -> None:
            self._name, self._size = name, 0
            archive._extents[name] = []

        def write(self, data: bytes) -> int:
            budget.spend(len(data))
            archive._put_aside(self._name, bytes(data))
            self._size += len(data)
            return len(data)

        def read(self, size: int | None = None) -> bytes:
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            return 0

        def flush(self) -> None: ...

        def size(self) -> int:
            return self._size

    class Writers(io.WriterFactory):  # type: ignore[misc,name-defined]
        def create(self, filename: str) -> Any:
            return Writer(filename)

    return Writers()
