"""A remote file that is read by ranges."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from typing import BinaryIO, cast

from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.sources.fetching import Expected

Ranges = Callable[[int, int], Iterator[bytes]]  # the bytes from start to stop, in chunks
_BUFFER = 1 << 16
_MOST_AHEAD = 8 << 20


class RangedFile(io.RawIOBase):
    """Seekable and read-only. A sequential read continues on the same connection."""

    def __init__(self, ranges: Ranges, size: int, name: str) -> None:
        self._ranges, self._size, self.name = ranges, size, name
        self._at = 0
        self._stream: Iterator[bytes] | None = None
        self._stream_at, self._left, self._jumped_to = 0, b"", 0
        self.wanted_until = 0  # the end of the current `read`, which may take several calls of `readinto`

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def close(self) -> None:
        """Close the connection too: a stored traceback may keep the generator alive."""
        if isinstance(self._stream, Generator):
            self._stream.close()
        self._stream = None
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        if self._stream is None or self._stream_at != self._at:
            self._request(wanted)
        assert self._stream is not None
        piece = self._left or next(self._stream, b"")
        if not piece:
            self._stream = None
            return self.readinto(buffer)
        taken = piece[:wanted]
        buffer[: len(taken)] = taken
        self._left = piece[len(taken) :]
        self._at = self._stream_at = self._at + len(taken)
        return len(taken)

    def _request(self, wanted: int) -> None:
        """Request a range: only what is wanted after a seek; as much again once a buffer was read sequentially."""
        if self._at != self._stream_at:
            self._jumped_to = self._at
        gone = self._at - self._jumped_to
        ahead = min(gone, _MOST_AHEAD) if gone >= _BUFFER else 0
        stop = min(self._size, max(self._at + max(wanted, ahead), self.wanted_until))
        self._stream, self._stream_at, self._left = self._ranges(self._at, stop), self._at, b""


class _Buffered(io.BufferedReader):
    """Announces the length of a read, so that one request covers it: its end would take a second one."""

    raw: RangedFile

    def read(self, size: int | None = -1, /) -> bytes:
        self.raw.wanted_until = self.tell() + size if size is not None and size > 0 else 0
        try:
            return super().read(size)
        finally:
            self.raw.wanted_until = 0  # reads of other kinds, such as of lines, say nothing


def ranged(ranges: Ranges, size: int, name: str) -> BinaryIO:
    """A buffered file over ranges."""
    return cast(BinaryIO, _Buffered(RangedFile(ranges, size, name), _BUFFER))


class Verified:
    """Ranges of a file with known hashes: a sequential read from start to end raises at the end if a hash is wrong.

    Reads at random positions, as of a Parquet file, cannot be verified.
    """

    def __init__(self, ranges: Ranges, expected: Expected, name: str) -> None:
        self._ranges, self._size, self._name = ranges, expected.size, name
        self._hashes, self._hashed = expected.hashes(), 0

    def __call__(self, start: int, stop: int) -> Iterator[bytes]:
        for piece in self._ranges(start, stop):
            self._take(start, piece)
            start += len(piece)
            yield piece

    def _take(self, start: int, piece: bytes) -> None:
        """Hash bytes that follow those already hashed; a reader may read the first ones twice."""
        if not start <= self._hashed < start + len(piece):
            return
        new = memoryview(piece)[self._hashed - start :]
        self._hashed += len(new)
        for kind, digest, stated in self._hashes:
            digest.update(new)
            if self._hashed == self._size and digest.hexdigest() != stated:
                raise ContentMismatchError(self._name, f"{kind} {stated}", digest.hexdigest())
