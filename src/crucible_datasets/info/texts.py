"""Small local or remote text files, written atomically."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

StorageOptions = dict[str, Any] | None


def inside(folder: str, name: str) -> str:
    """The path of a name in a local or remote folder."""
    return f"{folder.rstrip('/')}/{name}" if "://" in folder else os.path.join(folder, name)


def _filesystem(path: str, storage_options: StorageOptions) -> tuple[Any, str]:
    filesystem, location = import_module("fsspec.core").url_to_fs(path, **(storage_options or {}))
    return filesystem, location


def read_text(path: str, storage_options: StorageOptions = None) -> str:
    """The content of a small file."""
    if "://" not in path:
        with open(path, encoding="utf-8") as file:
            return file.read()
    filesystem, location = _filesystem(path, storage_options)
    return bytes(filesystem.cat_file(location)).decode()


def write_text(path: str, text: str, storage_options: StorageOptions = None, is_lasting: bool = True) -> None:
    """Write a small file atomically; unless `is_lasting`, the caller syncs it to disk."""
    filesystem, location = (None, path) if "://" not in path else _filesystem(path, storage_options)
    if filesystem is None or "file" in filesystem.protocol:
        from crucible_datasets.atomic import atomic_file  # most datasets are never written

        with atomic_file(location, is_lasting) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    else:
        # One request: an object store shows the new object only when all of it has arrived.
        filesystem.pipe_file(location, text.encode())
