"""Byte streams of formats: names, encodings, and blocks of whole lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, FileFormatError, LimitExceededError

T = TypeVar("T")

BLOCK = 10 << 20
PIECE = 256 << 10
_STEP = 1 << 16  # bytes read at once where bytes before an error are kept
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


class Account:
    """What was unpacked of the members of one archive; a member that is read again counts once."""

    def __init__(self) -> None:
        self._members: dict[str, int] = {}
        self._total = 0

    def total_with(self, member: str, spent: int) -> int:
        """All bytes so far, with those that a member has given."""
        more = spent - self._members.get(member, 0)
        if more > 0:
            self._members[member] = spent
            self._total += more
        return self._total


class Budget:
    """How many bytes a file may unpack to, given its size; shared by all that comes out of that file."""

    def __init__(self, path: str, size: int, account: Account | None = None) -> None:
        self.path = path
        self.allowed = max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, size * config.MAX_UNPACKED_RATIO)
        self.spent = 0
        self._account = Account() if account is None else account

    def spend(self, count: int) -> None:
        """Count bytes that were produced, or refuse."""
        self.spent += count
        self.require(self._account.total_with(self.path, self.spent))

    @property
    def left(self) -> int:
        """How many bytes may still be produced."""
        return self.allowed - self.spent

    def require(self, count: int) -> None:
        """Refuse a number of bytes that is too much as a whole."""
        if count > self.allowed:
            what = f"unpacked, it is more than {config.MAX_UNPACKED_RATIO} times its size and"
            raise LimitExceededError(self.path, what, self.allowed, "config.MAX_UNPACKED_RATIO")


class PieceStream(io.BufferedIOBase):
    """The pieces of an iterator as one stream, for pyarrow and for Python's own readers.

    What was produced before an error is read first; the error is raised by the next read.
    """

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
        # A reader of everything takes the first answer for the end, so it gets the error at once.
        while wanted != 0 and self._fill(quietly=bool(parts) and wanted > 0):
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


Step = Callable[[int], int]  # the number of bytes decoded so far → how many to decode at once


def up_to_fault(pieces: Callable[[Step], Iterator[bytes]]) -> Iterator[bytes]:
    """All bytes before a fault, to the last one.

    A decoder drops what it has decoded in the call that fails. So that part is decoded again, in smaller steps, and the
    last part of it byte by byte.
    """
    done, steps = 0, dict[int, int]()
    for step in (PIECE, 1 << 10, 1):
        steps[done] = step
        position = 0
        try:
            for piece in pieces(partial(_step_at, steps)):
                position += len(piece)
                if position > done:
                    yield piece
                    done = position
            return
        except FileFormatError as error:
            fault = error
    raise fault


def _step_at(steps: dict[int, int], position: int) -> int:
    return next(step for start, step in reversed(steps.items()) if start <= position)


def read_to_fault(stream: BinaryIO, size: int, before: bytes = b"") -> tuple[bytes, FileFormatError | None]:
    """`before` and up to `size` bytes more, with the error that ended them early, if any."""
    pieces = [before] if before else []
    try:
        while size > 0 and (data := stream.read(min(size, _STEP))):
            pieces.append(data)
            size -= len(data)
    except FileFormatError as error:
        return b"".join(pieces), error
    return b"".join(pieces), None


def drain(stream: Any) -> None:
    """Read compressed bytes to their end, where the checksum is."""
    while isinstance(stream, PieceStream) and stream.read(PIECE):
        pass


def _transcoded(stream: BinaryIO, encoding: str | None, errors: str | None) -> Iterator[bytes]:
    """Text of any encoding as UTF-8; what comes before the first bytes that cannot be decoded is yielded first."""
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")(errors or "strict")
    name, position = name_of(stream), 0
    while True:
        data = stream.read(BLOCK)
        try:
            text = decoder.decode(data, not data).encode()
        except UnicodeEncodeError as error:  # the handler of errors has made half of a surrogate pair
            yield error.object[: error.start].encode()
            raise undecodable(name, error, position) from error
        except UnicodeDecodeError as error:
            pending = len(error.object) - len(data)
            with suppress(UnicodeError):
                yield decoder.decode(data[: max(error.start - pending, 0)]).encode()
            raise undecodable(name, error, position - pending) from error
        yield text
        position += len(data)
        if not data:
            return


def undecodable(name: str, error: UnicodeError, before: int = 0) -> FileFormatError:
    """The error for bytes that are not valid in the encoding."""
    start = getattr(error, "start", None)
    reason = f"not {getattr(error, 'encoding', 'valid')} text: {error}.{_likely_encoding(error, before)}"
    return FileFormatError(name, reason, None, None if start is None else before + start)


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
    return cast(BinaryIO, PieceStream(_transcoded(stream, encoding, errors), name_of(stream)))


def rewindable(stream: BinaryIO) -> BinaryIO:
    """The stream itself, or a copy on disk if it is not seekable."""
    if stream.seekable():
        return stream
    import shutil
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115  it closes, and is gone, with its last reader
    try:
        shutil.copyfileobj(stream, copy, BLOCK)
    except BaseException:
        copy.close()
        raise
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
    """The stream in blocks of about `size` bytes that end with a line end; a byte order mark is dropped.

    A last line without a line end belongs to the block before it.
    """
    rest: list[bytes] = []
    held = 0
    data = stream.read(size)
    while data:
        following, failure, is_short = b"", None, len(data) < size
        if is_short:  # probably the end
            try:
                following = stream.read(size)
            except Exception as error:  # noqa: BLE001  it is raised after the complete lines before it
                failure = error
        if mark:
            data, mark = data.removeprefix(_MARK), False
        is_last = is_short and not following and failure is None
        end = len(data) if is_last else data.rfind(b"\n") + 1
        if end:
            yield data if end == len(data) and not held else b"".join((*rest, memoryview(data)[:end]))
            rest, held = [], 0
        if failure is not None:
            raise failure
        rest.append(data[end:])
        held += len(data) - end
        if held > LONGEST_LINE:
            raise LimitExceededError(name_of(stream), "a line", LONGEST_LINE, "formats.streams.LONGEST_LINE")
        data = following or stream.read(size)
    if held:
        yield b"".join(rest)


def utf8_blocks(stream: BinaryIO, size: int | None, encoding: str | None, errors: str | None) -> Iterator[bytes]:
    """The text of the stream as valid UTF-8 in blocks of complete lines, with plain line feeds at their ends.

    Before an error come all lines that are complete and valid.
    """
    name, position = name_of(stream), 0
    source = as_utf8(stream, encoding, errors)
    for block in line_blocks(source, size if size and size > 0 else BLOCK, mark=False):
        try:
            if not block.isascii():
                block.decode()
        except UnicodeDecodeError as error:
            if good := block[: block.rfind(b"\n", 0, error.start) + 1]:
                yield _with_plain_ends(good)
            raise undecodable(name, error, position) from error
        yield _with_plain_ends(block)
        position += len(block)


def _with_plain_ends(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def batched(items: Iterable[T], size: int, size_of: Callable[[T], int] = lambda item: 1) -> Iterator[list[T]]:
    """Lists of items of about `size` together; when reading fails, the items before the error come first."""
    batch: list[T] = []
    total = 0
    failure: FileFormatError | None = None
    try:
        for item in items:
            batch.append(item)
            total += size_of(item)
            if total >= size:
                yield batch
                batch, total = [], 0
    except FileFormatError as error:
        failure = error
    if batch:
        yield batch
    if failure is not None:
        raise failure


def whole_escapes(stream: BinaryIO, size: int = BLOCK) -> Iterator[bytes]:
    """The stream in blocks of `size` bytes, none of which ends inside an escape sequence."""
    mark = True
    while data := stream.read(size):
        while (len(data) - len(data.rstrip(b"\\"))) % 2 and (more := stream.read(1)):
            data += more
        yield data.removeprefix(_MARK) if mark else data
        mark = False


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
