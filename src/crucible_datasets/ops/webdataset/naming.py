"""Names of shards and samples."""

from __future__ import annotations

import os
import re
from typing import Any

from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.records import dataclass

_NUMBER = re.compile(r"%(0?)(\d*)d")
# Readers skip these: hidden files, those of archivers, and special names of the webdataset package.
_PASSED_OVER = re.compile(r"(^|/)(\.|__MACOSX(/|$)|__[^/]*__($|/))")
_UNFIT = re.compile(r"(^|/)\.{0,2}(/|$)|[\x00-\x1f\x7f\\]")


@dataclass(frozen=True)
class Pattern:
    """The paths of shards: `out-%05d.tar`, or the path of a single shard."""

    text: str
    has_number: bool

    @classmethod
    def of(cls, path: str | bytes | os.PathLike[Any]) -> Pattern:
        text = os.fsdecode(path)
        places = len(_NUMBER.findall(text))
        if places > 1:
            raise ArgumentError("path", text, "one place for the number of a shard is enough, as in 'out-%05d.tar'.")
        return cls(text, bool(places))

    def path(self, number: int) -> str:
        """The path of a shard."""
        if number and not self.has_number:
            reason = "the samples fill several shards, which need a number in their names, as in 'out-%05d.tar'."
            raise ArgumentError("path", self.text, reason)
        return _NUMBER.sub(lambda found: _padded(number, *found.groups()), self.text)


def _padded(number: int, zero: str, width: str) -> str:
    return str(number).rjust(int(width or 0), "0" if zero else " ")


def width_of(count: int) -> int:
    """The number of digits of the numbers of `count` samples."""
    return max(6, len(str(max(count - 1, 0))))


def require_key(key: Any, row: int, column: str = "__key__") -> str:
    """Raise for a key that readers would not restore: the last part of the path must not contain a dot."""
    if not isinstance(key, str) or not key:
        raise _unfit(key, row, column, "a key is a text that is not empty.")
    if "." in key.rpartition("/")[2]:
        raise _unfit(key, row, column, "readers end a key at the first dot of the file's name.")
    if _UNFIT.search(key):
        raise _unfit(key, row, column, "a key is a relative path without control characters.")
    if _PASSED_OVER.search(key):
        raise _unfit(key, row, column, "readers pass over files of this name.")
    return key


def _unfit(key: Any, row: int, column: str, reason: str) -> ValueTypeError:
    return ValueTypeError(column, row, repr(key), "a key of a sample", reason)
