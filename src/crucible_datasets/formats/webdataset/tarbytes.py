"""The bytes of tar members. The same members always give the same bytes: no times, no owners.

A name of at most 100 ASCII characters fits the ustar header, which every program reads; others get a PAX header.
"""

from __future__ import annotations

import tarfile

from crucible_datasets.formats.webdataset.headers import BLOCK

_RECORD = 20 * BLOCK  # archives are padded to whole records, as on tapes
_BEFORE_SIZE = b"0000644\x000000000\x000000000\x00"
_AFTER_SIZE = b"00000000000\x00"
_AFTER_CHECKSUM = b"0" + bytes(100) + b"ustar\x0000" + bytes(64) + b"0000000\x000000000\x00" + bytes(167)
_CONSTANT_SUM = sum(_BEFORE_SIZE + _AFTER_SIZE + _AFTER_CHECKSUM) + 8 * ord(" ")
_PADDING = [bytes(length) for length in range(BLOCK)]
_LARGEST = 8**11


def member_parts(name: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    """The header of a file, its content, and the padding of the last block."""
    size = len(content)
    return header(name, size), content, _PADDING[-size % BLOCK]


def header(name: str, size: int) -> bytes:
    """The header blocks of a file."""
    written = name.encode()
    if len(written) > 100 or len(written) != len(name) or size >= _LARGEST:
        return _extended(name, size)
    digits = b"%011o\0" % size
    checksum = b"%06o\0 " % (_CONSTANT_SUM + sum(written) + sum(digits))
    return b"".join((written.ljust(100, b"\0"), _BEFORE_SIZE, digits, _AFTER_SIZE, checksum, _AFTER_CHECKSUM))


def _extended(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.PAX_FORMAT)


def end_of(size: int) -> bytes:
    """The end-of-archive blocks after `size` bytes."""
    return bytes(ended_size(size) - size)


def ended_size(size: int) -> int:
    """The size of an archive with its end-of-archive blocks, from its size without them."""
    return -(-(size + 2 * BLOCK) // _RECORD) * _RECORD
