"""Stage 2 of 6: one data file, its identity, and its bytes.

`opened` gives decompressed bytes; the compression is recognised by the first bytes, not by the name. A file inside an
archive has the archive's path and an `inner` name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any, BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError, FileFormatError, FileNotFoundDatasetsError
from crucible_datasets.fingerprint import version_of
from crucible_datasets.formats.streams import Account, Budget, PieceStream
from crucible_datasets.hashing.files import sampled_content
from crucible_datasets.reading import archives
from crucible_datasets.reading.archivenames import chain_of, has_archive_name
from crucible_datasets.reading.background_downloads import PendingFile
from crucible_datasets.reading.compression import (
    MAGIC_LENGTH,
    compression_of,
    decompressed,
    named_compression,
    require_complete,
)
from crucible_datasets.records import dataclass
from crucible_datasets.sources.base import Elsewhere


@dataclass(frozen=True)
class DataFile:
    """A file, its size, and an identity that changes when its content does."""

    path: str
    size: int
    identity: tuple[str | int, ...]
    inner: str | None = None
    elsewhere: Elsewhere | None = None  # set if it is remote
    pending: PendingFile | None = None  # set while it is downloaded in the background
    fault: FileFormatError | None = None  # of an archive whose other members are lost: reading raises it

    @property
    def name(self) -> str:
        """The name used in messages."""
        place = self.path if self.elsewhere is None else self.elsewhere.file.url
        return place if self.inner is None else f"{place}::{self.inner}"

    @property
    def extension(self) -> str:
        """The extension that determines the format, without that of a compression."""
        return os.path.splitext(named_compression(self.inner or self.path)[0])[1]


def identified(paths: Iterable[str], extensions: tuple[str, ...] = (), whole: bool = False) -> list[DataFile]:
    """The files at these paths, with one `stat` each; an archive stands for the data files in it, unless `whole`.

    Of an archive with files of several kinds, those with one of `extensions` are used.
    """
    found = map(_identified, paths)
    return list(found) if whole else [file for one in found for file in _expanded(one, extensions)]


def _identified(path: str) -> DataFile:
    archive, inner = chain_of(path)
    try:
        facts = os.stat(archive)
    except FileNotFoundError as error:
        raise DataFilesNotFoundError(archive) from error
    whole = os.path.abspath(archive)
    # Links from different commits to the same content are the same file.
    file = DataFile(whole, facts.st_size, (os.path.realpath(whole), *version_of(facts)))
    return file if inner is None else _member(file, inner, archives.member_size(whole, inner))


def _member(file: DataFile, inner: str, size: int) -> DataFile:
    return replace(file, inner=inner, size=size, identity=(*file.identity, inner))


def _expanded(file: DataFile, extensions: tuple[str, ...]) -> list[DataFile]:
    if file.inner is not None or not has_archive_name(file.path):
        return [file]
    if file.size and archives.archive_kind(file.path) is None:
        return [file]
    members, fault = archives.listed_to_fault(file.path)
    inside = [_member(file, name, size) for name, size in members]
    inside = [member for member in inside if member.extension in extensions] or inside
    return inside if fault is None else [*inside, replace(file, fault=fault)]


def folders_of(files: Iterable[DataFile]) -> tuple[str, ...]:
    """The folders into which paths in these files may point: their own, and the working folder if it contains them."""
    here = os.getcwd()
    own = dict.fromkeys(os.path.dirname(file.path) for file in files)
    return tuple(own) if not any(f"{folder}{os.sep}".startswith(f"{here}{os.sep}") for folder in own) else (*own, here)


@contextmanager
def opened(file: DataFile, compression: str | None = "infer") -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed; `compression` is `infer`, a name such as `gz`, or None for none."""
    with _raw(file) as raw:
        kind = _compression(raw, file.name) if compression == "infer" else compression
        if kind is None:
            yield raw
            return
        # The limit for a member is based on the size of the archive, which may itself be a decompression bomb.
        budget = Budget(file.name, _stored_size(file), None if file.inner is None else _account(file.identity[:-1]))
        with decompressed(raw, kind, file.name, budget) as stream:
            yield stream


@lru_cache(maxsize=64)
def _account(archive: tuple[str | int, ...]) -> Account:
    """What compressed members of an archive, given by its identity, have unpacked to."""
    return Account()


def _stored_size(file: DataFile) -> int:
    return file.size if file.elsewhere is not None else os.path.getsize(file.path)


@contextmanager
def _raw(file: DataFile) -> Iterator[BinaryIO]:
    if file.fault is not None:
        raise file.fault
    if file.elsewhere is not None:
        with file.elsewhere.open() as raw:
            yield raw
    elif file.inner is None:
        try:
            raw = open(file.path, "rb")  # noqa: SIM115  closed below
        except FileNotFoundError as error:  # it was removed after it was found
            raise FileNotFoundDatasetsError(file.name) from error
        with raw:
            yield raw
    else:
        with archives.opened_member(file.path, file.inner) as member:
            yield member


def is_compressed(file: DataFile) -> bool:
    """Whether the bytes of a file must be decompressed before they can be read."""
    try:
        with _raw(file) as raw:
            return _compression(raw, file.name) is not None
    except FileFormatError:  # it breaks off before its first bytes say so
        return True


def _compression(raw: BinaryIO, name: str) -> str | None:
    if isinstance(raw, PieceStream):
        start = raw.peek(MAGIC_LENGTH)[:MAGIC_LENGTH]
    else:
        start = raw.read(MAGIC_LENGTH)
        raw.seek(0)
    require_complete(start, name)
    return compression_of(start)


def content_of(file: DataFile) -> tuple[Any, ...] | None:
    """What tells the content of a file from that of others, wherever it is; None if the file is gone.

    It is the version that a store states, or the size and a sample: all bytes of a small file, else evenly spread ones.
    """
    if file.elsewhere is not None or file.identity[0] != os.path.realpath(file.path):
        return file.identity[-2:]  # the Hub's hash, or an ETag, and the size; URLs may be signed anew
    try:
        return *sampled_content(file.path), file.inner
    except OSError:
        return None
