"""`Fingerprint`: the identity of a dataset's content, computed lazily.

A chain of operations leaves a chain of fingerprints, each with its parent, the operation and its arguments. The first
call of `str` hashes the chain and releases it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.forking import Lock
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.logging import get_logger

if TYPE_CHECKING:
    import pyarrow as pa

    from crucible_datasets.features import Features
    from crucible_datasets.hashing import Hasher, UnhashableError

__all__ = [
    "Fingerprint",
    "Hasher",
    "UnhashableError",
    "disable_caching",
    "enable_caching",
    "is_caching_enabled",
    "set_caching_enabled",
]

logger = get_logger(__name__)

_caching_enabled = True
_UNFIT_FOR_FILE_NAMES = r"<>:/\|?*"
_warned: set[str] = set()


def __getattr__(name: str) -> Any:
    # most programs that read rows need no hash
    if name not in ("Hasher", "UnhashableError"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from crucible_datasets import hashing

    return getattr(hashing, name)


def enable_caching() -> None:
    """Cache results for later runs (the default)."""
    set_caching_enabled(True)


def disable_caching() -> None:
    """Cache results only as long as the program runs."""
    set_caching_enabled(False)


def set_caching_enabled(boolean: bool) -> None:
    """Whether results are cached for later runs."""
    global _caching_enabled
    _caching_enabled = bool(boolean)


def is_caching_enabled() -> bool:
    """Whether results are cached for later runs."""
    return _caching_enabled


def version_of(facts: os.stat_result) -> tuple[int, int, int]:
    """What changes when the content of a file does: copying tools may set the time of modification back."""
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


class Fingerprint:
    """The identity of content; `str` computes it once.

    >>> str(Fingerprint.fixed("abc"))
    'abc'
    """

    __slots__ = ("_content", "_lock", "_parent", "_text")

    def __init__(self, text: str | None, parent: Fingerprint | None = None, content: Any = None) -> None:
        self._text, self._parent, self._content = text, parent, content
        self._lock = Lock()

    @classmethod
    def fixed(cls, text: str) -> Fingerprint:
        """A fingerprint that is already known, or chosen by the user."""
        if not isinstance(text, str) or not 0 < len(text) <= 64 or set(_UNFIT_FOR_FILE_NAMES) & set(text):
            raise ArgumentError("fingerprint", text, f"use 1 to 64 characters, and none of {_UNFIT_FOR_FILE_NAMES}")
        return cls(text)

    @classmethod
    def of_table(cls, table: pa.Table, features: Features | None = None) -> Fingerprint:
        """The fingerprint of a table's content, and of what it means: functions get decoded values."""
        return cls(None, content=(table, features))

    @classmethod
    def of_file(cls, path: str) -> Fingerprint:
        """The fingerprint of a file, from its path and the version of its content."""
        return cls(None, content=("file", os.path.abspath(path), *version_of(os.stat(path))))

    def derive(self, operation: str, **facts: Any) -> Fingerprint:
        """The fingerprint after an operation with these arguments, which must not change any more."""
        return Fingerprint(None, self, (operation, facts))

    def __str__(self) -> str:
        unsettled, ancestor = [], self
        # A loop, because a chain of operations can exceed the recursion limit.
        while ancestor._text is None and (parent := ancestor._parent) is not None:
            unsettled.append(ancestor)
            ancestor = parent
        text = ancestor._settle(None)
        for fingerprint in reversed(unsettled):
            text = fingerprint._settle(text)
        return text

    def _settle(self, parent: str | None) -> str:
        from crucible_datasets.hashing import Hasher

        with self._lock:
            if self._text is None:
                self._text = Hasher.hash(self._content) if parent is None else _derived(parent, *self._content)
            self._parent = self._content = None
            return self._text

    def __repr__(self) -> str:
        return f"Fingerprint({self._text!r})" if self._text else "Fingerprint(not computed)"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, (Fingerprint, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __copy__(self) -> Fingerprint:
        return self

    def __deepcopy__(self, memo: Any) -> Fingerprint:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Fingerprint.fixed, (str(self),)


def _derived(parent: str, operation: str, facts: dict[str, Any]) -> str:
    from crucible_datasets.hashing import Hasher, UnhashableError

    hasher = Hasher()
    hasher.update((parent, operation, sorted(facts)))
    for name in sorted(facts):
        try:
            hasher.update(facts[name])
        except UnhashableError as error:
            _warn_once(operation, error.inside(f"{name} of {operation}"))
            return os.urandom(8).hex()
    return hasher.hexdigest()


def _warn_once(operation: str, error: UnhashableError) -> None:
    warning = f"{error} The result of {operation} gets a random fingerprint: no later run will find it in the cache."
    if warning not in _warned:
        _warned.add(warning)
        logger.warning(warning)


names_of_datasets(__name__)
