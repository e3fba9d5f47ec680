"""Checks of values of variable length in an HDF5 file: a dataset stores their lengths, a heap their contents.

The HDF5 library does not check these numbers: a heap object of size zero is an endless loop, a length of billions
exhausts the memory.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from crucible_datasets.exceptions import FileFormatError

_SIGNATURE = b"GCOL\x01\x00\x00\x00"  # and a version
_LEAST, _MOST = 4096, 1 << 32  # bytes of a heap
_OBJECT = struct.Struct("<HHIQ")  # number, reference count, padding, size
_ELEMENT = np.dtype([("length", "<u4"), ("heap", "<u8"), ("number", "<u4")])
_BLOCK = 8 << 20


def require_sound_lengths(h5py: Any, source: BinaryIO, node: Any, name: str) -> None:
    """Refuse a dataset with a value longer than the file. Filtered datasets have checksums and are not read."""
    base = h5py.check_vlen_dtype(node.dtype)
    if base is None or node.file.userblock_size or node.id.get_create_plist().get_nfilters():
        return
    most = source.seek(0, os.SEEK_END) // (np.dtype(base).itemsize or 1)
    for start, size in _extents(node):
        source.seek(start)
        data = source.read(size)
        lengths = np.frombuffer(data[: len(data) // _ELEMENT.itemsize * _ELEMENT.itemsize], _ELEMENT)["length"]
        if len(lengths) and lengths.max() > most:
            raise FileFormatError(name, f"dataset {node.name!r} states a value longer than the file", None, start)


def _extents(node: Any) -> Iterator[tuple[int, int]]:
    """The offsets and sizes of the elements of a dataset in the file."""
    if node.chunks is not None:
        chunks = map(node.id.get_chunk_info, range(node.id.get_num_chunks()))
        yield from ((chunk.byte_offset, chunk.size) for chunk in chunks)
    elif (start := node.id.get_offset()) is not None:
        yield start, node.size * _ELEMENT.itemsize


def require_sound_heaps(source: BinaryIO, name: str) -> None:
    """Refuse a file with a heap whose objects do not fill it one after the other."""
    for at in _places(source):
        source.seek(at + len(_SIGNATURE))
        size = int.from_bytes(source.read(8), "little")
        if _LEAST <= size <= _MOST:
            source.seek(at)
            heap = source.read(size)
            if len(heap) == size and not _is_filled(heap):
                raise FileFormatError(name, "the heap that begins here is damaged", None, at)


def _places(source: BinaryIO) -> Iterator[int]:
    start, before = 0, b""
    source.seek(0)
    while block := source.read(_BLOCK):
        text, begin = before + block, start - len(before)
        at = text.find(_SIGNATURE)
        while at >= 0:
            yield begin + at
            at = text.find(_SIGNATURE, at + 1)
        start, before = start + len(block), text[-len(_SIGNATURE) + 1 :]
        source.seek(start)


def _is_filled(heap: bytes) -> bool:
    at = len(_SIGNATURE) + 8
    while len(heap) - at >= _OBJECT.size:
        number, _, _, size = _OBJECT.unpack_from(heap, at)
        # Free space has the number 0, and its size includes the header.
        step = size if number == 0 else _OBJECT.size + -(-size // 8) * 8
        if not _OBJECT.size <= step <= len(heap) - at:
            return False
        at += step
    return True
