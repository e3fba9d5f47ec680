"""`Hasher`: the digest of a value and of everything it refers to."""

from __future__ import annotations

import dataclasses
import enum
import sys
from pathlib import PurePath
from typing import Any

import xxhash

from crucible_datasets.forking import Lock
from crucible_datasets.hashing import containers, functions, libraries, modules, objects
from crucible_datasets.hashing.walk import UnhashableError, Walk, Walker

_DEEPEST = 10_000
_one_at_a_time = Lock()


class Hasher:
    """Digests of values, sixteen hex digits each.

    >>> Hasher.hash({"a": 1, "b": 2}) == Hasher.hash({"b": 2, "a": 1})
    True
    """

    def __init__(self) -> None:
        self._digest = xxhash.xxh64()
        self.packages: set[str] = set()  # installed packages that the values refer to

    @classmethod
    def hash_bytes(cls, value: bytes | list[bytes]) -> str:
        """The digest of bytes, or of a sequence of bytes."""
        digest = xxhash.xxh64()
        for part in value if isinstance(value, list) else [value]:
            digest.update(part)
        return digest.hexdigest()

    @classmethod
    def hash(cls, value: Any) -> str:
        """The digest of a value and of everything it refers to."""
        hasher = cls()
        hasher.update(value)
        return hasher.hexdigest()

    def update(self, value: Any) -> None:
        """Add a value; a function counts by what it does."""
        before = self._digest.copy()
        try:
            self._walk(value)
        except RecursionError:
            self._digest = before
            self._update_deeply(value)

    def _walk(self, value: Any) -> None:
        walk = Walk(self._digest, walker_of)
        walk.feed_called(value)
        walk.end()
        self.packages |= walk.mentions.packages

    def _update_deeply(self, value: Any) -> None:
        """Add a value with a higher recursion limit, for deep chains of functions."""
        with _one_at_a_time:
            usual = sys.getrecursionlimit()
            try:
                sys.setrecursionlimit(max(usual, _DEEPEST))
                self._walk(value)
            except RecursionError:
                raise UnhashableError(f"{objects.name_of(type(value))}, nested this deeply,") from None
            finally:
                sys.setrecursionlimit(usual)

    def hexdigest(self) -> str:
        """The digest of the values so far."""
        return self._digest.hexdigest()


_BY_VALUE: dict[type, Walker] = {**containers.BY_VALUE, **functions.BY_VALUE, **objects.BY_VALUE}
_BY_NAME: dict[str, Walker] = {**containers.BY_NAME, **modules.BY_NAME, **libraries.BY_NAME}


def walker_of(kind: type) -> tuple[Walker, bool]:
    """The function that walks values of a class, and whether equal values that are not identical hash alike."""
    if kind in _BY_VALUE:
        return _BY_VALUE[kind], True
    if kind in functions.BY_TYPE:
        return functions.BY_TYPE[kind], False
    if issubclass(kind, type):
        return functions.walk_class, False
    named = next((_BY_NAME[name] for name in map(objects.name_of, kind.__mro__) if name in _BY_NAME), None)
    if named:
        return named, False
    if issubclass(kind, enum.Enum):
        return objects.walk_enum, True
    if issubclass(kind, PurePath):
        return objects.walk_path, True
    if dataclasses.is_dataclass(kind) and not objects.has_own_recipe(kind):
        return objects.walk_dataclass, True
    return objects.walk_object, False
