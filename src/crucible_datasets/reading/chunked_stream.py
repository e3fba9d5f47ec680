"""Bytes that are produced piece by piece, as a stream that pyarrow and Python's own readers take.

Whatever was produced before an error is read first; the error comes with the read after it.
A `Budget` counts what is produced, so that a small file cannot become a huge one.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError

PIECE = 256 << 10


class Budget:
    """How many bytes a file may unpack to, given its size; shared by all that comes out of that file."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.allowed = max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, size * config.MAX_UNPACKED_RATIO)
        self.spent = 0

    def spend(self, count: int) -> None:
        """Count bytes that were produced, or refuse."""
        self.spent += count
        self.require(self.spent)

    def require(self, count: int) -> None:
        """Refuse a number of bytes that is too much as a whole."""
        if count > self.allowed:
            what = f"unpacked, it is more than {config.MAX_UNPACKED_RATIO} times its size and"
            raise LimitExceededError(self.path, what, self.allowed, "config.MAX_UNPACKED_RATIO")


class PieceStream(io.BufferedIOBase):
    """The pieces of an iterator as one stream."""

    def __init__(self, pieces: Iterator[bytes], name: str, budget: Budget | None = None) -> None:
        self._pieces, self._budget = pieces, budget
        self.name = name
        self._ready = memoryview(b"")
        self._position = 0
        self._failure: FileFormatError | None = None

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        wanted = -1 if size is None else size
        parts: list[memoryview] = []
        while wanted != 0 and self._fill(quietly=bool(parts)):
            part = self._ready if wanted < 0 else self._ready[:wanted]
            self._ready = self._ready[len(part) :]
            parts.append(part)
            wanted -= len(part) if wanted > 0 else 0
        return self._taken(b"".join(parts))

    def read1(self, size: int = -1) -> bytes:
        if size == 0 or not self._fill():
            return b""
        part = self._ready if size < 0 else self._ready[:size]
        self._ready = self._ready[len(part) :]
        return self._taken(bytes(part))

    def peek(self, size: int = 0) -> bytes:
        """Bytes that the next read gives, at least one of them before the end."""
        return bytes(self._ready) if self._fill() else b""

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            close = getattr(self._pieces, "close", None)
            if close is not None:
                close()
            self._ready = memoryview(b"")
        super().close()

    def _taken(self, data: bytes) -> bytes:
        self._position += len(data)
        return data

    def _fill(self, quietly: bool = False) -> bool:
        """Have a byte ready, if there is one more; an error waits while there is something to give."""
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        if self._failure is not None and not quietly:
            raise self._failure
        try:
            while not self._ready and self._failure is None:
                piece = next(self._pieces)
                if self._budget is not None:
                    self._budget.spend(len(piece))
                self._ready = memoryview(piece)
        except StopIteration:
            return False
        except FileFormatError as error:
            self._failure = error
            if not quietly:
                raise
        return bool(self._ready)
