"""Files anywhere, to read and to write: `open`, which is also `BlobFile`."""

from __future__ import annotations

import builtins
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import IO, Any, BinaryIO, cast

from crucible_datasets.exceptions import ArgumentError, ContentMismatchError, IsAFolderError, without_secrets
from crucible_datasets.ops.destination import local_path, written
from crucible_datasets.sources import cloud
from crucible_datasets.sources.base import SOURCES, Source, SourceFile, scheme_of, source_of
from crucible_datasets.sources.store_errors import store_errors

Path = str | os.PathLike[str]
WEB = {"http", "https"}
PIECE = 4 << 20
_MODES = ("r", "rb", "w", "wb", "a", "ab")


def open(
    path: Path,
    mode: str = "r",
    streaming: bool | None = None,
    buffer_size: int | None = None,
    cache_dir: str | None = None,
    file_size: int | None = None,
    version: str | None = None,
    partial_writes_on_exc: bool = False,
    *,
    encoding: str = "utf-8",
    newline: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> IO[Any]:
    """Open a file anywhere, as text or with `b` as bytes.

    By default a file is read where it is, and written to this disk first. With `streaming=False`, it is also
    downloaded before it is read; with `streaming=True`, it is uploaded while it is written, and cannot be sought.
    What is written appears whole when the file is closed, and not at all when a `with` block ends by an error,
    unless `partial_writes_on_exc`. `version` is the one, stated by `stat`, that a file to read must have.
    `buffer_size`, `cache_dir` and `file_size` are accepted for code written for blobfile and have no effect:
    downloads are kept in `config.DOWNLOADED_DATASETS_PATH`.
    """
    if mode not in _MODES:
        raise ArgumentError("mode", mode, f"expected one of {', '.join(_MODES)}.")
    options = dict(storage_options or {})
    if mode.startswith("r"):
        raw: Any = _reading(os.fspath(path), streaming is not False, version, options)
    elif version is not None:
        raise ArgumentError("version", version, "a version can be required only of a file that is read.")
    else:
        is_direct = bool(streaming) or mode.startswith("a")
        raw = Written(os.fspath(path), mode, options, b"", is_direct, partial_writes_on_exc)
    if mode.endswith("b"):
        return raw
    return _Text(raw, encoding=encoding, newline=newline)


BlobFile = open  # the name that the package blobfile gives it


def _reading(path: str, streaming: bool, version: str | None, options: dict[str, Any]) -> BinaryIO:
    file, source = file_at(path, options), source_at(path)
    if version not in {None, identity_of(file)}:
        raise ContentMismatchError(without_secrets(path), f"the version {version}", f"a version {identity_of(file)}")
    if streaming:
        return source.opened(file, options)
    return builtins.open(source.fetched([file], options)[0], "rb")


def source_at(path: str) -> Source:
    """The source of an address; a name with `::` is a chain of addresses, unless there is a local file of that name."""
    place = local_path(path)
    return SOURCES["local"] if "::" in path and place is not None and os.path.exists(place) else source_of(path)


def file_at(path: str, options: Mapping[str, Any]) -> SourceFile:
    """The one file at an address."""
    source = source_at(path)
    if is_local_folder(path) or (path.endswith("/") and scheme_of(path) not in WEB):
        raise IsAFolderError(path)
    if source is SOURCES["cloud"]:
        file = cloud.found(path, options)
        if file is None:
            raise IsAFolderError(path)
        return file
    files = source.listed(path, options)
    if len(files) != 1 or not is_at(files[0], path):
        raise IsAFolderError(path)
    return files[0]


def is_local_folder(path: Path) -> bool:
    place = local_path(path)
    return place is not None and os.path.isdir(place)


def is_at(file: SourceFile, path: str) -> bool:
    """Whether a file that was listed is what the address names, and not in it; web servers list nothing else."""
    name = path.rstrip("/").rpartition("/")[2]
    return not file.is_below and (file.path == name or scheme_of(path) in WEB)


def identity_of(file: SourceFile) -> str:
    """What changes with its content, without where it is."""
    parts = [str(part) for part in file.identity]
    return "-".join(parts[1:] if parts[0] == file.url and len(parts) > 1 else parts)


class Written(io.BufferedIOBase):
    """Bytes that appear at their place when the file is closed well."""

    def __init__(
        self, path: str, mode: str, options: dict[str, Any], end: bytes, is_direct: bool, keeps_part: bool = False
    ) -> None:
        self.name, self.mode, self.keeps_part = without_secrets(path), mode, keeps_part
        self._path, self._options, self._stack = path, options, ExitStack()
        self._stream: Any = None  # flushed even if it could not be opened
        if path.endswith("/"):
            raise IsAFolderError(path)
        is_appended, self._is_local = mode.startswith("a"), local_path(path) is not None
        if is_direct or self._is_local:
            made = written(path, options, end if is_appended else None)
        else:
            made = _uploaded_at_the_end(path, options)
        self._stream = self._stack.enter_context(made)
        self._is_seekable = not is_appended and self._stream.seekable()

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._is_seekable

    def write(self, data: Any) -> int:
        if self._is_local:
            return self._stream.write(data)
        with store_errors(self._path, self._options, writing=True):
            return self._stream.write(data)

    def flush(self) -> None:
        if self._stream is None or self._stream.closed:
            return
        if self._is_local:
            self._stream.flush()
            return
        with store_errors(self._path, self._options, writing=True):
            self._stream.flush()

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self._is_seekable:
            raise io.UnsupportedOperation(f"{self.name} is written from start to end")
        return self._stream.seek(offset, whence)

    def truncate(self, size: int | None = None) -> int:
        if not self._is_seekable:
            raise io.UnsupportedOperation(f"{self.name} is written from start to end")
        return self._stream.truncate(size)

    def fileno(self) -> int:
        return self._stream.fileno()

    def close(self) -> None:
        if not self.closed:
            try:
                self._stack.close()
            finally:
                super().close()

    def discard(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Close without anything appearing."""
        self._stack.__exit__(kind, error, trace)
        super().close()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None and not self.keeps_part:
            self.discard(kind, error, trace)
        self.close()


@contextmanager
def _uploaded_at_the_end(path: str, options: dict[str, Any]) -> Iterator[BinaryIO]:
    """A local file whose bytes are sent to an address if the block succeeds."""
    with written(path, options) as target, tempfile.TemporaryFile() as file:
        yield cast(BinaryIO, file)
        file.seek(0)
        with store_errors(path, options, writing=True):
            shutil.copyfileobj(file, target, PIECE)


class _Text(io.TextIOWrapper):
    """Text over bytes that are thrown away when the block ends by an error."""

    def tell(self) -> int:
        if not isinstance(self.buffer, Written):
            return super().tell()
        self.flush()
        return self.buffer.tell()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        raw: Any = self.buffer
        if error is not None and isinstance(raw, Written) and not raw.keeps_part:
            raw.discard(kind, error, trace)
            return
        super().__exit__(kind, error, trace)
