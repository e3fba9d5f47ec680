"""The identity of a file's content, wherever the file is, without reading all of it."""

from __future__ import annotations

import os

import xxhash

_PIECES, _PIECE = 8, 1 << 13


def sampled_content(path: str) -> tuple[int, str]:
    """The size of a file, and a digest of all bytes of a small one, else of evenly spread pieces."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest, last = xxhash.xxh3_64(), max(0, size - _PIECE)
        for number in range(_PIECES):
            file.seek(last * number // (_PIECES - 1))
            digest.update(file.read(_PIECE))
    return size, digest.hexdigest()
