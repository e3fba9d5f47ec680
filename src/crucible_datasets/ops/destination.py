"""Where bytes are written: an atomic local file, a file on any fsspec file system, or an open stream.

Local paths never import fsspec. Bytes may be compressed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import flushed_early, make_folders
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.sources.append_copy import copy_before_append
from crucible_datasets.sources.base import scheme_of
from crucible_datasets.sources.store_errors import KINDS, store_errors

Path = str | bytes | os.PathLike[Any]
StorageOptions = dict[str, Any] | None

_BY_EXTENSION = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4", ".zip": "zip"}
# Level 9 takes three times as long as level 6 and saves one percent.
_GZIP_LEVEL = 6


def local_path(path: Path) -> str | None:
    """The local path, or None if it is remote."""
    text = os.fsdecode(path)
    for prefix in ("file://", "local://"):
        text = text.removeprefix(prefix)
    return None if "://" in text else os.path.expanduser(text)


def remote(path: Path, storage_options: StorageOptions) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    with store_errors(os.fsdecode(path), storage_options or {}, writing=True):
        filesystem, location = import_module("fsspec.core").url_to_fs(os.fsdecode(path), **(storage_options or {}))
        # The cached size may be outdated, and then bytes that others have appended would be cut off.
        filesystem.invalidate_cache()
    return filesystem, location


@contextmanager
def reached(path: Path, storage_options: StorageOptions, writing: bool = False) -> Iterator[tuple[Any, str]]:
    """The same, for a block in which whatever the store's client raises is one of our errors."""
    filesystem, location = remote(path, storage_options)
    with store_errors(os.fsdecode(path), storage_options or {}, writing):
        yield filesystem, location


def inside(folder: str, name: str) -> str:
    """The path of a name in a local or remote folder."""
    return f"{folder.rstrip('/')}/{name}" if local_path(folder) is None else os.path.join(folder, name)


@contextmanager
def written(path: Path, storage_options: StorageOptions = None, after: bytes | None = None) -> Iterator[BinaryIO]:
    """A stream whose bytes appear at `path` if the block succeeds, and not otherwise.

    They replace the file, or are appended to it, `after` the bytes that it should end with.
    """
    place = local_path(path)
    if place is not None:
        make_folders(os.path.dirname(os.path.abspath(place)))
        with atomic_file(place) as temporary, open(temporary, "wb") as stream, flushed_early(temporary):
            if after is not None and os.path.isfile(place):
                with open(place, "rb") as before:
                    copy_before_append(before, stream, after)
            yield stream
        return
    if os.fsdecode(path).startswith("hf://"):
        from crucible_datasets.sources.hub.uploads import sent

        with sent(os.fsdecode(path), storage_options or {}, after) as stream:
            yield stream
        return
    filesystem, location = remote(path, storage_options)
    at_the_store = partial(store_errors, os.fsdecode(path), storage_options or {}, writing=True)
    if scheme_of(os.fsdecode(path)) not in KINDS:  # object stores have no folders, and s3fs would create the bucket
        with at_the_store():
            filesystem.makedirs(filesystem._parent(location), exist_ok=True)
    with _uploaded(filesystem, location, at_the_store) as stream:
        with at_the_store():
            if after is not None and filesystem.isfile(location):
                with filesystem.open(location, "rb") as before:
                    copy_before_append(before, stream, after)
        yield stream


@contextmanager
def _uploaded(filesystem: Any, location: str, at_the_store: Callable[[], Any]) -> Iterator[BinaryIO]:
    """A stream to a remote file, whose bytes appear if the block succeeds."""
    # A file system has one transaction, which a second file would end: each file gets an instance of its own.
    own = object.__new__(type(filesystem))
    vars(own).update(vars(filesystem), _intrans=False, _transaction=None)
    own.start_transaction()
    with at_the_store():
        stream = own.open(location, "wb")
    try:
        yield stream
    except BaseException:
        _discard(stream)
        raise
    with at_the_store():
        stream.close()
        own.end_transaction()


def _discard(stream: Any) -> None:
    """Abort an upload. Parts that remain in the store have no name and do no harm."""
    with suppress(Exception):
        stream.discard()
    # Garbage collection would close an open file, and so complete a partial upload.
    with suppress(AttributeError):
        stream.closed = True


def size_at(target: Path | BinaryIO, storage_options: StorageOptions = None) -> int:
    """The size of the file at a path; 0 for a stream, which is written at its current position."""
    if hasattr(target, "write"):
        return 0
    place = local_path(target)
    if place is not None:
        return os.path.getsize(place) if os.path.isfile(place) else 0
    with reached(target, storage_options) as (filesystem, location):
        return int(filesystem.size(location)) if filesystem.isfile(location) else 0


def compression_named(path: Path) -> str | None:
    """The compression that the extension of a path names."""
    return _BY_EXTENSION.get(os.path.splitext(os.fsdecode(path))[1].lower())


@contextmanager
def written_or_handed(
    target: Path | BinaryIO,
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
    after: bool = False,
) -> Iterator[BinaryIO]:
    """A stream to a path, or to an open stream, which stays open; `compression` may be inferred from the path.

    Appended compressed data is a separate member `after` the existing ones; all readers support that.
    """
    if hasattr(target, "write"):
        with _compressed(target, None if compression == "infer" else compression) as stream:
            yield stream
        return
    kind = compression_named(target) if compression == "infer" else compression
    end = None if not after else b"\n" if kind is None else b""
    with written(target, storage_options, end) as plain, _compressed(plain, kind) as stream:
        yield stream


@contextmanager
def _compressed(stream: Any, compression: str | None) -> Iterator[Any]:
    if compression is None:
        yield stream
    elif compression not in _COMPRESSORS:
        raise ArgumentError("compression", compression, f"expected one of {', '.join(_COMPRESSORS)}, or None.")
    else:
        with _COMPRESSORS[compression](stream) as compressor:
            yield compressor


class _Unclosed:
    """A stream that stays open when Arrow closes what it was given."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self.write, self.flush = stream.write, getattr(stream, "flush", lambda: None)

    def close(self) -> None: ...


_COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    "gzip": lambda stream: gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=_GZIP_LEVEL, filename="", mtime=0),
    "bz2": lambda stream: bz2.BZ2File(stream, "wb"),
    "xz": lambda stream: lzma.LZMAFile(stream, "wb"),  # noqa: SIM115
    "zstd": lambda stream: pa.CompressedOutputStream(pa.PythonFile(_Unclosed(stream), "w"), "zstd"),
    "lz4": lambda stream: pa.CompressedOutputStream(pa.PythonFile(_Unclosed(stream), "w"), "lz4"),
}
