"""Index files: local ones are written atomically, others through fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from crucible_datasets.atomic import atomic_file
from crucible_datasets.ops.search.base import Path


@contextmanager
def writing(file: Path, storage_options: dict[str, Any] | None) -> Iterator[BinaryIO]:
    """A stream whose bytes appear at `file` only if the block succeeds."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    filesystem, path = url_to_fs(os.fspath(file), **(storage_options or {}))
    if isinstance(filesystem, LocalFileSystem):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with atomic_file(path) as temporary, open(temporary, "xb") as stream:
            yield stream
    else:
        with filesystem.transaction, filesystem.open(path, "wb") as stream:
            yield stream


@contextmanager
def reading(file: Path, storage_options: dict[str, Any] | None) -> Iterator[BinaryIO]:
    """A stream of the bytes of `file` on any storage."""
    import fsspec

    with fsspec.open(os.fspath(file), "rb", **(storage_options or {})) as stream:
        yield stream
