"""Zip archives, of which every member can be read without the others."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from lzma import LZMAError
from typing import BinaryIO, cast

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.streams import Budget, PieceStream, Step, up_to_fault

_SHORTEST_ENTRY = 46
_END, _END_LENGTH = b"PK\x05\x06", 22
_WIDE_END, _WIDE_LOCATOR, _WIDE_LOCATOR_LENGTH = b"PK\x06\x06", b"PK\x06\x07", 20
_LONGEST_COMMENT = 65535
_ENCRYPTED = 0x1
_DAMAGED = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError, struct.error)


class ZipArchive:
    """An open zip archive."""

    fault = None  # its list of members is at the end, so it is lost or whole

    def __init__(self, source: BinaryIO, path: str) -> None:
        self.path = path
        size = source.seek(0, os.SEEK_END)
        _require_few_entries(source, size, path)
        source.seek(0)
        try:
            self._zip = zipfile.ZipFile(source)
        except (*_DAMAGED, NotImplementedError) as error:
            raise FileFormatError(path, f"the zip archive is damaged or breaks off: {error}") from error
        self._files = [info for info in self._zip.infolist() if _is_file(info)]
        Budget(path, size).require(sum(info.file_size for info in self._files))

    def sizes(self) -> list[tuple[str, int]]:
        """The files in it, in the order of its directory."""
        return [(info.filename, info.file_size) for info in self._files]

    def streams(self) -> Iterator[tuple[str, int, BinaryIO]]:
        """The files in it with their bytes."""
        for info in self._files:
            with self._stream(info) as stream:
                yield info.filename, info.file_size, stream

    def open(self, name: str) -> BinaryIO:
        """The bytes of the last file of that name."""
        return self._stream(self._zip.getinfo(name))

    def close(self) -> None:
        self._zip.close()

    def _stream(self, info: zipfile.ZipInfo) -> BinaryIO:
        pieces = up_to_fault(partial(self._pieces, info))
        return cast(BinaryIO, PieceStream(pieces, f"{self.path}::{info.filename}"))

    def _pieces(self, info: zipfile.ZipInfo, step: Step) -> Iterator[bytes]:
        if info.flag_bits & _ENCRYPTED:
            raise FileFormatError(self.path, f"member {info.filename!r} is encrypted")
        done = 0
        try:
            with self._zip.open(info) as member:
                while piece := member.read(step(done)):
                    yield piece
                    done += len(piece)
        except (*_DAMAGED, NotImplementedError, RuntimeError) as error:
            raise FileFormatError(self.path, f"member {info.filename!r} cannot be read: {error}") from error
        if done != info.file_size:
            raise FileFormatError(self.path, f"member {info.filename!r} breaks off", None, done)


def _is_file(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    # ZipInfo.is_dir fails for a member without a name.
    return not info.filename.endswith("/") and info.filename != "" and kind in (0, stat.S_IFREG)


def _require_few_entries(source: BinaryIO, size: int, path: str) -> None:
    """Refuse a directory with too many entries before any of them takes memory; its own count may lie."""
    stop, length = _directory(source, size)
    if length // _SHORTEST_ENTRY <= config.MAX_ARCHIVE_MEMBERS:
        return
    source.seek(max(0, stop - length))
    for _ in range(config.MAX_ARCHIVE_MEMBERS):
        entry = source.read(_SHORTEST_ENTRY)
        if len(entry) < _SHORTEST_ENTRY or source.tell() > stop:
            return
        source.seek(sum(struct.unpack("<3H", entry[28:34])), os.SEEK_CUR)
    if source.tell() < stop:
        limit = config.MAX_ARCHIVE_MEMBERS
        raise LimitExceededError(path, "its number of members", limit, "config.MAX_ARCHIVE_MEMBERS")


def _directory(source: BinaryIO, size: int) -> tuple[int, int]:
    """Where the archive's directory stops, and how long it says it is."""
    start = max(0, size - _LONGEST_COMMENT - _END_LENGTH - _WIDE_LOCATOR_LENGTH)
    source.seek(start)
    tail = source.read(size - start)
    found = tail.rfind(_END)
    if found < 0 or len(tail) - found < _END_LENGTH:
        return size, 0
    (length,) = struct.unpack_from("<L", tail, found + 12)
    locator = found - _WIDE_LOCATOR_LENGTH
    if locator < 0 or not tail.startswith(_WIDE_LOCATOR, locator):
        return start + found, length
    (wide,) = struct.unpack_from("<Q", tail, locator + 8)
    if wide < size:
        source.seek(wide)
        end = source.read(56)
        if end.startswith(_WIDE_END) and len(end) == 56:
            return wide, struct.unpack_from("<Q", end, 40)[0]
    return start + found, length
