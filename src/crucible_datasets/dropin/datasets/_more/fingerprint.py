"""More of `datasets.fingerprint`."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from typing import Any

from crucible_datasets.hashing import Hasher

__all__ = [
    "Hasher",
    "generate_fingerprint",
    "generate_random_fingerprint",
    "get_temporary_cache_files_directory",
    "update_fingerprint",
]


def generate_fingerprint(dataset: Any) -> str:
    """The identity of a dataset's content."""
    return str(dataset._fingerprint)


def generate_random_fingerprint(nbits: int = 64) -> str:
    """An identity that nothing else has."""
    return os.urandom(nbits // 8).hex()


def update_fingerprint(fingerprint: str, transform: Any, transform_args: dict[str, Any]) -> str:
    """The identity after a function with these arguments."""
    hasher = Hasher()
    for part in (fingerprint, transform, *(pair for pair in sorted(transform_args.items()))):
        hasher.update(part)
    return hasher.hexdigest()


@cache
def get_temporary_cache_files_directory() -> str:
    """A folder for files of this process that nobody needs afterwards."""
    import atexit
    import shutil

    folder = tempfile.mkdtemp(prefix="crucible-datasets-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
