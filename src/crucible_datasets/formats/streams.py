"""Byte streams of formats: names, encodings, and blocks of whole lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from crucible_datasets.exceptions import ArgumentError, DatasetsError, FileFormatError, LimitExceededError

BLOCK = 10 << 20
LONGEST_LINE = 1 << 30
_MARK = codecs.BOM_UTF8


def name_of(stream: BinaryIO) -> str:
    """The name of the stream in errors: its file name, if it has one."""
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "the stream"


def is_utf8(encoding: str | None) -> bool:
    """Whether an encoding is UTF-8; None means UTF-8."""
    if encoding is None:
        return True
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, TypeError) as error:
        raise ArgumentError("encoding", encoding, "Python knows no such encoding.") from error


def require_encoding(encoding: str | None, errors: str | None) -> None:
    """Raise for an encoding or an error handler that Python does not know."""
    is_utf8(encoding)
    try:
        codecs.lookup_error(errors or "strict")
    except LookupError as error:
        raise ArgumentError("encoding_errors", errors, "Python knows no such handler of errors.") from error


def require_size(name: str, size: Any) -> None:
    """Raise for a block size that is not positive."""
    if not isinstance(size, int | None) or size == 0:
        raise ArgumentError(name, size, "expected a number, at least 1.")


class Transcoded(io.RawIOBase):
    """A stream of text of any encoding, transcoded to UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str | None, errors: str | None) -> None:
        self.stream, self.name = stream, name_of(stream)
        self._decoder = codecs.getincrementaldecoder(encoding or "utf-8")(errors or "strict")
        self._ready = b""
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self.stream.read(BLOCK)
            self._ready = self._utf8(data)
            if not data:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _utf8(self, data: bytes) -> bytes:
        try:
            text = self._decoder.decode(data, not data).encode()
        except UnicodeError as error:
            raise undecodable(self.name, error, self._read) from error
        self._read += len(data)
        return text


def undecodable(name: str, error: UnicodeError, before: int = 0) -> FileFormatError:
    """The error for bytes that are not valid in the encoding."""
    start = getattr(error, "start", None)
    reason = f"not {getattr(error, 'encoding', 'valid')} text: {error}.{_likely_encoding(error, before)}"
    return FileFormatError(name, reason, None, start and before + start)


def _likely_encoding(error: UnicodeError, before: int) -> str:
    """The encoding to suggest for text that is not UTF-8, from its byte order mark."""
    if not isinstance(error, UnicodeDecodeError) or not is_utf8(error.encoding):
        return ""
    is_marked = before == 0 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    likely = "encoding='utf-16', as its first bytes say" if is_marked else "the encoding it has, as encoding='latin-1'"
    return f" Pass {likely}."


def as_utf8(stream: BinaryIO, encoding: str | None, errors: str | None) -> BinaryIO:
    """The stream as UTF-8 bytes; unchanged if it is UTF-8 and `errors` replaces nothing."""
    require_encoding(encoding, errors)
    if is_utf8(encoding) and errors in (None, "strict"):
        return stream
    return cast(BinaryIO, io.BufferedReader(Transcoded(stream, encoding, errors), BLOCK))


def rewindable(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or a copy on disk if it is not seekable."""
    if stream.seekable():
        return stream
    import shutil
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115  it closes, and is gone, with its last reader
    shutil.copyfileobj(stream, copy, BLOCK)
    copy.seek(0)
    return cast(BinaryIO, copy)


@contextmanager
def rewound(stream: BinaryIO) -> Iterator[BinaryIO]:
    """A seekable stream; a copy that had to be made is deleted at the end."""
    source = rewindable(stream)
    try:
        yield source
    finally:
        if source is not stream:
            source.close()


def line_blocks(stream: BinaryIO, size: int = BLOCK, mark: bool = True) -> Iterator[bytes]:
    """The stream in blocks of about `size` bytes that end with a line end; a byte order mark is dropped."""
    rest: list[bytes] = []
    held = 0
    while data := stream.read(size):
        if mark:
            data, mark = data.removeprefix(_MARK), False
        end = data.rfind(b"\n") + 1
        if end:
            yield data if end == len(data) and not held else b"".join((*rest, memoryview(data)[:end]))
            rest, held = [], 0
        rest.append(data[end:])
        held += len(data) - end
        if held > LONGEST_LINE:
            raise LimitExceededError(name_of(stream), "a line", LONGEST_LINE, "formats.streams.LONGEST_LINE")
    if held:
        yield b"".join(rest)


def whole_escapes(stream: BinaryIO, size: int = BLOCK) -> Iterator[bytes]:
    """The stream in blocks of `size` bytes, none of which ends inside an escape sequence."""
    mark = True
    while data := stream.read(size):
        while (len(data) - len(data.rstrip(b"\\"))) % 2 and (more := stream.read(1)):
            data += more
        yield data.removeprefix(_MARK) if mark else data
        mark = False


class Replay:
    """An iterator of blocks with look-ahead: blocks that `ahead` has yielded are kept on disk."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._waiting: list[int | Exception] = []
        self._disk: Any = None

    def __iter__(self) -> Replay:
        return self

    def __next__(self) -> bytes:
        if not self._waiting:
            return next(self._blocks)
        waiting = self._waiting.pop(0)
        if isinstance(waiting, Exception):
            raise waiting
        return bytes(self._disk.read(waiting))

    def close(self) -> None:
        """Delete the file on disk."""
        if self._disk is not None:
            self._disk.close()

    def ahead(self) -> Iterator[bytes]:
        """All blocks that have not been taken yet."""
        import tempfile

        disk = self._disk = self._disk or tempfile.TemporaryFile()  # noqa: SIM115
        start = disk.tell()
        for waiting in [waiting for waiting in self._waiting if isinstance(waiting, int)]:
            yield disk.read(waiting)
        try:
            for block in self._blocks:
                disk.write(block)
                self._waiting.append(len(block))
                yield block
        except (DatasetsError, OSError) as error:
            self._waiting.append(error)
        finally:
            disk.seek(start)


class NamedBytes(io.BytesIO):
    """The bytes of a file in memory, with its name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


class Peeked:
    """A stream whose first bytes have been read already."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self.name, self._head, self._stream = name_of(stream), head, stream

    def read(self, size: int = -1) -> bytes:
        if not self._head or size < 0:
            head, self._head = self._head, b""
            return head + self._stream.read(size)
        head = self._head[:size]
        self._head = self._head[size:]
        return head
