"""Lines that survive: each carries its digest, and is on the disk before `append` returns.

A journal belongs to one writer, so nothing is ever locked. A crash can only leave lines that no
writer was told to be safe; their digest is wrong, and readers pass over them.
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
_PARTS = 5  # of a journal's name: machine, process, its start, thread, chance
ENDING = ".jsonl"
_logger = get_logger(__name__)


def framed(text: bytes) -> bytes:
    """A line of a journal."""
    return xxhash.xxh3_64_hexdigest(text).encode() + b" " + text + b"\n"


def unframed(line: bytes) -> bytes | None:
    """The record in a line, or None when the line is not whole."""
    text = line[_DIGEST + 1 : -1]
    return text if line == framed(text) else None


class Journal:
    """The lines that this process adds to a folder of many writers: a file of its own, another one after a failure."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._segments: list[_Segment] = []
        self._beginning = Lock()

    def append(self, texts: Sequence[bytes], durable: bool = True) -> None:
        """Keep texts; on return they are on the disk. Threads that wait at the same time share one wait."""
        with storage_errors(self.folder):
            segment = self._segment()
            ticket = segment.write(b"".join(map(framed, texts)))
            if durable:
                segment.sync(ticket)

    def sync(self) -> None:
        """Have the disk hold whatever was appended."""
        with storage_errors(self.folder):
            for segment in self._segments[-1:]:
                segment.sync(segment.written)

    def close(self) -> None:
        """Let go of the files; the next `append` begins another."""
        with self._beginning:
            for segment in self._segments:
                with suppress(OSError):  # whatever was promised was synced
                    segment.file.close()
            self._segments = []

    def _segment(self) -> _Segment:
        with self._beginning:
            # After a failure half a line may be there: it stays the last one of its file.
            if not self._segments or self._segments[-1].broken:
                name = f"{me()}-{threading.get_native_id()}-{os.urandom(4).hex()}{ENDING}"
                self._segments.append(_Segment(os.path.join(self.folder, name)))
                make_durable(self.folder)
            return self._segments[-1]


class _Segment:
    """One file that only grows."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "xb", buffering=0)  # noqa: SIM115
        self.broken = False
        self.written = self._synced = 0
        self._writing, self._syncing = Lock(), Lock()

    def write(self, lines: bytes) -> int:
        """Write lines, and give the number up to which the file must be synced for them to be safe."""
        with self._writing, self._guarded():
            left = memoryview(lines)
            while left:
                left = left[self.file.write(left) :]
            self.written += 1
            return self.written

    def sync(self, ticket: int) -> None:
        """Wait for the disk, unless another thread has done so meanwhile."""
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
    """Every whole line of every journal in a folder, one writer after the other."""
    for path in journals_in(folder):
        yield from _lines_of(path)


def left_in(folder: str) -> list[str]:
    """The journals that nobody writes to any more."""
    return [path for path in journals_in(folder) if _is_left(path)]


def _is_left(path: str) -> bool:
    parts = os.path.basename(path).split("-")
    # One that was packed is not written to at all.
    return len(parts) != _PARTS or is_abandoned("-".join(parts[:3]), time.time() - os.stat(path).st_mtime)


def packed(folder: str, texts: Iterable[bytes], replaced: Sequence[str]) -> None:
    """Write texts as one journal in the place of several whose writers are gone."""
    with (
        atomic_file(os.path.join(folder, f"packed{os.urandom(4).hex()}{ENDING}")) as temporary,
        open(temporary, "wb") as file,
    ):
        file.writelines(map(framed, texts))
    for path in replaced:
        with suppress(FileNotFoundError):  # another one was at it too
            os.unlink(path)


def journals_in(folder: str) -> list[str]:
    """The journals of a folder, the oldest first."""
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
    # Half a line at the end is what a writer leaves that was killed, before it acknowledged anything.
    if broken > (text is None):
        _logger.warning("%s: %d lines are not whole and were passed over.", path, broken)
