"""Parts of one open file as streams, and bytes put aside in such a file until they are read."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO, cast

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.streams import PIECE, PieceStream

_IN_MEMORY = 32 << 20
Extent = tuple[int, int]


class SharedFile:
    """An open file that several threads read different parts of."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lock = threading.Lock()

    def stream(self, extents: Sequence[Extent], name: str) -> BinaryIO:
        """Parts of the file, one after the other."""
        return cast(BinaryIO, PieceStream(self._pieces(extents, name), name))

    def _pieces(self, extents: Sequence[Extent], name: str) -> Iterator[bytes]:
        for start, stop in extents:
            for position in range(start, stop, PIECE):
                with self._lock:
                    self._file.seek(position)
                    piece = self._file.read(min(PIECE, stop - position))
                yield piece
                if len(piece) < min(PIECE, stop - position):
                    raise FileFormatError(name, "it breaks off", None, position + len(piece))

    def close(self) -> None:
        self._file.close()


class Spool(SharedFile):
    """A file without a name, in memory while it is small."""

    def __init__(self) -> None:
        super().__init__(cast(IO[bytes], tempfile.SpooledTemporaryFile(_IN_MEMORY)))  # noqa: SIM115 - see `close`
        self._end = 0

    def append(self, data: bytes) -> Extent:
        """Put bytes aside; where they start and stop."""
        with self._lock:
            start = self._end
            self._file.seek(start)
            self._file.write(data)
            self._end += len(data)
            return start, self._end
