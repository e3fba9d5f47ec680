"""Journals: append-only files of lines with checksums, which are on disk before `append` returns.

A journal has one writer, so no locks are needed. A crash can only damage lines that were not acknowledged; readers
skip lines whose checksum is wrong.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import xxhash

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_durable, storage_errors
from crucible_datasets.atomic.owners import is_abandoned, me
from crucible_datasets.forking import Lock
from crucible_datasets.logging import get_logger

_DIGEST = 16
_PARTS = 5  # parts of a journal's name: machine, process, its start time, thread, random
ENDING = ".jsonl"
_logger = get_logger(__name__)


def framed(text: bytes) -> bytes:
    """A line of a journal."""
    return xxhash.xxh3_64_hexdigest(text).encode() + b" " + text + b"\n"


def unframed(line: bytes) -> bytes | None:
    """The record in a line; None if the line is incomplete."""
    text = line[_DIGEST + 1 : -1]
    return text if line == framed(text) else None


class Journal:
    """The lines that this process appends to a folder: in its own file, and in a new one after a failure."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._segments: list[_Segment] = []
        self._beginning = Lock()

    def append(self, texts: Sequence[bytes], durable: bool = True) -> None:
        """Append texts; on return they are on disk. Concurrent threads share one fsync."""
        with storage_errors(self.folder):
            segment = self._segment()
            ticket = segment.write(b"".join(map(framed, texts)))
            if durable:
                segment.sync(ticket)

    def sync(self) -> None:
        """Flush everything that was appended to disk."""
        with storage_errors(self.folder):
            for segment in self._segments[-1:]:
                segment.sync(segment.written)

    def close(self) -> None:
        """Close the files; the next `append` begins another."""
        with self._beginning:
            for segment in self._segments:
                with suppress(OSError):  # all acknowledged lines have been synced
                    segment.file.close()
            self._segments = []

    def _segment(self) -> _Segment:
        with self._beginning:
            # After a failure the last line may be incomplete, so a new file is begun.
            if not self._segments or self._segments[-1].broken:
                name = f"{me()}-{threading.get_native_id()}-{os.urandom(4).hex()}{ENDING}"
                self._segments.append(_Segment(os.path.join(self.folder, name)))
                make_durable(self.folder)
            return self._segments[-1]


class _Segment:
    """One append-only file."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "xb", buffering=0)  # noqa: SIM115
        self.broken = False
        self.written = self._synced = 0
        self._writing, self._syncing = Lock(), Lock()

    def write(self, lines: bytes) -> int:
        """Write lines; returns the ticket that `sync` needs for them."""
        with self._writing, self._guarded():
            left = memoryview(lines)
            while left:
                left = left[self.file.write(left) :]
            self.written += 1
            return self.written

    def sync(self, ticket: int) -> None:
        """Sync the file, unless another thread has done so since the ticket."""
        with self._syncing, self._guarded():
            if self._synced < ticket:
                written = self.written
                os.fsync(self.file.fileno())
                self._synced = written

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO), self.file.name)
        try:
            yield
        except OSError:
            self.broken = True
            raise


def lines_in(folder: str) -> Iterator[bytes]:
    """Every complete line of every journal in a folder, writer by writer."""
    for path in journals_in(folder):
        yield from _lines_of(path)


def left_in(folder: str) -> list[str]:
    """The journals whose writers have ended."""
    return [path for path in journals_in(folder) if _is_left(path)]


def _is_left(path: str) -> bool:
    parts = os.path.basename(path).split("-")
    # A packed journal has no writer.
    return len(parts) != _PARTS or is_abandoned("-".join(parts[:3]), time.time() - os.stat(path).st_mtime)


def packed(folder: str, texts: Iterable[bytes], replaced: Sequence[str]) -> None:
    """Write texts as one journal, and remove the journals it replaces."""
    with (
        atomic_file(os.path.join(folder, f"packed{os.urandom(4).hex()}{ENDING}")) as temporary,
        open(temporary, "wb") as file,
    ):
        file.writelines(map(framed, texts))
    for path in replaced:
        with suppress(FileNotFoundError):  # another process does the same
            os.unlink(path)


def journals_in(folder: str) -> list[str]:
    """The journals of a folder, oldest first."""
    found = [entry for entry in os.scandir(folder) if entry.name.endswith(ENDING)]
    return [entry.path for entry in sorted(found, key=lambda entry: (entry.stat().st_ctime_ns, entry.name))]


def _lines_of(path: str) -> Iterator[bytes]:
    broken, text = 0, None
    with open(path, "rb") as file:
        for line in file:
            text = unframed(line)
            if text is None:
                broken += 1
            else:
                yield text
    # A killed writer leaves an incomplete last line, which was never acknowledged.
    if broken > (text is None):
        _logger.warning("%s: %d incomplete lines were skipped.", path, broken)
