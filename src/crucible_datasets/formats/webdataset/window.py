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
        data = self.data[self.at : self.at + size]
        if len(data) < size:
            return self._across(data, size)
        self.at += size
        return data

    def take(self, size: int, member: str | None = None, padding: int = 0) -> bytes:
        """The next `size` bytes, of a member or else of a header, without `padding` behind them."""
        data = self.at_most(size)
        if len(data) < size:
            what = "a header" if member is None else f"member {member!r}"
            raise FileFormatError(self.path, f"the archive breaks off in {what}", None, self.position)
        self.skip(padding, member)
        return data

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

    def _across(self, begun: bytes, size: int) -> bytes:
        """As many as `size` bytes, the first of which are all that was at hand; what is read last is at hand then."""
        parts, missing = [begun], size - len(begun)
        self.base += len(self.data)
        self.data, self.at = b"", 0
        while missing > 0 and (data := self._stream.read(max(self._next, min(missing, _PIECE)))):
            self.base += len(self.data)
            self.data, self.at = data, min(missing, len(data))
            parts.append(data[:missing])
            missing -= len(data)
            self._next = min(2 * self._next, CHUNK)
        return b"".join(parts)
