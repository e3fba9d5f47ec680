"""Where written bytes go: a local file that appears whole, a file on any fsspec file system, or an open stream.

Local paths never import fsspec. Bytes may be compressed on their way.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.atomic import written_whole
from crucible_datasets.exceptions import ArgumentError

Path = str | bytes | os.PathLike[Any]
StorageOptions = dict[str, Any] | None

_BY_EXTENSION = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".lz4": "lz4"}
# Level 9 takes three times as long as level 6 and saves a hundredth of the bytes.
_GZIP_LEVEL = 6


def local_path(path: Path) -> str | None:
    """The path on this machine, or None when it leads elsewhere."""
    text = os.fsdecode(path)
    for prefix in ("file://", "local://"):
        text = text.removeprefix(prefix)
    return None if "://" in text else os.path.expanduser(text)


def remote(path: Path, storage_options: StorageOptions) -> tuple[Any, str]:
    """The file system that a URL leads to, and the place there."""
    filesystem, location = import_module("fsspec.core").url_to_fs(os.fsdecode(path), **(storage_options or {}))
    return filesystem, location


def inside(folder: str, name: str) -> str:
    """The path of a name in a folder, local or not."""
    return f"{folder.rstrip('/')}/{name}" if local_path(folder) is None else os.path.join(folder, name)


@contextmanager
def written(path: Path, storage_options: StorageOptions = None) -> Iterator[BinaryIO]:
    """A stream whose bytes appear at `path` when the block ends well, and never otherwise."""
    place = local_path(path)
    if place is not None:
        os.makedirs(os.path.dirname(os.path.abspath(place)), exist_ok=True)
        with written_whole(place) as beside, open(beside, "wb") as stream:
            yield stream
        return
    filesystem, location = remote(path, storage_options)
    filesystem.makedirs(filesystem._parent(location), exist_ok=True)
    # Without a transaction, leaving by an error would upload what there is so far.
    with filesystem.transaction, filesystem.open(location, "wb") as stream:
        yield stream


@contextmanager
def written_or_handed(
    target: Path | BinaryIO, storage_options: StorageOptions = None, compression: str | None = "infer"
) -> Iterator[BinaryIO]:
    """A stream to a path or into an open one, which stays open; `compression` may be told by the path."""
    if hasattr(target, "write"):
        with _compressed(target, None if compression == "infer" else compression) as stream:
            yield stream
        return
    kind = (
        _BY_EXTENSION.get(os.path.splitext(os.fsdecode(target))[1].lower()) if compression == "infer" else compression
    )
    with written(target, storage_options) as plain, _compressed(plain, kind) as stream:
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
