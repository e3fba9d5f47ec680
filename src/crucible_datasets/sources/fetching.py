"""Resumable, verified downloads.

    <name>~<owner>.partial    the bytes received so far, and whose download it is

A killed download leaves its partial file. The next download takes it over by renaming it, which only one process can,
and resumes after its last byte. The file gets its final name only if size and hash are right.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from io import FileIO
from typing import Any

from crucible_datasets.atomic import storage_errors
from crucible_datasets.atomic.files import make_durable, remove_abandoned
from crucible_datasets.atomic.owners import is_abandoned, unfinished_in, unfinished_name
from crucible_datasets.cache.manifest import boot
from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.records import dataclass

Advance = Callable[[int], None]
Body = Callable[[int], Iterator[bytes]]  # the bytes from an offset
Hashes = list[tuple[str, "hashlib._Hash", str]]  # name, running digest, expected value
_BLOCK = 4 << 20
_PARTIAL = ".partial"


@dataclass(frozen=True)
class Expected:
    """What is known of a file before the download. `git_sha1` is the hash of the git blob, which covers the size."""

    size: int | None = None
    sha256: str | None = None
    git_sha1: str | None = None
    xet_hash: str | None = None

    def hashes(self) -> Hashes:
        """Of each known hash: its name, a digest to update, and the expected value."""
        found: Hashes = []
        if self.sha256:
            found.append(("sha256", hashlib.sha256(), self.sha256))
        if self.git_sha1 and self.size is not None:
            start = hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
            found.append(("git sha1", start, self.git_sha1))
        return found

    def require(self, path: str, name: str, fed: Hashes | None = None) -> None:
        """Raise unless the file at `path` is the expected one; `fed` are digests of its bytes, if there are any."""
        size = os.path.getsize(path)
        if self.size is not None and size != self.size:
            raise ContentMismatchError(name, f"{self.size} bytes", f"{size} bytes")
        for kind, digest, stated in _fed(self.hashes(), path) if fed is None else fed:
            if (found := digest.hexdigest()) != stated:
                raise ContentMismatchError(name, f"{kind} {stated}", found)
        if self.xet_hash and (known := xet_hash(path)) is not None and known != self.xet_hash:
            raise ContentMismatchError(name, f"xet hash {self.xet_hash}", known)


def xet_hash(path: str) -> str | None:
    """The Xet hash by which Hub buckets identify content; None if hf_xet is not installed."""
    try:
        known: Any = import_module("hf_xet")
    except ImportError:
        return None
    return str(known.hash_files([path])[0].hash)


def fetch(body: Body, target: str, name: str, expected: Expected, advance: Advance = lambda number: None) -> str:
    """Write the bytes of `body` to `target`, resuming a killed download."""
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    with storage_errors(target):
        partial, resumed = _taken_over(folder, os.path.basename(target), expected)
        try:
            fed = _append(body, partial, advance, expected)
            expected.require(partial, name, fed)
        except ContentMismatchError:
            os.unlink(partial)
            if not resumed:
                raise
            # The partial file may have been damaged: start over once.
            return fetch(body, target, name, expected, advance)
        # Without fsync: files are verified again after a reboot, so what a power failure loses is noticed.
        if not boot():
            make_durable(partial)
        os.replace(partial, target)
        remove_abandoned(folder, os.path.basename(target), _PARTIAL)
    return target


def _append(body: Body, partial: str, advance: Advance, expected: Expected) -> Hashes:
    """Append the missing bytes and return the digests of all; received bytes are hashed without reading them again."""
    with open(partial, "ab", buffering=0) as file:
        start = file.tell()
        advance(start)
        hashes = _fed(expected.hashes(), partial) if start else expected.hashes()
        if expected.size is not None and start >= expected.size:
            return hashes  # killed after its last byte; servers refuse a range beyond the end
        for piece in body(start):
            _write(file, piece)
            for _, digest, _ in hashes:
                digest.update(piece)
            advance(len(piece))
    return hashes


def _write(file: FileIO, piece: bytes) -> None:
    left = memoryview(piece)
    while left:  # a nearly full disk may write only a part
        left = left[file.write(left) :]


def _taken_over(folder: str, name: str, expected: Expected) -> tuple[str, bool]:
    """The path of our partial file, and whether it contains bytes of an earlier download."""
    mine = os.path.join(folder, unfinished_name(name, _PARTIAL))
    for path, parts in unfinished_in(folder, name):
        with suppress(FileNotFoundError):
            silent_for = time.time() - os.stat(path).st_mtime
            if parts.suffix == _PARTIAL and is_abandoned(parts.owner, silent_for):
                os.rename(path, mine)
                if expected.size is None or os.path.getsize(mine) > expected.size:
                    os.truncate(mine, 0)  # without a size, it could not be verified
                return mine, os.path.getsize(mine) > 0
    return mine, False


def _fed(hashes: Hashes, path: str) -> Hashes:
    with open(path, "rb", buffering=0) as file:
        while hashes and (block := file.read(_BLOCK)):
            for _, digest, _ in hashes:
                digest.update(block)
    return hashes
