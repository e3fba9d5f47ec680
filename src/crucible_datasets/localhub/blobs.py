"""The contents of files, each stored once under its sha256, and who has uploaded which.

blobs/<first two digits>/<sha256>
.uploads/by-<user>/<sha256>   an empty file: the user had this content

Knowing a hash is not having the content: listings of gated repositories show hashes to everybody.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote

from crucible_datasets.atomic.files import make_durable
from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.localhub import names

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Blob:
    """The hashes and size of a content."""

    sha256: str
    git_sha1: str
    size: int


@dataclass(frozen=True)
class Blobs:
    """All contents below a folder."""

    folder: str

    def path(self, sha256: str) -> str:
        names.oid(sha256)
        return os.path.join(self.folder, sha256[:2], sha256)

    def has(self, sha256: str) -> bool:
        return os.path.isfile(self.path(sha256))

    def size(self, sha256: str) -> int:
        return os.path.getsize(self.path(sha256))

    def open(self, sha256: str) -> BinaryIO:
        return open(self.path(sha256), "rb")

    def add(self, pieces: Iterable[bytes], expected: str | None = None) -> Blob:
        """Store a content; raises if its hash is not the expected one."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        temporary = os.path.join(self.folder, f"incoming-{os.urandom(8).hex()}")
        try:
            with open(temporary, "xb") as file:
                file.writelines(pieces)
            return self.take_over(temporary, expected)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)

    def take_over(self, path: str, expected: str | None = None) -> Blob:
        """Store a file of the same disk by moving it; raises if its hash is not the expected one."""
        blob = blob_of(path)
        if expected is not None and expected not in {blob.sha256, blob.git_sha1}:
            raise ContentMismatchError(os.path.basename(path), expected, blob.sha256)
        make_durable(path)
        os.makedirs(os.path.dirname(self.path(blob.sha256)), exist_ok=True)
        os.replace(path, self.path(blob.sha256))
        return blob


@dataclass(frozen=True)
class Uploads:
    """Who has uploaded which content."""

    folder: str

    def add(self, user: str, sha256: str) -> None:
        path = self._path(user, sha256)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb"):
            pass

    def has(self, user: str, sha256: str) -> bool:
        return os.path.isfile(self._path(user, sha256))

    def _path(self, user: str, sha256: str) -> str:
        return os.path.join(self.folder, f"by-{quote(user, safe='')}", names.oid(sha256))


def blob_of(path: str) -> Blob:
    """The hashes and size of a file's content."""
    size = os.path.getsize(path)
    sha256, git = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            sha256.update(block)
            git.update(block)
    return Blob(sha256.hexdigest(), git.hexdigest(), size)
