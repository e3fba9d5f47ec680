"""The manifest of an entry: its files with their sizes and hashes.

It is written last, so a folder with a manifest is complete. For each file it has the size, the xxh3 hash, and the
identity (size and times) that the file had when the hash was last verified. As long as the identity is unchanged, the
file is not read again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import xxhash

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_tree_durable, paths_in
from crucible_datasets.atomic.private import is_own, open_own

MANIFEST = "manifest.json"
_BLOCK = 4 << 20
_WORTH_THREADS = 64 << 20  # bytes; fewer are hashed in the time it takes to start threads


@dataclass(frozen=True)
class StoredFile:
    """What the manifest says about a file."""

    size: int
    xxh3: str
    identity: list[int | str] | None


@dataclass(frozen=True)
class Entry:
    """A folder of the cache and what its manifest says about it."""

    key: str
    folder: str
    facts: Mapping[str, Any]
    created: float
    last_used: float
    files: Mapping[str, StoredFile]
    is_whole: bool = True  # False for the finished parts of an entry whose maker stopped

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(file.size for file in self.files.values())


class Damage(NamedTuple):
    """A file of the cache that is missing or changed."""

    path: str
    reason: str


def write_manifest(
    folder: str, key: str, facts: Mapping[str, Any], known: Mapping[str, StoredFile] | None = None
) -> None:
    """Write the manifest of a folder; `known` files that did not change are not read again.

    The files need not be synced: what a power failure loses is noticed, since files are verified again after a reboot.
    Where reboots cannot be detected, the files are synced first.
    """
    if not boot():
        make_tree_durable(folder)
    paths = {os.path.relpath(path, folder): path for path in paths_in(folder) if not os.path.isdir(path)}
    records = [(known or {}).get(name) for name in paths]
    unread = sum(os.path.getsize(path) for path, record in zip(paths.values(), records, strict=True) if not record)
    with nullcontext() if unread < _WORTH_THREADS else ThreadPoolExecutor(min(8, len(paths))) as pool:
        stated = (pool.map if pool else map)(stored, paths.values(), records)
        files = dict(zip(paths, stated, strict=True))
    now = time.time()
    _write(Entry(key, folder, facts, now, now, files))


def stored(path: str, known: StoredFile | None = None) -> StoredFile:
    """The record of a file as it is now; a known file that did not change is not read."""
    identity = identity_of(path)
    if known is not None and known.identity == identity:
        return known
    return StoredFile(os.path.getsize(path), _hash(path), identity)


def read_manifest(folder: str) -> Entry | None:
    """The entry in a folder, or None if it has no valid manifest."""
    path = os.path.join(folder, MANIFEST)
    try:
        if not is_own(folder):
            return None
        with open_own(path, encoding="utf-8") as file:
            last_used, stated = os.fstat(file.fileno()).st_mtime, json.load(file)
        files = {name: StoredFile(**facts) for name, facts in stated.pop("files").items()}
        return Entry(folder=folder, last_used=last_used, files=files, **stated)
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, KeyError, AttributeError):
        return None


def damages(entry: Entry, thorough: bool = False) -> list[Damage]:
    """The files that are missing, of the wrong size, or whose content has changed.

    Only files whose identity has changed since they were last verified are read; `thorough` reads all.
    """
    found, seen = [], dict(entry.files)
    for name, file in entry.files.items():
        path = os.path.join(entry.folder, name)
        reason, seen[name] = checked(path, file, thorough)
        if reason:
            found.append(Damage(path, reason))
    if seen != entry.files:
        with suppress(OSError):  # a read-only cache
            _write(replace(entry, files=seen))
    return found


def checked(path: str, file: StoredFile, thorough: bool) -> tuple[str, StoredFile]:
    """What is wrong with a file, or an empty text; and its updated record."""
    try:
        identity = identity_of(path)
        if identity[0] != file.size:
            return f"it has {identity[0]} bytes instead of {file.size}", file
        if identity == file.identity and not thorough:
            return "", file
        if _hash(path) == file.xxh3:
            return "", replace(file, identity=identity)
        return "its bytes have changed", replace(file, identity=None)
    except (FileNotFoundError, NotADirectoryError):
        return "it is missing", file


def identity_of(path: str) -> list[int | str]:
    """The identity of a file, which differs whenever its content may have changed."""
    # Unlike mtime, ctime cannot be set by users.
    facts = os.stat(path)
    return [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, boot()]


@cache
def boot() -> str:
    """An identifier of this boot of the machine; empty if the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _hash(path: str) -> str:
    digest = xxhash.xxh3_128()
    with open(path, "rb", buffering=0) as file:
        block = bytearray(min(os.fstat(file.fileno()).st_size + 1, _BLOCK))
        view = memoryview(block)
        while length := file.readinto(block):
            digest.update(view[:length])
    return digest.hexdigest()


def _write(entry: Entry) -> None:
    stated = {name: value for name, value in asdict(entry).items() if name not in {"folder", "last_used", "is_whole"}}
    with atomic_file(os.path.join(entry.folder, MANIFEST)) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump(stated, file, indent=1)
