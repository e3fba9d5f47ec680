"""Where results lie: in the cache, where later runs find them, or for as long as this program runs."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from crucible_datasets import config
from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.cache import default_cache
from crucible_datasets.fingerprint import Fingerprint, Hasher, UnhashableError, is_caching_enabled
from crucible_datasets.logging import get_logger

Make = Callable[[str], Mapping[str, Any] | None]

logger = get_logger(__name__)
_warned: set[str] = set()

# Part of every key: raised when the same call would leave other files than before.
LAYOUT = 1


@dataclass(frozen=True)
class Keeping:
    """How long a result is wanted, and under which name."""

    operation: str
    fingerprint: Fingerprint
    is_lasting: bool  # whether a later run would know the fingerprint
    in_memory: bool = False
    is_fresh: bool = False  # whether what an earlier run left must not be used
    inputs: tuple[str, ...] = ()  # the files that the result was made of

    @property
    def is_cached(self) -> bool:
        return self.is_lasting and not self.in_memory and is_caching_enabled()

    def folder(self, make: Make) -> str:
        """The folder that `make` has filled, now or in an earlier run."""
        if not self.is_cached:
            folder = tempfile.mkdtemp(prefix=f"{self.operation}-", dir=temporary_home())
            make(folder)
            return folder
        key, keeper = f"{self.operation}-{self.fingerprint}", default_cache()
        if self.is_fresh:
            keeper.remove(key)
        return keeper.resumable(key, make, {"kind": self.operation, "inputs": self.inputs})

    def release(self, folder: str) -> None:
        """Tell that a result was read into memory."""
        if self.in_memory:
            remove_tree(folder)


@cache
def temporary_home() -> str:
    """A folder that goes when the program ends."""
    home = tempfile.TemporaryDirectory(prefix=config.TEMP_CACHE_DIR_PREFIX)
    atexit.register(home.cleanup)  # a folder that goes with its object is a ResourceWarning
    return home.name


def identity(
    parent: Fingerprint, operation: str, function: Any, facts: Mapping[str, Any], given: str | None, key: str | None
) -> tuple[Fingerprint, bool]:
    """The fingerprint of a result, and whether a later run would find the same one.

    `given` is the fingerprint that the user wants, `key` stands for the function.
    """
    if given is not None:
        return Fingerprint.fixed(given), True
    try:
        known = Hasher.hash(("cache_key", key) if key is not None else function)
        told = Hasher.hash(sorted(facts.items()))
    except UnhashableError as error:
        _warn_once(f"{error} The result of {operation} is not kept for later runs. Pass cache_key to name it yourself.")
        return Fingerprint.fixed(os.urandom(8).hex()), False
    return Fingerprint.fixed(str(parent.derive(operation, function=known, facts=told, layout=LAYOUT))), True


def _warn_once(warning: str) -> None:
    if warning not in _warned:
        _warned.add(warning)
        logger.warning(warning)
