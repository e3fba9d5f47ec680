"""Where results are stored: in the cache, for later runs, or in a temporary folder for this program."""

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

# Part of every key: incremented when the files of the same call change.
LAYOUT = 2


@dataclass(frozen=True)
class ResultCache:
    """Where and how long the result of one operation is kept."""

    operation: str
    fingerprint: Fingerprint
    is_lasting: bool  # whether a later run would compute the same fingerprint
    in_memory: bool = False
    is_fresh: bool = False  # whether earlier results must not be reused
    inputs: tuple[str, ...] = ()  # the input files

    @property
    def is_cached(self) -> bool:
        return self.is_lasting and not self.in_memory and is_caching_enabled()

    def folder(self, make: Make) -> str:
        """The folder filled by `make`, now or in an earlier run."""
        if not self.is_cached:
            folder = tempfile.mkdtemp(prefix=f"{self.operation}-", dir=temporary_home())
            make(folder)
            return folder
        key, keeper = f"{self.operation}-{self.fingerprint}", default_cache()
        if self.is_fresh:
            keeper.remove(key)
        return keeper.resumable(key, make, {"kind": self.operation, "inputs": self.inputs})

    def release(self, folder: str) -> None:
        """Remove the folder once a result was read into memory."""
        if self.in_memory:
            remove_tree(folder)


def temporary_home() -> str:
    """A folder that is removed when this process exits."""
    return _home_of(os.getpid())


@cache
def _home_of(process: int) -> str:
    home = tempfile.mkdtemp(prefix=config.TEMP_CACHE_DIR_PREFIX)
    atexit.register(_remove, home, process)
    return home


def _remove(home: str, process: int) -> None:
    if os.getpid() == process:  # a fork of the program exits while the program goes on
        remove_tree(home)


def identity(
    parent: Fingerprint, operation: str, function: Any, facts: Mapping[str, Any], given: str | None, key: str | None
) -> tuple[Fingerprint, bool]:
    """The fingerprint of a result, and whether a later run would compute the same one.

    `given` is a fingerprint chosen by the user, `key` stands for the function.
    """
    if given is not None:
        return Fingerprint.fixed(given), True
    try:
        hashed_function = Hasher.hash(("cache_key", key) if key is not None else function)
        hashed_facts = Hasher.hash(sorted(facts.items()))
    except UnhashableError as error:
        _warn_once(f"{error} The result of {operation} is not kept for later runs. Pass cache_key to name it yourself.")
        return Fingerprint.fixed(os.urandom(8).hex()), False
    derived = parent.derive(operation, function=hashed_function, facts=hashed_facts, layout=LAYOUT)
    return Fingerprint.fixed(str(derived)), True


def _warn_once(warning: str) -> None:
    if warning not in _warned:
        _warned.add(warning)
        logger.warning(warning)
