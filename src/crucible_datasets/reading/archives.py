"""Archives as streams: zip, tar (compressed or not) and 7z.

`members` gives what is in an archive, one file after the other; `listed` tells the data files
in it, and `opened_member` reads one of them. Names are keys and nothing else: no file is ever
made under a name that an archive chose. Folders, links, devices and pipes are no members.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

from crucible_datasets.exceptions import DataFilesNotFoundError, FileFormatError, UnavailableError
from crucible_datasets.forking import Lock
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.archivenames import has_archive_name
from crucible_datasets.reading.compression import plain
from crucible_datasets.reading.membernames import is_data, safe_parts, walking_order
from crucible_datasets.reading.sevenzip import SevenZipArchive
from crucible_datasets.reading.tar import BLOCK, TarArchive, files_in, is_header
from crucible_datasets.reading.zip import ZipArchive

logger = get_logger(__name__)
_MAGIC = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar"}


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    size: int


class Archive(Protocol):
    """An open archive of which any member can be read; those before a fault, if it has one."""

    @property
    def fault(self) -> FileFormatError | None: ...
    def sizes(self) -> list[tuple[str, int]]: ...
    def open(self, name: str) -> BinaryIO: ...
    def close(self) -> None: ...


_OPENED: dict[str, Callable[[BinaryIO, str], Archive]] = {"zip": ZipArchive, "7z": SevenZipArchive, "tar": TarArchive}


def archive_kind(path: str) -> str | None:
    """The kind of archive a file is by its first bytes, whatever it is called: zip, tar, 7z or rar."""
    with open(path, "rb") as source:
        return _kind(source, path)


def _kind(source: BinaryIO, path: str) -> str | None:
    start = source.read(BLOCK)
    source.seek(0)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    try:
        with plain(source, path) as stream:
            start = stream.read(BLOCK)
    except FileFormatError:
        return None
    finally:
        source.seek(0)
    is_empty = len(start) == BLOCK and not start.strip(b"\0") and has_archive_name(path)
    return "tar" if is_empty or is_header(start) else None


def _required_kind(source: BinaryIO, path: str) -> str:
    kind = _kind(source, path)
    if kind is None:
        raise FileFormatError(path, "it is no archive: its first bytes are not those of a zip, tar or 7z file")
    if kind == "rar":
        raise UnavailableError(f"Reading the rar archive {path}", "Pack its files as zip or tar.")
    return kind


def members(source: str | BinaryIO, name: str | None = None) -> Iterator[tuple[str, int, BinaryIO]]:
    """Every file of an archive: its name, its size, and its bytes until the next one is asked for."""
    if isinstance(source, str):
        with open(source, "rb") as opened:
            yield from members(opened, name or source)
        return
    path = name or str(getattr(source, "name", "the archive"))
    kind = _required_kind(source, path)
    if kind == "tar":
        with plain(source, path) as tar:
            yield from ((file.name, file.size, stream) for file, stream in files_in(tar, path))
    elif kind == "zip":
        # By position instead of by name: all of several members with one name are given.
        yield from ZipArchive(source, path).streams()
    else:
        archive = _OPENED[kind](source, path)
        try:
            yield from ((name, size, archive.open(name)) for name, size in archive.sizes())
        finally:
            archive.close()


def listed_to_fault(path: str) -> tuple[list[Member], FileFormatError | None]:
    """The data files in an archive before a fault, and the fault. None if the list of members is lost, as in a zip."""
    try:
        with _held(path) as held:
            return _data_files(path, held), held.archive.fault
    except FileFormatError as error:
        return [], error


def listed(path: str) -> list[Member]:
    """The data files in an archive, in the order in which a walk through its folders finds them.

    Of several members with one name the last counts, as it would on a disk.
    """
    members, fault = listed_to_fault(path)
    if fault is not None:
        raise fault
    return members


def _data_files(path: str, held: _Held) -> list[Member]:
    sizes = held.sizes
    if strays := [name for name in sizes if safe_parts(name) is None]:
        logger.warning("%s: %d members lead out of the archive and are left out, as %r.", path, len(strays), strays[0])
    return [Member(name, sizes[name]) for name in sorted(filter(is_data, sizes), key=walking_order)]


def member_size(path: str, name: str) -> int:
    """The bytes of one member."""
    with _held(path) as held:
        if name not in held.sizes:
            raise _no_member(path, name)
        return held.sizes[name]


@contextmanager
def opened_member(path: str, name: str) -> Iterator[BinaryIO]:
    """The bytes of one member."""
    with _held(path) as held:
        if name not in held.sizes:
            raise _no_member(path, name)
        with held.archive.open(name) as stream:
            yield stream
        held.unread.discard(name)
    if not held.unread:
        release(held)


def _no_member(path: str, name: str) -> DataFilesNotFoundError:
    return DataFilesNotFoundError(f"{path}::{name}", "the archive has no such member.")


@dataclass(eq=False)
class _Held:
    """An archive that stays open until each of its members was read, for those who read one after the other."""

    key: tuple[int | str, ...]
    source: BinaryIO
    archive: Archive
    sizes: dict[str, int]
    unread: set[str]
    readers: int = 0
    is_kept: bool = True

    def close_if_unused(self) -> None:
        if not self.readers and not self.is_kept:
            self.archive.close()
            self.source.close()


_slot: list[_Held] = []
_lock = Lock()


@contextmanager
def _held(path: str) -> Iterator[_Held]:
    facts = os.stat(path)
    # A child process must not share the position of its parent's open file.
    key = (os.getpid(), path, facts.st_size, facts.st_mtime_ns)
    with _lock:
        if not _slot or _slot[0].key != key:
            release()
            _slot.append(_opened(path, key))
        held = _slot[0]
        held.readers += 1
    try:
        yield held
    finally:
        with _lock:
            held.readers -= 1
            held.close_if_unused()


def release(only: _Held | None = None) -> None:
    """Let go of the archive that was read last; who is still reading from it reads on."""
    with _lock:
        if _slot and only in (None, _slot[0]):
            held = _slot.pop()
            held.is_kept = False
            held.close_if_unused()


atexit.register(release)


def _opened(path: str, key: tuple[int | str, ...]) -> _Held:
    source = open(path, "rb")  # noqa: SIM115 - closed with the archive
    try:
        archive = _OPENED[_required_kind(source, path)](source, path)
        sizes = dict(archive.sizes())
        return _Held(key, source, archive, sizes, set(filter(is_data, sizes)))
    except BaseException:
        source.close()
        raise
