"""The types that signatures of readers and writers name."""

import os
from typing import TypeVar, Union

T = TypeVar("T")
ListLike = list[T] | tuple[T, ...]
NestedDataStructureLike = Union[T, list[T], dict[str, T]]  # noqa: UP007 - a variable first is no alias to type checkers
PathLike = str | bytes | os.PathLike[str]

__all__ = ["ListLike", "NestedDataStructureLike", "PathLike", "T"]
