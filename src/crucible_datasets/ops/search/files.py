"""Index files: local ones are written beside their place and renamed, others go through fsspec."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from crucible_datasets.ops.search.base import Path


@contextmanager
def writing(file: Path, storage_options: dict[str, Any] | None) -> Iterator[BinaryIO]:
    """A stream whose bytes appear at `file` when the block ends well, and never otherwise."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    filesystem, path = url_to_fs(os.fspath(file), **(storage_options or {}))
    if isinstance(filesystem, LocalFileSystem):
        with _beside(path) as stream:
            yield stream
    else:
        with filesystem.transaction, filesystem.open(path, "wb") as stream:
            yield stream


@contextmanager
def reading(file: Path, storage_options: dict[str, Any] | None) -> Iterator[BinaryIO]:
    """The bytes at `file`, wherever it is."""
    import fsspec

    with fsspec.open(os.fspath(file), "rb", **(storage_options or {})) as stream:
        yield stream


@contextmanager
def _beside(path: str) -> Iterator[BinaryIO]:
    folder, name = os.path.split(path)
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name}-{uuid.uuid4().hex}")
    try:
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
