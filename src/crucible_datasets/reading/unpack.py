"""An archive or a compressed file → plain files in a folder of ours.

For programs that want paths. Only regular files are made, under names of which every part
was looked at; what leads out of the folder is left out, and nothing keeps the rights that
an archive gives it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

from crucible_datasets.formats.streams import PIECE
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.archives import archive_kind, members
from crucible_datasets.reading.compression import MAGIC_LENGTH, compression_of, named_compression, plain
from crucible_datasets.reading.membernames import safe_parts

logger = get_logger(__name__)

FILES = "files"
_LONGEST_PART = 200
_LONGEST_NAME = 1000


def is_packed(path: str) -> bool:
    """Whether there is anything to unpack: by the first bytes, not by the name."""
    with open(path, "rb") as source:
        return compression_of(source.read(MAGIC_LENGTH)) is not None or archive_kind(path) is not None


def unpack(folder: str, path: str) -> dict[str, str]:
    """Put what is in a packed file into `folder/files`; `top` tells what a caller should look at in there."""
    target = os.path.join(folder, FILES)
    os.mkdir(target)
    if archive_kind(path) is not None:
        for parts, member in _safely_named(path):
            _write(member, os.path.join(target, *parts))
        return {"source": path, "top": FILES}
    name = os.path.basename(named_compression(path)[0])
    with open(path, "rb") as source, plain(source, path) as stream:
        _write(stream, os.path.join(target, name))
    return {"source": path, "top": os.path.join(FILES, name)}


def _safely_named(path: str) -> Iterator[tuple[list[str], BinaryIO]]:
    left_out = 0
    folders: set[str] = set()
    files: set[str] = set()
    for name, _, stream in members(path):
        parts = safe_parts(name)
        if parts is None:
            left_out += 1
            continue
        parts = _fitting(parts)
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if "/".join(parts) in folders or above & files:
            # A file and a folder cannot have one name.
            parts = [_digest("/".join(parts))]
        else:
            folders |= above
        files.add("/".join(parts))
        yield parts, stream
    if left_out:
        logger.warning("%s: left out %d members whose names lead out of the archive.", path, left_out)


def _fitting(parts: list[str]) -> list[str]:
    """Names as long as file systems allow; a longer one keeps its end, which says what it is."""
    short = [
        part if len(os.fsencode(part)) <= _LONGEST_PART else f"{_digest(part)}-{part[-_LONGEST_PART // 4 :]}"
        for part in parts
    ]
    return short if len(os.fsencode("/".join(short))) <= _LONGEST_NAME else [_digest("/".join(parts))]


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:32]


def _write(stream: BinaryIO, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        while piece := stream.read(PIECE):
            file.write(piece)
