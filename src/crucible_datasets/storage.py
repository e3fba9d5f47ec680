"""Files anywhere by one set of calls: this disk, web servers, the Hub, S3, GCS, Azure and whatever fsspec knows.

Written so that code for `blobfile` ports by one import: `from crucible_datasets.storage import BlobFile`.
"""

from __future__ import annotations

import builtins
import glob as patterns
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, time
from types import TracebackType
from typing import IO, Any, BinaryIO, cast

from crucible_datasets.exceptions import (
    ArgumentError,
    BadRecordError,
    ContentMismatchError,
    DownloadError,
    FileExistsDatasetsError,
    InvalidRecordError,
    IsAFileError,
    IsAFolderError,
    without_secrets,
)
from crucible_datasets.ops.destination import compression_named, local_path, remote, written, written_or_handed
from crucible_datasets.reading.compression import plain
from crucible_datasets.sources import cloud
from crucible_datasets.sources.base import SOURCES, Source, SourceFile, scheme_of, source_of
from crucible_datasets.sources.hub.addresses import matching
from crucible_datasets.sources.hub.uploads import removed
from crucible_datasets.sources.store_errors import store_errors
from crucible_datasets.sources.wildcards import folder_of, is_pattern

__all__ = [
    "BadRecord",
    "BlobFile",
    "Stat",
    "copy",
    "exists",
    "glob",
    "listdir",
    "open",
    "read_jsonl",
    "remove",
    "stat",
    "write_jsonl",
]

Path = str | os.PathLike[str]
_MODES = ("r", "rb", "w", "wb", "a", "ab")
_ON_ERROR = ("raise", "skip", "collect")
_WEB = {"http", "https"}
_PIECE = 4 << 20


@dataclass(frozen=True)
class Stat:
    """What is known of a file: its bytes, an identity that changes with its content, and when it was written.

    The time is in seconds since 1970, and None if the store does not state one.
    """

    size: int
    identity: str
    mtime: float | None = None

    @property
    def version(self) -> str:
        """The identity, by the name that the package blobfile gives it."""
        return self.identity


@dataclass(frozen=True)
class BadRecord:
    """A line that is no JSON object: where it is, what it says, and what is wrong."""

    file: str
    line: int
    text: str
    reason: str


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
        raw = _Written(os.fspath(path), mode, options, b"", is_direct, partial_writes_on_exc)
    if mode.endswith("b"):
        return raw
    return _Text(raw, encoding=encoding, newline=newline)


BlobFile = open  # the name that the package blobfile gives it


def _reading(path: str, streaming: bool, version: str | None, options: dict[str, Any]) -> BinaryIO:
    file, source = _found(path, options), _source(path)
    if version not in {None, _identity(file)}:
        raise ContentMismatchError(without_secrets(path), f"the version {version}", f"a version {_identity(file)}")
    if streaming:
        return source.opened(file, options)
    return builtins.open(source.fetched([file], options)[0], "rb")


def _source(path: str) -> Source:
    """The source of an address; a name with `::` is a chain of addresses, unless there is a local file of that name."""
    place = local_path(path)
    return SOURCES["local"] if "::" in path and place is not None and os.path.exists(place) else source_of(path)


def _found(path: str, options: Mapping[str, Any]) -> SourceFile:
    """The one file at an address."""
    source = _source(path)
    if _is_local_folder(path) or (path.endswith("/") and scheme_of(path) not in _WEB):
        raise IsAFolderError(path)
    if source is SOURCES["cloud"]:
        file = cloud.found(path, options)
        if file is None:
            raise IsAFolderError(path)
        return file
    files = source.listed(path, options)
    if len(files) != 1 or not _is_at(files[0], path):
        raise IsAFolderError(path)
    return files[0]


def _is_local_folder(path: Path) -> bool:
    place = local_path(path)
    return place is not None and os.path.isdir(place)


def _is_at(file: SourceFile, path: str) -> bool:
    """Whether a file that was listed is what the address names, and not in it; web servers list nothing else."""
    name = path.rstrip("/").rpartition("/")[2]
    return not file.is_below and (file.path == name or scheme_of(path) in _WEB)


def _identity(file: SourceFile) -> str:
    return "-".join(str(part) for part in file.identity[1:]) or str(file.identity[0])


class _Written(io.BufferedIOBase):
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
            shutil.copyfileobj(file, target, _PIECE)


class _Text(io.TextIOWrapper):
    """Text over bytes that are thrown away when the block ends by an error."""

    def tell(self) -> int:
        if not isinstance(self.buffer, _Written):
            return super().tell()
        self.flush()
        return self.buffer.tell()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        raw: Any = self.buffer
        if error is not None and isinstance(raw, _Written) and not raw.keeps_part:
            raw.discard(kind, error, trace)
            return
        super().__exit__(kind, error, trace)


def read_jsonl(
    path: Path,
    on_error: str = "raise",
    errors: list[BadRecord] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; empty lines are passed over.

    A line that is no JSON object raises `BadRecordError`, which names file and line; with `skip` it is left
    out, with `collect` it is also appended to `errors`.
    """
    if on_error not in _ON_ERROR:
        raise ArgumentError("on_error", on_error, f"expected one of {', '.join(_ON_ERROR)}.")
    if on_error == "collect" and errors is None:
        raise ArgumentError("errors", errors, "on_error='collect' needs a list to collect into.")
    return _records(os.fspath(path), on_error, errors, storage_options)


def _records(
    path: str, on_error: str, errors: list[BadRecord] | None, options: Mapping[str, Any] | None
) -> Iterator[dict[str, Any]]:
    name = without_secrets(path)
    with BlobFile(path, "rb", storage_options=options) as raw, plain(cast(BinaryIO, raw), name) as file:
        # Without a buffer, the lines of a compressed file would be read byte by byte.
        for number, line in enumerate(file if file is raw else io.BufferedReader(cast(Any, file), _PIECE), 1):
            if not line.strip():
                continue
            reason, value = _parsed(line)
            if not reason:
                yield value
            elif on_error == "raise":
                raise BadRecordError(name, number, reason)
            elif errors is not None:
                errors.append(BadRecord(name, number, line.decode("utf-8", "replace").rstrip("\r\n"), reason))


def _parsed(line: bytes) -> tuple[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}", None
    return ("" if isinstance(value, dict) else f"it is {type(value).__name__}, not an object"), value


def write_jsonl(
    path: Path,
    records: Iterable[Mapping[str, Any]],
    append: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Write objects as JSON lines, or append them; compressed if the name ends so. Returns how many.

    Times are written as ISO 8601, arrays as lists.
    """
    number, place, compression = 0, os.fspath(path), compression_named(path)
    # Behind a last line that does not end, the first record would become a part of it.
    end = b"\n" if compression is None else b""
    raw = _Written(place, "ab" if append else "wb", dict(storage_options or {}), end, is_direct=True)
    with raw, written_or_handed(cast(BinaryIO, raw), compression=compression) as file:
        for number, record in enumerate(records, 1):
            file.write(_line(record, f"Record {number} for {raw.name}"))
    return number


def _line(record: Any, name: str) -> bytes:
    if not isinstance(record, Mapping):
        raise InvalidRecordError(name, f"it is {type(record).__name__}, not an object")
    try:
        try:
            return f"{_encoded(record)}\n".encode()
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can only escape
            return f"{json.dumps(record, default=_plain)}\n".encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRecordError(name, f"{type(error).__name__}: {error}") from error


def _plain(value: Any) -> Any:
    """What JSON has for a value that is none of its own."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist"):  # of numpy, and whatever resembles it
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_encoded = json.JSONEncoder(ensure_ascii=False, default=_plain).encode  # json.dumps would make one for each record


def exists(path: Path, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether there is a file or folder."""
    place, address = local_path(path), os.fspath(path)
    if place is not None:
        return os.path.exists(place)
    try:
        if source_of(address) is SOURCES["cloud"]:
            cloud.found(address, storage_options or {})
            return True
        return bool(source_of(address).listed(address, storage_options or {}))
    except FileNotFoundError:
        return False


def stat(path: Path, storage_options: Mapping[str, Any] | None = None) -> Stat:
    """The size, the identity and the time of a file."""
    file = _found(os.fspath(path), storage_options or {})
    if file.size is None:
        raise DownloadError(file.url, "the server does not say how large it is.")
    return Stat(file.size, _identity(file), file.modified)


def glob(pattern: Path, storage_options: Mapping[str, Any] | None = None, *, parallel: bool = False) -> list[str]:
    """The addresses of the files and folders that a pattern matches: `*` within a name, `**` across folders.

    A pattern that ends with `/` matches folders. `parallel` has no effect; it is one of blobfile's parameters.
    """
    address, options = os.fspath(pattern), storage_options or {}
    try:
        if (place := local_path(pattern)) is not None:
            return _matched_here(place)
        if source_of(address) is SOURCES["cloud"]:
            return cloud.matched(address, options)
        if scheme_of(address) in _WEB or not is_pattern(address):
            return [address.rstrip("/")] if source_of(address).listed(address, options) else []
        return _matched_in_listing(address, options)
    except FileNotFoundError:
        return []


def _matched_here(place: str) -> list[str]:
    path = os.path.abspath(place)
    found = [path] if os.path.lexists(path) else patterns.glob(path, recursive=True)
    names = {os.path.abspath(name) for name in found if os.path.isdir(name) or not place.endswith("/")}
    return sorted(names - {os.path.abspath(folder_of(path) or "/")})


def _matched_in_listing(address: str, options: Mapping[str, Any]) -> list[str]:
    """What matches among the files below the folder of a pattern, and among their own folders."""
    base = folder_of(address)
    wanted = matching(address[len(base) :].strip("/"), is_pattern=True)
    found = set()
    for file in source_of(address).listed(base, options):
        root, names = file.url.removesuffix(file.path), file.path.split("/")
        whole = len(names) - address.endswith("/")
        paths = ("/".join(names[:depth]) for depth in range(1, whole + 1))
        found |= {f"{root}{path}" for path in paths if wanted.fullmatch(path)}
    return sorted(found)


def listdir(path: Path, storage_options: Mapping[str, Any] | None = None) -> list[str]:
    """The names in a folder."""
    address, options = os.fspath(path), storage_options or {}
    address = address if address.endswith("://") else address.rstrip("/")
    if _is_local_folder(path):
        return sorted(os.listdir(local_path(path)))
    if _source(address) is SOURCES["cloud"]:
        names = cloud.names_in(address, options)
        if names is None:
            raise IsAFileError(address)
        return names
    files = _source(address).listed(address, options)
    if len(files) == 1 and _is_at(files[0], address):
        raise IsAFileError(address)
    return sorted({file.path.partition("/")[0] for file in files})


def copy(
    source: Path,
    target: Path,
    storage_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = True,
    parallel: bool = False,
    return_md5: bool = False,
) -> str | None:
    """Copy a file from anywhere to anywhere; it appears whole. Returns its MD5 digest with `return_md5`.

    `storage_options` are those of both places, unless the target is another store: `target_options` are its own.
    An existing target is replaced, or an error without `overwrite`. `parallel`, of blobfile, has no effect.
    """
    options = storage_options if target_options is None else target_options
    if not overwrite and exists(target, options):
        raise FileExistsDatasetsError(os.fspath(target))
    digest = hashlib.md5(usedforsecurity=False)
    with (
        BlobFile(source, "rb", storage_options=storage_options) as reading,
        BlobFile(target, "wb", True, storage_options=options) as writing,
    ):
        while piece := reading.read(_PIECE):
            writing.write(piece)
            if return_md5:
                digest.update(piece)
    return digest.hexdigest() if return_md5 else None


def remove(path: Path, storage_options: Mapping[str, Any] | None = None) -> None:
    """Remove a file; of a link, the link and not what it leads to."""
    options, place = dict(storage_options or {}), local_path(path)
    if place is not None and os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        os.unlink(place)
        return
    _found(os.fspath(path), options)  # or an error that says what is there instead
    if os.fspath(path).startswith("hf://"):
        removed(os.fspath(path), options)
        return
    system, location = remote(path, options)
    with store_errors(os.fspath(path), options, writing=True):
        system.rm_file(location)
