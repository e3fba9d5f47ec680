"""The bytes of a stream from front to back, in pieces of any size, read in large ones."""

from __future__ import annotations

import io
from typing import BinaryIO

from crucible_datasets.exceptions import FileFormatError

CHUNK = 1 << 20
_AFTER_A_JUMP = 1 << 14  # what is read first where others were passed over: the next member may be as long
_WORTH_A_JUMP = 1 << 17  # bytes of a file on this disk; elsewhere a jump is another request
_PIECE = 16 << 20  # what a header that lies about a size can make us ask for at once


class Window:
    """A place in a stream: byte `at` of the `data` at hand, which begins at byte `base` of the file."""

    __slots__ = ("_far", "_next", "_stream", "at", "base", "data", "path")

    def __init__(self, stream: BinaryIO, path: str, start: int = 0) -> None:
        self._stream, self.path = stream, path
        self.data, self.at, self.base = b"", 0, 0
        self._far = _WORTH_A_JUMP if isinstance(getattr(stream, "raw", None), io.FileIO) else CHUNK
        self._next = CHUNK
        if start:
            self.skip(start)

    @property
    def position(self) -> int:
        """The byte that comes next."""
        return self.base + self.at

    def at_most(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are."""
        start = self.at
        if start + size > len(self.data):
            self._fill(size)
            start = 0
        data = self.data[start : start + size]
        self.at = start + len(data)
        return data

    def take(self, size: int, member: str | None = None, padding: int = 0) -> bytes:
        """The next `size` bytes, of a member or else of a header, without `padding` behind them."""
        start = self.at
        stop = start + size
        if stop + padding > len(self.data):
            self._require(size + padding, member)
            start, stop = 0, size
        self.at = stop + padding
        return self.data[start:stop]

    def skip(self, size: int, member: str | None = None) -> None:
        """Go on behind the next `size` bytes; where the stream can seek, they are not read."""
        if self.at + size <= len(self.data):
            self.at += size
            return
        left = size - (len(self.data) - self.at)
        self.base += len(self.data)
        self.data, self.at = b"", 0
        if left > self._far and self._stream.seekable():
            self._next = _AFTER_A_JUMP
            # The last byte is read, because seeking beyond the end is no error.
            self.base += left - 1
            self._stream.seek(self.base)
            left = 1
        while left:
            left -= len(self.take(min(left, CHUNK), member))

    def _fill(self, size: int) -> None:
        """Have `size` bytes at hand, if there are as many."""
        parts = [self.data[self.at :]]
        missing = size - len(parts[0])
        while missing > 0 and (data := self._stream.read(max(self._next, min(missing, _PIECE)))):
            parts.append(data)
            missing -= len(data)
            self._next = min(2 * self._next, CHUNK)
        self.base += self.at
        self.data, self.at = b"".join(parts), 0

    def _require(self, size: int, member: str | None) -> None:
        self._fill(size)
        if len(self.data) < size:
            what = "a header" if member is None else f"member {member!r}"
            raise FileFormatError(self.path, f"the archive breaks off in {what}", None, self.base + len(self.data))
