"""Files anywhere by one set of calls: this disk, web servers, the Hub, S3, GCS, Azure and whatever fsspec knows.

Written so that code for `blobfile` ports by one import: `from crucible_datasets.storage import BlobFile`.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, BinaryIO, cast

from crucible_datasets.exceptions import ArgumentError, BadRecordError, DataFilesNotFoundError, DownloadError
from crucible_datasets.ops.destination import local_path, remote, written
from crucible_datasets.sources.base import SourceFile, scheme_of, source_of
from crucible_datasets.sources.hub.uploads import removed
from crucible_datasets.sources.store_errors import store_errors

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


@dataclass(frozen=True)
class Stat:
    """What is known of a file: its bytes, and an identity that changes with its content."""

    size: int
    identity: str


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
    streaming: bool = True,
    *,
    encoding: str = "utf-8",
    newline: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> IO[Any]:
    """Open a file anywhere, as text or with `b` as bytes.

    With `streaming`, bytes are read where they are; without, the file comes to this disk first. What is
    written appears whole when the file is closed, and not at all when a `with` block ends by an error.
    """
    if mode not in _MODES:
        raise ArgumentError("mode", mode, f"expected one of {', '.join(_MODES)}.")
    options = dict(storage_options or {})
    if mode.startswith("r"):
        raw: Any = _reading(os.fspath(path), streaming, options)
    else:
        raw = _Written(os.fspath(path), options, b"" if mode.startswith("a") else None)
    if mode.endswith("b"):
        return raw
    return _Text(raw, encoding=encoding, newline=newline)


BlobFile = open  # the name that the package blobfile gives it


def _reading(path: str, streaming: bool, options: dict[str, Any]) -> BinaryIO:
    file, source = _found(path, options), source_of(path)
    if streaming:
        return source.opened(file, options)
    return builtins.open(source.fetched([file], options)[0], "rb")


def _found(path: str, options: Mapping[str, Any]) -> SourceFile:
    """The one file at an address."""
    files = [] if _is_local_folder(path) else source_of(path).listed(path, options)
    if len(files) != 1 or not _is_at(files[0], path):
        raise DataFilesNotFoundError(path, "it is a folder, not a file.")
    return files[0]


def _is_local_folder(path: Path) -> bool:
    place = local_path(path)
    return place is not None and os.path.isdir(place)


def _is_at(file: SourceFile, path: str) -> bool:
    """Whether a file that was listed is what the address names, and not in it; web servers list nothing else."""
    name = path.partition("::")[0].rstrip("/").rpartition("/")[2]
    return not file.is_below and (file.path == name or scheme_of(path) in {"http", "https"})


class _Written(io.BufferedIOBase):
    """Bytes that appear at their place when the file is closed well."""

    def __init__(self, path: str, options: dict[str, Any], after: bytes | None) -> None:
        self.name, self._stack, self._options = path, ExitStack(), options
        self._stream = self._stack.enter_context(written(path, options, after))

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if local_path(self.name) is not None:
            return self._stream.write(data)
        with store_errors(self.name, self._options, writing=True):
            return self._stream.write(data)

    def tell(self) -> int:
        return self._stream.tell()

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
        if error is not None:
            self.discard(kind, error, trace)
        self.close()


class _Text(io.TextIOWrapper):
    """Text over bytes that are thrown away when the block ends by an error."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        raw: Any = self.buffer
        if error is not None and isinstance(raw, _Written):
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
    with BlobFile(path, "rb", storage_options=storage_options) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            reason, value = _parsed(line)
            if not reason:
                yield value
            elif on_error == "raise":
                raise BadRecordError(os.fspath(path), number, reason)
            elif errors is not None:
                errors.append(BadRecord(os.fspath(path), number, line.decode("utf-8", "replace").rstrip("\n"), reason))


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
    """Write objects as JSON lines, or append them. Returns how many."""
    number = 0
    # Behind a last line that does not end, the first record would become a part of it.
    raw = _Written(os.fspath(path), dict(storage_options or {}), b"\n" if append else None)
    with _Text(cast(BinaryIO, raw), encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            number += 1
    return number


def exists(path: Path, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether there is a file or folder."""
    place = local_path(path)
    if place is not None:
        return os.path.exists(place)
    try:
        return bool(source_of(os.fspath(path)).listed(os.fspath(path), storage_options or {}))
    except FileNotFoundError:
        return False


def stat(path: Path, storage_options: Mapping[str, Any] | None = None) -> Stat:
    """The size and the identity of a file."""
    file = _found(os.fspath(path), storage_options or {})
    if file.size is None:
        raise DownloadError(file.url, "the server does not say how large it is.")
    return Stat(file.size, "-".join(str(part) for part in file.identity[1:]) or str(file.identity[0]))


def glob(pattern: Path, storage_options: Mapping[str, Any] | None = None) -> list[str]:
    """The addresses of the files that a pattern matches: `*` within a name, `**` across folders."""
    try:
        return [file.url for file in source_of(os.fspath(pattern)).listed(os.fspath(pattern), storage_options or {})]
    except FileNotFoundError:
        return []


def listdir(path: Path, storage_options: Mapping[str, Any] | None = None) -> list[str]:
    """The names in a folder."""
    address = os.fspath(path)
    address = address if address.endswith("://") else address.rstrip("/")
    if _is_local_folder(path):
        return sorted(os.listdir(local_path(path)))
    files = source_of(address).listed(address, storage_options or {})
    if len(files) == 1 and _is_at(files[0], address):
        raise DataFilesNotFoundError(address, "it is a file, not a folder.")
    return sorted({file.path.partition("/")[0] for file in files})


def copy(
    source: Path,
    target: Path,
    storage_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> None:
    """Copy a file from anywhere to anywhere; it appears whole.

    `storage_options` are those of both places, unless the target is another store: `target_options` are its own.
    """
    options = storage_options if target_options is None else target_options
    with (
        BlobFile(source, "rb", storage_options=storage_options) as reading,
        BlobFile(target, "wb", storage_options=options) as writing,
    ):
        shutil.copyfileobj(reading, writing, 4 << 20)


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
