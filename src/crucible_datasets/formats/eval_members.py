"""The files inside a log of inspect_ai. Newer logs use zstd, which `zipfile` supports only from Python 3.14 on."""

from __future__ import annotations

import struct
import zipfile
import zlib

import pyarrow as pa

from crucible_datasets.exceptions import LimitExceededError
from crucible_datasets.formats.streams import Budget

LARGEST = 1 << 30
_ZSTD = 93
_HEADER = struct.Struct("<4s22xHH")


def content(log: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, budget: Budget) -> bytes:
    """The bytes of a file inside a log, which count to its budget."""
    most = min(LARGEST, budget.left) + 1
    if member.compress_type == _ZSTD:
        text = _unpacked(log, member, most)
    else:
        with log.open(member) as opened:
            text = opened.read(most)
    budget.spend(len(text))
    if len(text) > LARGEST:
        raise LimitExceededError(name, f"sample {member.filename}", LARGEST, "formats.eval_members.LARGEST")
    return text


def _unpacked(log: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    with pa.input_stream(pa.py_buffer(_packed(log, member)), compression="zstd") as stream:
        text: bytes = stream.read(most)
    if len(text) < most and zlib.crc32(text) != member.CRC:
        raise zipfile.BadZipFile(f"{member.filename} is damaged")
    return text


def _packed(log: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The compressed bytes of a file, which follow its local header."""
    file = log.fp
    if file is None:
        raise zipfile.BadZipFile("the log is closed")
    file.seek(member.header_offset)
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile(f"{member.filename} is not where the log says")
    _, name, extra = _HEADER.unpack(head)
    file.seek(name + extra, 1)
    return file.read(member.compress_size)
