"""Tar headers: blocks of 512 bytes, and the extended headers of PAX and GNU before them."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Protocol
from zlib import adler32

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.webdataset.window import Window

BLOCK = 512
EMPTY = bytes(BLOCK)
REGULAR = b"0\x007"
SPARSE = b"S"
WITHOUT_DATA = b"123456"
ABOUT_NEXT = b"xXLKg"  # types of extended headers, which describe the next member or all
_LONGEST = 1 << 20
_MOST_CHECKSUMS = 1 << 16
_FIELDS = Struct("100s24x12s12x8sc100x6s82x155s12x").unpack


def header_of(block: bytes, window: Window) -> tuple[bytes, int, bytes]:
    """The name, size and type in a header block, after its checksum is verified."""
    if len(block) < BLOCK:
        what = "a header" if block else "the block that ends it is missing"
        raise FileFormatError(window.path, f"the archive breaks off: {what}", None, window.position)
    name, size, checksum, kind, magic, prefix = _FIELDS(block)
    if adler32(block) & 0xFFFF != expected[checksum] and not _agrees_signed(block, checksum):
        raise FileFormatError(window.path, "a header of the archive is damaged", None, window.position - BLOCK)
    name = name.partition(b"\0")[0]
    if prefix[0] and magic == b"ustar\0":
        name = prefix.partition(b"\0")[0] + b"/" + name
    return name, number(size, window), kind


class Expected(dict[bytes, int]):
    """The low half of the Adler-32 of a block with a given checksum: the sum of its bytes plus 1.

    zlib computes it in C, twenty times faster than `sum`. The checksum counts its own field as eight spaces.
    """

    def __missing__(self, checksum: bytes) -> int:
        if len(self) >= _MOST_CHECKSUMS:
            self.clear()
        try:
            found = (int(checksum.strip(b"\0 "), 8) - 8 * ord(" ") + sum(checksum) + 1) % 65521
        except ValueError:
            found = -1
        self[checksum] = found
        return found


expected = Expected()


def _agrees_signed(block: bytes, checksum: bytes) -> bool:
    """Whether it is the checksum of signed bytes, which some old programs wrote."""
    if expected[checksum] < 0:
        return False
    signed = sum(memoryview(block).cast("b")) - sum(memoryview(checksum).cast("b"))
    return int(checksum.strip(b"\0 "), 8) == signed + 8 * ord(" ")


def number(field: bytes, window: Window) -> int:
    """A number field: octal digits, or base 256 if the first bit is set."""
    if field[0] == 0x80:
        found = int.from_bytes(field[1:], "big")
    else:
        try:
            found = int(field.strip(b"\0 ") or b"0", 8)
        except ValueError:
            found = -1
    return checked_size(found, window)


def checked_size(size: int, window: Window) -> int:
    """The size, checked to be in the range of file sizes."""
    if not 0 <= size < 1 << 62:
        raise FileFormatError(window.path, "a header states a size that makes no sense", None, window.position - BLOCK)
    return size


def decimal(text: bytes, window: Window) -> int:
    """A decimal size of a PAX header."""
    return checked_size(int(text) if text.isdigit() and len(text) < 20 else -1, window)


def padded(size: int) -> int:
    """A size, rounded up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def extended_records(kind: bytes, size: int, window: Window) -> list[tuple[bytes, bytes]]:
    """The records of an extended header about the next member."""
    if size > _LONGEST:
        raise FileFormatError(window.path, f"a header is longer than {_LONGEST} bytes", None, window.position)
    data = window.take(padded(size))[:size]
    if kind == b"L":
        return [(b"path", data.partition(b"\0")[0])]
    # Other global records do not concern contents, and a global name or size makes no sense.
    return list(records(data, window)) if kind in b"xX" else []


class Place(Protocol):
    """A position in an archive, for errors."""

    path: str

    @property
    def position(self) -> int:
        """The offset of the next byte."""


def records(data: bytes, place: Place) -> Iterator[tuple[bytes, bytes]]:
    """The records `length key=value` of an extended header."""
    start = 0
    while start < len(data) and data[start]:
        length, space, _ = data[start : start + 20].partition(b" ")
        stop = start + (int(length) if length.isdigit() else 0)
        key, equals, value = data[start + len(length) + 1 : stop].partition(b"=")
        if not space or not equals or stop > len(data) or not value.endswith(b"\n"):
            raise FileFormatError(place.path, "an extended header is damaged", None, place.position)
        yield key, value[:-1]
        start = stop
