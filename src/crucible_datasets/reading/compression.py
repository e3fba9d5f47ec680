"""Compressed bytes → bytes: gz, bz2, xz, zst and lz4, told apart by their first bytes.

A stream that breaks off or is damaged gives what could be read and then a `FileFormatError`
with the place in the compressed file. Several streams one after the other are one, and
zeros at the end, as tapes leave them, are nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Protocol, cast

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.streams import PIECE, Budget, PieceStream, Step, up_to_fault

EXTENSIONS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst", ".lz4": "lz4"}
_MAGIC = {
    "gz": b"\x1f\x8b\x08",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
    "lz4": b"\x04\x22\x4d\x18",
}
_BZ2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")
MAGIC_LENGTH = 10
_CHUNK = 128 << 10
_ARROW_NAMES = {"zst": "zstd", "lz4": "lz4"}


def compression_of(start: bytes) -> str | None:
    """How data is compressed that starts with these bytes."""
    kind = next((kind for kind, magic in _MAGIC.items() if start.startswith(magic)), None)
    # Three letters can begin a text; ten bytes do not.
    return None if kind == "bz2" and not start[4:10].startswith(_BZ2_BLOCKS) else kind


def named_compression(path: str) -> tuple[str, str | None]:
    """A file's name without the extension of its compression, and that compression."""
    for extension, kind in EXTENSIONS.items():
        if path.lower().endswith(extension):
            return path[: -len(extension)], kind
    return path, None


def decompressed(source: BinaryIO, kind: str, name: str, budget: Budget) -> BinaryIO:
    """The bytes of a compressed stream. `name` is for messages; `budget` says how many bytes may come out."""
    if source.seekable():
        pieces = up_to_fault(partial(_pieces, source, kind, name, source.tell()))
    else:
        pieces = _pieces(source, kind, name, 0, lambda done: PIECE)
    return cast(BinaryIO, PieceStream(pieces, name, budget))


def _pieces(source: BinaryIO, kind: str, name: str, start: int, step: Step) -> Iterator[bytes]:
    """The decoded bytes from the position of a source."""
    if source.seekable():
        source.seek(start)
    return _from_arrow(source, kind, name, step) if kind in _ARROW_NAMES else _from_decoder(source, kind, name, step)


@contextmanager
def plain(source: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """The bytes of a source without its compression, if its first bytes tell of one."""
    kind = compression_of(source.read(MAGIC_LENGTH))
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    if kind is None:
        yield source
        return
    with decompressed(source, kind, path, Budget(path, size)) as stream:
        yield stream


def require_complete(start: bytes, path: str) -> None:
    """Refuse a file whose name says that it is compressed and which ends before its first bytes could say so."""
    _, kind = named_compression(path)
    if kind is None or compression_of(start) is not None:
        return
    is_begun_bz2 = kind == "bz2" and start.startswith(_MAGIC[kind]) and len(start) < MAGIC_LENGTH
    if is_begun_bz2 or _MAGIC[kind].startswith(start):
        raise FileFormatError(path, f"the {kind} data breaks off", None, len(start))


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _GzipDecoder:
    """zlib with the interface of its siblings.

    A single byte is decoded from single bytes, since the call that gives the last one would check the checksum as well.
    """

    def __init__(self) -> None:
        import zlib

        with_gzip_header = 16
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | with_gzip_header)
        self._rest = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return bytes(self._rest)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._rest = memoryview(bytes(self._rest) + data)
        given = self._rest[:1] if max_length == 1 else self._rest
        piece = self._zlib.decompress(given, max_length)
        # At the end of a member both may hold what follows.
        left = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
        self._rest = self._rest[len(given) - len(left) :]
        return piece


def _bz2() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Any:
    import lzma

    # A header of 32 bytes can ask for a dictionary of 4 GiB.
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=config.MAX_UNPACKED_BYTES_AT_ANY_RATIO)


_DECODERS: dict[str, Callable[[], _Decoder]] = {"gz": _GzipDecoder, "bz2": _bz2, "xz": _xz}


def _damage_kinds() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    return zlib.error, lzma.LZMAError, OSError, EOFError, ValueError


def _from_decoder(source: BinaryIO, kind: str, name: str, step: Step) -> Iterator[bytes]:
    decoder, taken, given, ended = _DECODERS[kind](), 0, b"", False
    done = 0
    while True:
        if not given and decoder.needs_input:
            given = source.read(_CHUNK)
            taken += len(given)
            ended = not given
        try:
            piece = decoder.decompress(given, step(done))
        except _damage_kinds() as error:
            raise _damage(error, kind, name, taken) from error
        given = b""
        done += len(piece)
        if piece:
            yield piece
        elif ended and not decoder.eof:
            raise FileFormatError(name, f"the {kind} data breaks off", None, taken)
        if decoder.eof:
            given, skipped = _after_zeros(decoder.unused_data, source)
            taken += skipped
            if not given:
                return
            if not given.startswith(_MAGIC[kind][: len(given)]):
                raise FileFormatError(name, f"there is something else after the {kind} data", None, taken - len(given))
            decoder, ended = _DECODERS[kind](), False


def _after_zeros(rest: bytes, source: BinaryIO) -> tuple[bytes, int]:
    """What follows the zeros at the end of a stream, and how many bytes were read to find it."""
    read = 0
    while not (rest := rest.lstrip(b"\0")):
        rest = source.read(_CHUNK)
        read += len(rest)
        if not rest:
            break
    return rest, read


def _damage(error: Exception, kind: str, name: str, offset: int) -> Exception:
    import lzma

    if isinstance(error, lzma.LZMAError) and "limit" in str(error):
        limit, setting = config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, "config.MAX_UNPACKED_BYTES_AT_ANY_RATIO"
        return LimitExceededError(name, "the memory that its xz data asks for", limit, setting)
    return FileFormatError(name, f"the {kind} data is damaged: {error}", None, offset)


def _from_arrow(source: BinaryIO, kind: str, name: str, step: Step) -> Iterator[bytes]:
    import pyarrow as pa

    counted, done = _Counted(source), 0
    with pa.CompressedInputStream(pa.PythonFile(counted, mode="r"), _ARROW_NAMES[kind]) as stream:
        while True:
            try:
                piece = stream.read(step(done))
            except (OSError, ValueError) as error:
                reason = "breaks off" if "Truncated" in str(error) else f"is damaged: {error}"
                raise FileFormatError(name, f"the {kind} data {reason}", None, counted.taken) from error
            if not piece:
                return
            done += len(piece)
            yield piece


class _Counted:
    """A source that knows how much was read from it, and stays open when its reader is closed."""

    closed = False

    def __init__(self, source: BinaryIO) -> None:
        self._source, self.taken = source, 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self.taken += len(data)
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None: ...
