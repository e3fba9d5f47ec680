"""`ShardWriter`: samples → tar shards. A shard appears at its path when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.formats.parquet import byte_count
from crucible_datasets.formats.webdataset.tarbytes import end_of, ended_size, member_parts
from crucible_datasets.logging import get_logger
from crucible_datasets.ops.destination import Path, StorageOptions, local_path, written_or_handed
from crucible_datasets.ops.webdataset.naming import Pattern, require_key
from crucible_datasets.ops.webdataset.values import UnwritableError, content_of

logger = get_logger(__name__)

_AT_ONCE = 1 << 20
_DIGITS = 9


class ShardWriter:
    """Writes samples to shards of at most `max_shard_size` bytes or `max_shard_rows` samples.

    Use it in a `with` block: after an error, finished shards are kept, and the current one is removed. The same
    samples give the same bytes. `paths` are the finished shards.
    """

    def __init__(
        self,
        path: Path,
        max_shard_size: str | int | None = None,
        max_shard_rows: int | None = None,
        storage_options: StorageOptions = None,
    ) -> None:
        self._pattern = Pattern.of(path)
        self._most_bytes = _most_bytes(max_shard_size, self._pattern)
        self._most_rows = max_shard_rows
        if max_shard_rows is not None and max_shard_rows < 1:
            raise ArgumentError("max_shard_rows", max_shard_rows, "expected at least 1.")
        self._options = storage_options
        self.paths: list[str] = []
        self.rows = 0  # number of samples written
        self._place: AbstractContextManager[BinaryIO] | None = None
        self._stream: Any = None
        self._size = self._rows_here = self._pending_bytes = 0
        self._pending: list[bytes] = []
        self._keys: set[str] = set()
        self._closed = False

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._give_up(error)

    def write(self, sample: Mapping[str, Any]) -> None:
        """Write a sample: its files by extension, and its key as `__key__`, else a number.

        Bytes are written unchanged, other values in the format of the extension. None has no file.
        """
        row = self.rows
        key = require_key(sample["__key__"], row) if "__key__" in sample else f"{row:0{_DIGITS}d}"
        files = [
            (name, _content(value, name, row))
            for name, value in sample.items()
            if value is not None and not (name.startswith("__") and name.endswith("__"))
        ]
        self.add(key, files)

    def add(self, key: str, files: Iterable[tuple[str, bytes]]) -> None:
        """Write the files of a sample with a checked key, given as suffixes and contents."""
        parts: list[bytes] = []
        for name, content in files:
            parts += member_parts(f"{key}.{name}", content)
        if not parts:
            raise ValueTypeError(None, self.rows, "a row of nulls", "a sample", "a sample has at least one file.")
        size = sum(map(len, parts))
        if self._rows_here and not self._has_room(size):
            self.finish_shard()
        if self._stream is None:
            self._begin()
        self._require_new(key)
        self._pending += parts
        self._pending_bytes += size
        self._size += size
        self._rows_here += 1
        self.rows += 1
        if self._pending_bytes >= _AT_ONCE:
            self._flush()

    def finish_shard(self) -> None:
        """Finish the current shard, if any; it appears at its path."""
        if self._stream is None:
            return
        self._pending.append(end_of(self._size))
        self._flush()
        assert self._place is not None
        place, self._place, self._stream = self._place, None, None
        place.__exit__(None, None, None)
        self.paths.append(self._pattern.path(len(self.paths)))

    def close(self) -> None:
        """Finish the last shard; if nothing was written, an empty archive."""
        if self._closed:
            return
        if not self.paths and self._stream is None:
            self._begin()
        self.finish_shard()
        self._closed = True
        self._warn_of_older_shards()

    def _warn_of_older_shards(self) -> None:
        """Warn of other files that match the pattern, which readers would take for shards of this dataset."""
        following = local_path(self._pattern.path(len(self.paths))) if self._pattern.has_number else None
        if following is not None and os.path.exists(following):
            logger.warning("%s is of an earlier run, and not replaced by this one.", following)

    def _has_room(self, size: int) -> bool:
        if self._most_rows is not None and self._rows_here >= self._most_rows:
            return False
        return self._most_bytes is None or ended_size(self._size + size) <= self._most_bytes

    def _begin(self) -> None:
        if self._closed:
            raise ArgumentError("path", self._pattern.text, "the writer is closed.")
        path = self._pattern.path(len(self.paths))
        compression = "gzip" if path.endswith(".tgz") else "infer"
        self._place = written_or_handed(path, self._options, compression)
        self._stream = self._place.__enter__()
        self._size = self._rows_here = 0
        self._keys = set()

    def _require_new(self, key: str) -> None:
        if key in self._keys:
            reason = "another sample of the shard has this key, and their files would become one sample."
            raise ValueTypeError("__key__", self.rows, repr(key), "a key of a sample", reason)
        self._keys.add(key)

    def _flush(self) -> None:
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        self._stream.write(b"".join(pending))

    def _give_up(self, error: BaseException) -> None:
        """Remove the current shard."""
        self._closed = True
        place, self._place, self._stream = self._place, None, None
        if place is not None:
            place.__exit__(type(error), error, error.__traceback__)


def _most_bytes(size: str | int | None, pattern: Pattern) -> int | None:
    """The maximal size of a shard; unlimited for a path without number."""
    if size is None and not pattern.has_number:
        return None
    most = byte_count(config.MAX_SHARD_SIZE if size is None else size)
    if most < 1:
        raise ArgumentError("max_shard_size", size, "expected a size above 0.")
    return most


def _content(value: Any, name: str, row: int) -> bytes:
    if os.sep in name or name.startswith(".") or not name:
        raise ValueTypeError(name, row, "its name", "an extension", "a file ends with it, as in 'jpg' or 'seg.png'.")
    try:
        return content_of(value, name)
    except UnwritableError as error:
        raise ValueTypeError(name, row, "the value", f".{name}", str(error)) from error
