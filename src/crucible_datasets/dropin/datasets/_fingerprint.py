"""Functions of fingerprints that Hugging Face's `fingerprint` has."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.fingerprint import is_caching_enabled
from crucible_datasets.hashing import Hasher

from .naming import INVALID_WINDOWS_CHARACTERS_IN_PATH

__all__ = [
    "Hasher",
    "fingerprint_warnings",
    "format_kwargs_for_fingerprint",
    "format_transform_for_fingerprint",
    "generate_fingerprint",
    "generate_random_fingerprint",
    "get_temporary_cache_files_directory",
    "update_fingerprint",
    "validate_fingerprint",
]

# What was told once already; nothing is told twice here.
fingerprint_warnings: dict[str, bool] = {}


def __getattr__(name: str) -> Any:
    if name == "_CACHING_ENABLED":
        return is_caching_enabled()
    raise AttributeError(name)


def validate_fingerprint(fingerprint: str, max_length: int = 64) -> None:
    """An error unless a fingerprint can be the name of a file."""
    if not isinstance(fingerprint, str) or not fingerprint:
        raise ArgumentError("fingerprint", fingerprint, "expected a text that is not empty.")
    bad = [sign for sign in fingerprint if sign in INVALID_WINDOWS_CHARACTERS_IN_PATH]
    if bad or len(fingerprint) > max_length:
        wrong = f"it has {bad[0]!r}" if bad else f"it is longer than {max_length}"
        raise ArgumentError("fingerprint", fingerprint, f"{wrong}, and it names a file.")


def format_transform_for_fingerprint(func: Callable[..., Any], version: str | None = None) -> str:
    """The full name of a function, with its version where it has one."""
    name = f"{func.__module__}.{func.__qualname__}"
    return name if version is None else f"{name}@{version}"


def format_kwargs_for_fingerprint(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    use_kwargs: list[str] | None = None,
    ignore_kwargs: list[str] | None = None,
    randomized_function: bool = False,
) -> dict[str, Any]:
    """The arguments of a method call that make its result what it is."""
    bound = inspect.signature(func).bind(*args, **kwargs)
    own = next(iter(inspect.signature(func).parameters), None)
    if randomized_function:
        bound.apply_defaults()
    ignored = {own, *(ignore_kwargs or ())}
    kept = {name: value for name, value in bound.arguments.items() if name not in ignored}
    return {name: value for name, value in kept.items() if use_kwargs is None or name in use_kwargs}


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
