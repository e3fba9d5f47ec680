"""Tar archives as a walk over their headers: no member is ever unpacked under its name.

Written out instead of using `tarfile`, which takes a header of any length into memory and
accepts an archive that ends between two members as whole.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.streams import PIECE, drain
from crucible_datasets.reading.compression import plain
from crucible_datasets.reading.spool import SharedFile, Spool

BLOCK = 512
_REGULAR = b"0\x007"
_WITHOUT_DATA = b"123456"
_SPARSE = b"S"
_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL = b"L", b"K", b"xX", b"g"
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class TarFile:
    """A regular file in an archive: its name, and where its bytes are once all compression is off."""

    name: str
    size: int
    offset: int


class TarArchive:
    """An open tar archive with an index of its files; a compressed one is put aside without its compression."""

    def __init__(self, source: BinaryIO, path: str) -> None:
        self.path = path
        self.fault: FileFormatError | None = None  # the files before it can be read
        self._files: dict[str, TarFile] = {}
        self._bytes = SharedFile(source)
        with plain(source, path) as tar:
            try:
                if tar is source:
                    self._files |= ((file.name, file) for file, _ in files_in(source, path))
                else:
                    self._put_aside(tar)
            except FileFormatError as error:
                self.fault = error

    def sizes(self) -> list[tuple[str, int]]:
        """The files in it."""
        return [(file.name, file.size) for file in self._files.values()]

    def open(self, name: str) -> BinaryIO:
        """The bytes of the last file of that name."""
        file = self._files[name]
        return self._bytes.stream([(file.offset, file.offset + file.size)], f"{self.path}::{name}")

    def close(self) -> None:
        self._bytes.close()

    def _put_aside(self, tar: BinaryIO) -> None:
        self._bytes = spool = Spool()
        try:
            for file, stream in files_in(tar, self.path):
                start, _ = spool.append(b"")
                self._files[file.name] = TarFile(file.name, file.size, start)
                while piece := stream.read(PIECE):
                    spool.append(piece)
        except FileFormatError:
            raise
        except BaseException:
            spool.close()
            raise


class _Cursor:
    """Reads a source from front to back and knows where it is; what lies behind is gone."""

    def __init__(self, source: BinaryIO, path: str) -> None:
        self.source, self.path, self.position = source, path, 0
        self.can_seek = source.seekable()

    def read(self, size: int) -> bytes:
        data = self.source.read(size)
        self.position += len(data)
        return data

    def exactly(self, size: int, what: str) -> bytes:
        data = self.read(size)
        if len(data) < size:
            raise FileFormatError(self.path, f"the archive breaks off in {what}", None, self.position)
        return data

    def go_to(self, position: int, what: str) -> None:
        if self.can_seek and position - self.position > PIECE:
            # The byte before is read, because seeking beyond the end is no error.
            self.source.seek(position - 1)
            self.position = position - 1
        while self.position < position:
            self.exactly(min(PIECE, position - self.position), what)


def files_in(source: BinaryIO, path: str) -> Iterator[tuple[TarFile, BinaryIO]]:
    """Every regular file with its bytes, which can be read until the next one is asked for.

    Folders, links, devices and pipes are passed over. An archive without the empty block that
    ends it is an error, after its last whole member.
    """
    cursor, headers = _Cursor(source, path), 0
    named: dict[str, str] = {}
    for_all: dict[str, str] = {}
    while (block := cursor.read(BLOCK)).strip(b"\0"):
        headers += 1
        if headers > config.MAX_ARCHIVE_MEMBERS:
            raise LimitExceededError(
                path, "its number of members", config.MAX_ARCHIVE_MEMBERS, "config.MAX_ARCHIVE_MEMBERS"
            )
        name, size, kind = _header(block, cursor)
        if kind in (_LONG_NAME, _LONG_LINK) or kind in _EXTENDED or kind == _GLOBAL:
            (for_all if kind == _GLOBAL else named).update(_extended_header(cursor, size, kind))
            continue
        about = {**for_all, **named}
        named = {}
        name, size = about.get("path", name), _size(about, size, cursor)
        if kind == _SPARSE or any(key.startswith("GNU.sparse") for key in about):
            raise FileFormatError(path, f"member {name!r} is stored with gaps; pack it again without --sparse")
        start, size = cursor.position, 0 if kind in _WITHOUT_DATA else size
        if kind in _REGULAR and not name.endswith("/"):
            yield TarFile(name, size, start), cast(BinaryIO, _Member(cursor, start + size, name))
        cursor.go_to(start + -(-size // BLOCK) * BLOCK, f"member {name!r}")
    if len(block) < BLOCK:
        raise FileFormatError(path, "the archive breaks off: the block that ends it is missing", None, cursor.position)
    drain(source)


class _Member(io.RawIOBase):
    """The bytes of the file that the cursor stands at."""

    def __init__(self, cursor: _Cursor, stop: int, name: str) -> None:
        self._cursor, self._stop, self.name = cursor, stop, name

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._stop - self._cursor.position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._cursor.read(wanted)
        if wanted and not data:
            self._cursor.exactly(wanted, f"member {self.name!r}")
        return data

    def readall(self) -> bytes:
        parts = []
        while part := self.read(PIECE):
            parts.append(part)
        return b"".join(parts)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def is_header(block: bytes) -> bool:
    """Whether a block begins a tar archive."""
    return len(block) == BLOCK and bool(block.strip(b"\0")) and _sum_agrees(block)


def _sum_agrees(block: bytes) -> bool:
    try:
        stated = int(block[148:156].strip(b"\0 ") or b"x", 8)
    except ValueError:
        return False
    return stated == sum(block) - sum(block[148:156]) + 8 * ord(" ")


def _header(block: bytes, cursor: _Cursor) -> tuple[str, int, bytes]:
    if len(block) < BLOCK:
        raise FileFormatError(cursor.path, "the archive breaks off in a header", None, cursor.position)
    if not _sum_agrees(block):
        raise FileFormatError(cursor.path, "a header of the archive is damaged", None, cursor.position - BLOCK)
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and block[345]:
        name = f"{_text(block[345:500])}/{name}"
    return name, _number(block[124:136], cursor), block[156:157]


def _number(field: bytes, cursor: _Cursor) -> int:
    if field[0] & 0x80:
        number = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] == 0xFF:
            number = -1
    else:
        try:
            number = int(field.strip(b"\0 ") or b"0", 8)
        except ValueError:
            number = -1
    return _checked_size(number, cursor)


def _size(about: dict[str, str], size: int, cursor: _Cursor) -> int:
    stated = about.get("size", "")
    if not stated:
        return size
    return _checked_size(int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 20 else -1, cursor)


def _checked_size(size: int, cursor: _Cursor) -> int:
    if not 0 <= size < 1 << 63:
        raise FileFormatError(cursor.path, "a header states a size that makes no sense", None, cursor.position - BLOCK)
    return size


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _extended_header(cursor: _Cursor, size: int, kind: bytes) -> dict[str, str]:
    """The fields that a header sets for the members after it."""
    if size > _LONGEST_HEADER:
        raise FileFormatError(cursor.path, f"a header is longer than {_LONGEST_HEADER} bytes", None, cursor.position)
    data = cursor.exactly(-(-size // BLOCK) * BLOCK, "a header")[:size]
    if kind == _LONG_NAME:
        return {"path": _text(data)}
    if kind == _LONG_LINK:
        return {}
    # Few archives have such headers; the package has more in it than most programs need.
    from crucible_datasets.formats.webdataset.headers import records

    found = records(data, cursor)
    return {_text(key): value.decode("utf-8", "surrogateescape") for key, value in found}
