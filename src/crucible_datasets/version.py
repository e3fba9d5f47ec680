"""`Version`: the three numbers of a dataset's version, comparable with strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import total_ordering
from typing import Any

from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.records import dataclass

_THREE_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)$")


class VersionFormatError(DatasetsError, ValueError):
    """A version is not three numbers with dots between them."""

    def message(self, version: str) -> str:
        self.version = version
        return f"{version!r} is not a version. Write three numbers, as in '1.0.0'."


class VersionComparisonError(DatasetsError, TypeError):
    """A version was ordered against something that is neither a version nor a string."""

    def message(self, other: str) -> str:
        self.other = other
        return f"A version cannot be compared with {other}. Compare it with a Version or a string like '1.0.0'."


@total_ordering
@dataclass(eq=False, repr=False)
class Version:
    """A version `major.minor.patch`.

    >>> Version("1.2.3") < "1.10.0"
    True
    """

    version_str: str
    description: str | None = None
    major: str | int | None = None
    minor: str | int | None = None
    patch: str | int | None = None

    def __post_init__(self) -> None:
        self.major, self.minor, self.patch = _numbers(self.version_str)

    @property
    def tuple(self) -> tuple[Any, Any, Any]:
        return self.major, self.minor, self.patch

    def __repr__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def __eq__(self, other: object) -> bool:
        try:
            return self.tuple == _comparable(other)
        except (VersionFormatError, VersionComparisonError):
            return False

    def __lt__(self, other: object) -> bool:
        return self.tuple < _comparable(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Version:
        """The version of a dict of its fields; other keys are ignored."""
        return cls(**{item.name: dic[item.name] for item in fields(cls) if item.name in dic})

    def _to_yaml_string(self) -> str:
        return self.version_str


def _numbers(text: str) -> tuple[int, int, int]:
    found = _THREE_NUMBERS.match(text)
    if not found:
        raise VersionFormatError(text)
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch)


def _comparable(other: object) -> tuple[Any, Any, Any]:
    if isinstance(other, Version):
        return other.tuple
    if isinstance(other, str):
        return _numbers(other)
    raise VersionComparisonError(f"{other!r} ({type(other).__name__})")
