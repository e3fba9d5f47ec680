"""What exists anywhere: `exists`, `stat`, `glob` and `listdir`; copies and removals of files."""

from __future__ import annotations

import glob as patterns
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crucible_datasets.exceptions import DownloadError, FileExistsDatasetsError, IsAFileError
from crucible_datasets.ops.destination import local_path, remote
from crucible_datasets.sources import cloud
from crucible_datasets.sources.base import SOURCES, scheme_of, source_of
from crucible_datasets.sources.hub.addresses import matching
from crucible_datasets.sources.hub.uploads import removed
from crucible_datasets.sources.store_errors import store_errors
from crucible_datasets.sources.wildcards import folder_of, is_pattern
from crucible_datasets.storage.opening import (
    PIECE,
    WEB,
    BlobFile,
    Path,
    file_at,
    identity_of,
    is_at,
    is_local_folder,
    source_at,
)


@dataclass(frozen=True)
class Stat:
    """What is known of a file: its bytes, an identity that changes with its content, and when it was written.

    The time is in seconds since 1970, and None if the store does not state one.
    """

    size: int
    identity: str
    mtime: float | None = None

    @property
    def version(self) -> str:
        """The identity, by the name that the package blobfile gives it."""
        return self.identity


def exists(path: Path, storage_options: Mapping[str, Any] | None = None) -> bool:
    """Whether there is a file or folder."""
    place, address = local_path(path), os.fspath(path)
    if place is not None:
        return os.path.exists(place)
    try:
        if source_of(address) is SOURCES["cloud"]:
            cloud.found(address, storage_options or {})
            return True
        return bool(source_of(address).listed(address, storage_options or {}))
    except FileNotFoundError:
        return False


def stat(path: Path, storage_options: Mapping[str, Any] | None = None) -> Stat:
    """The size, the identity and the time of a file."""
    file = file_at(os.fspath(path), storage_options or {})
    if file.size is None:
        raise DownloadError(file.url, "the server does not say how large it is.")
    return Stat(file.size, identity_of(file), file.modified)


def glob(pattern: Path, storage_options: Mapping[str, Any] | None = None, *, parallel: bool = False) -> list[str]:
    """The addresses of the files and folders that a pattern matches: `*` within a name, `**` across folders.

    A pattern that ends with `/` matches folders. `parallel` has no effect; it is one of blobfile's parameters.
    """
    address, options = os.fspath(pattern), storage_options or {}
    try:
        if (place := local_path(pattern)) is not None:
            return _matched_here(place)
        if source_of(address) is SOURCES["cloud"]:
            return cloud.matched(address, options)
        if scheme_of(address) in WEB or not is_pattern(address):
            return [address.rstrip("/")] if source_of(address).listed(address, options) else []
        return _matched_in_listing(address, options)
    except FileNotFoundError:
        return []


def _matched_here(place: str) -> list[str]:
    path = os.path.abspath(place)
    found = [path] if os.path.lexists(path) else patterns.glob(path, recursive=True)
    names = {os.path.abspath(name) for name in found if os.path.isdir(name) or not place.endswith("/")}
    return sorted(names - {os.path.abspath(folder_of(path) or "/")})


def _matched_in_listing(address: str, options: Mapping[str, Any]) -> list[str]:
    """What matches among the files below the folder of a pattern, and among their own folders."""
    base = folder_of(address)
    wanted = matching(address[len(base) :].strip("/"), is_pattern=True)
    found = set()
    for file in source_of(address).listed(base, options):
        root, names = file.url.removesuffix(file.path), file.path.split("/")
        whole = len(names) - address.endswith("/")
        paths = ("/".join(names[:depth]) for depth in range(1, whole + 1))
        found |= {f"{root}{path}" for path in paths if wanted.fullmatch(path)}
    return sorted(found)


def listdir(path: Path, storage_options: Mapping[str, Any] | None = None) -> list[str]:
    """The names in a folder."""
    address, options = os.fspath(path), storage_options or {}
    address = address if address.endswith("://") else address.rstrip("/")
    if is_local_folder(path):
        return sorted(os.listdir(local_path(path)))
    if source_at(address) is SOURCES["cloud"]:
        names = cloud.names_in(address, options)
        if names is None:
            raise IsAFileError(address)
        return names
    files = source_at(address).listed(address, options)
    if len(files) == 1 and is_at(files[0], address):
        raise IsAFileError(address)
    return sorted({file.path.partition("/")[0] for file in files})


def copy(
    source: Path,
    target: Path,
    storage_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
    *,
    overwrite: bool = True,
    parallel: bool = False,
    return_md5: bool = False,
) -> str | None:
    """Copy a file from anywhere to anywhere; it appears whole. Returns its MD5 digest with `return_md5`.

    `storage_options` are those of both places, unless the target is another store: `target_options` are its own.
    An existing target is replaced, or an error without `overwrite`. `parallel`, of blobfile, has no effect.
    """
    options = storage_options if target_options is None else target_options
    if not overwrite and exists(target, options):
        raise FileExistsDatasetsError(os.fspath(target))
    digest = hashlib.md5(usedforsecurity=False)
    with (
        BlobFile(source, "rb", storage_options=storage_options) as reading,
        BlobFile(target, "wb", True, storage_options=options) as writing,
    ):
        while piece := reading.read(PIECE):
            writing.write(piece)
            if return_md5:
                digest.update(piece)
    return digest.hexdigest() if return_md5 else None


def remove(path: Path, storage_options: Mapping[str, Any] | None = None) -> None:
    """Remove a file; of a link, the link and not what it leads to."""
    options, place = dict(storage_options or {}), local_path(path)
    if place is not None and os.path.lexists(place) and (os.path.islink(place) or not os.path.isdir(place)):
        os.unlink(place)
        return
    file_at(os.fspath(path), options)  # or an error that says what is there instead
    if os.fspath(path).startswith("hf://"):
        removed(os.fspath(path), options)
        return
    system, location = remote(path, options)
    with store_errors(os.fspath(path), options, writing=True):
        system.rm_file(location)
