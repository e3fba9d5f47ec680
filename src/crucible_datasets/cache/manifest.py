"""The manifest of an entry: what is in its folder, to the byte.

It is written last, so a folder with a manifest is whole. Each file has its size, its xxh3
hash, and the identity (size and times) under which that hash was last seen to be right: as
long as a file keeps its identity it is not read again.
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

from crucible_datasets.atomic import written_whole
from crucible_datasets.atomic.files import make_tree_durable, paths_in

MANIFEST = "manifest.json"
_BLOCK = 4 << 20
_WORTH_THREADS = 64 << 20  # bytes: they are read in the time in which a few threads start


@dataclass(frozen=True)
class StoredFile:
    """A file of an entry as it should be."""

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
    is_whole: bool = True  # or what was left of one that was being made in parts

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(file.size for file in self.files.values())


class Damage(NamedTuple):
    """A file of the cache that is not as it should be."""

    path: str
    reason: str


def write_manifest(
    folder: str, key: str, facts: Mapping[str, Any], known: Mapping[str, StoredFile] | None = None
) -> None:
    """State what the files of a folder are; `known` ones that did not change are not read again.

    They need not be on the disk yet: what a power failure loses is noticed, because their bytes
    are read again after the machine has started anew. Where that cannot be known, they are made durable.
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
    """A file as it is now; one that is known and did not change is not read."""
    identity = identity_of(path)
    if known is not None and known.identity == identity:
        return known
    return StoredFile(os.path.getsize(path), _hash(path), identity)


def read_manifest(folder: str) -> Entry | None:
    """The entry in a folder, or None when there is none that makes sense."""
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, encoding="utf-8") as file:
            last_used, stated = os.fstat(file.fileno()).st_mtime, json.load(file)
        files = {name: StoredFile(**facts) for name, facts in stated.pop("files").items()}
        return Entry(folder=folder, last_used=last_used, files=files, **stated)
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, KeyError, AttributeError):
        return None


def damages(entry: Entry, thorough: bool = False) -> list[Damage]:
    """The files that are missing, too short or too long, or whose bytes have changed.

    Bytes are read only where a file has another identity than when they were last right;
    `thorough` reads them all.
    """
    found, seen = [], dict(entry.files)
    for name, file in entry.files.items():
        path = os.path.join(entry.folder, name)
        reason, seen[name] = checked(path, file, thorough)
        if reason:
            found.append(Damage(path, reason))
    if seen != entry.files:
        with suppress(OSError):  # a cache that only others may write to
            _write(replace(entry, files=seen))
    return found


def checked(path: str, file: StoredFile, thorough: bool) -> tuple[str, StoredFile]:
    """The fault of a file, or an empty text; and its record from now on."""
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
    """The identity of a file, which changes as soon as its bytes may have changed."""
    # The time of the last change of status cannot be set back, unlike that of the last change of content.
    facts = os.stat(path)
    return [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, boot()]


@cache
def boot() -> str:
    """The identity of this run of the machine, another after a restart; empty where the system does not say."""
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
    with written_whole(os.path.join(entry.folder, MANIFEST)) as beside, open(beside, "w", encoding="utf-8") as file:
        json.dump(stated, file, indent=1)
