"""Stage 2 of 6: one data file, what tells whether it changed, and its bytes.

`opened` gives the bytes as they were before compression, whatever the name says: the
first bytes tell. A file inside an archive has the archive's path and an `inner` name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError
from crucible_datasets.reading.archives import (
    archive_kind,
    chain_of,
    has_archive_name,
    listed,
    member_size,
    opened_member,
)
from crucible_datasets.reading.compression import (
    MAGIC_LENGTH,
    compression_of,
    decompressed,
    named_compression,
    require_complete,
)
from crucible_datasets.reading.pieces import Budget, PieceStream


@dataclass(frozen=True)
class DataFile:
    """A file, its size, and an identity that changes when its content does."""

    path: str
    size: int
    identity: tuple[str | int, ...]
    inner: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path if self.inner is None else f"{self.path}::{self.inner}"

    @property
    def extension(self) -> str:
        """The extension that tells its format: that of a compression does not count."""
        return os.path.splitext(named_compression(self.inner or self.path)[0])[1]


def identified(paths: Iterable[str], extensions: tuple[str, ...] = ()) -> list[DataFile]:
    """The files at these paths, each looked at once; an archive is the data files in it.

    Of an archive with files of several kinds, those with one of `extensions` are taken.
    """
    return [file for path in paths for file in _expanded(_identified(path), extensions)]


def _identified(path: str) -> DataFile:
    archive, inner = chain_of(path)
    try:
        facts = os.stat(archive)
    except FileNotFoundError as error:
        raise DataFilesNotFoundError(archive) from error
    whole = os.path.abspath(archive)
    file = DataFile(whole, facts.st_size, (whole, facts.st_size, facts.st_mtime_ns))
    return file if inner is None else _member(file, inner, member_size(whole, inner))


def _member(file: DataFile, inner: str, size: int) -> DataFile:
    return replace(file, inner=inner, size=size, identity=(*file.identity, inner))


def _expanded(file: DataFile, extensions: tuple[str, ...]) -> list[DataFile]:
    if file.inner is not None or not has_archive_name(file.path) or archive_kind(file.path) is None:
        return [file]
    inside = [_member(file, name, size) for name, size in listed(file.path)]
    return [member for member in inside if member.extension in extensions] or inside


@contextmanager
def opened(file: DataFile, compression: str | None = "infer") -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed; `compression` is `infer`, a name such as `gz`, or None for none."""
    with _raw(file) as raw:
        kind = _compression(raw, file.name) if compression == "infer" else compression
        if kind is None:
            yield raw
            return
        # What a member of an archive may become is measured by the archive, which may be a bomb itself.
        with decompressed(raw, kind, file.name, Budget(file.name, os.path.getsize(file.path))) as stream:
            yield stream


@contextmanager
def _raw(file: DataFile) -> Iterator[BinaryIO]:
    if file.inner is None:
        with open(file.path, "rb") as raw:
            yield raw
    else:
        with opened_member(file.path, file.inner) as member:
            yield member


def _compression(raw: BinaryIO, name: str) -> str | None:
    if isinstance(raw, PieceStream):
        start = raw.peek(MAGIC_LENGTH)[:MAGIC_LENGTH]
    else:
        start = raw.read(MAGIC_LENGTH)
        raw.seek(0)
    require_complete(start, name)
    return compression_of(start)
