"""Sequential, buffered reading of a stream."""

from __future__ import annotations

import io
from typing import BinaryIO

from crucible_datasets.exceptions import FileFormatError

CHUNK = 1 << 20
_FIRST_READ = 1 << 14  # bytes read after a seek: the next member may be skipped as well
_SEEK_LOCAL = 1 << 17  # skipped bytes from which seeking in a local file is faster; a remote seek is another request
_PIECE = 16 << 20  # bytes requested at once, so that a false size in a header allocates no more


class Window:
    """A position in a stream: byte `at` of the buffer `data`, which begins at offset `base` of the file."""

    __slots__ = ("_far", "_next", "_stream", "at", "base", "data", "path")

    def __init__(self, stream: BinaryIO, path: str, start: int = 0) -> None:
        self._stream, self.path = stream, path
        self.data, self.at, self.base = b"", 0, 0
        self._far = _SEEK_LOCAL if isinstance(getattr(stream, "raw", None), io.FileIO) else CHUNK
        self._next = CHUNK
        if start:
            self.skip(start)

    @property
    def position(self) -> int:
        """The offset of the next byte."""
        return self.base + self.at

    def at_most(self, size: int) -> bytes:
        """The next `size` bytes, or fewer at the end."""
        data = self.data[self.at : self.at + size]
        if len(data) < size:
            return self._across(data, size)
        self.at += size
        return data

    def take(self, size: int, member: str | None = None, padding: int = 0) -> bytes:
        """The next `size` bytes, of the content of `member` or of a header; `padding` bytes behind them are skipped."""
        data = self.at_most(size)
        if len(data) < size:
            what = "a header" if member is None else f"member {member!r}"
            raise FileFormatError(self.path, f"the archive breaks off in {what}", None, self.position)
        self.skip(padding, member)
        return data

    def skip(self, size: int, member: str | None = None) -> None:
        """Skip the next `size` bytes; a seekable stream does not read them."""
        if self.at + size <= len(self.data):
            self.at += size
            return
        left = size - (len(self.data) - self.at)
        self.base += len(self.data)
        self.data, self.at = b"", 0
        if left > self._far and self._stream.seekable():
            self._next = _FIRST_READ
            # The last byte is read, because seeking beyond the end does not fail.
            self.base += left - 1
            self._stream.seek(self.base)
            left = 1
        while left:
            left -= len(self.take(min(left, CHUNK), member))

    def _across(self, begun: bytes, size: int) -> bytes:
        """Up to `size` bytes that begin with `begun`, the rest of the buffer; reads new data into the buffer."""
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
