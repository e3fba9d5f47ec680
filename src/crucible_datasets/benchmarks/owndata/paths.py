"""Nested values by path: `"question"`, `"meta.level"`, `"answers.text.0"`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crucible_datasets.exceptions import MissingFieldError
from crucible_datasets.features import LargeList, List

Row = Mapping[str, Any]


class PathError(LookupError):
    """A row has no value at a path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.column = path


def root_of(path: str, columns: Sequence[str]) -> str | None:
    """The column of a path: the longest column name that it begins with; None if there is none."""
    steps = path.split(".")
    names = (".".join(steps[:size]) for size in range(len(steps), 0, -1))
    return next((name for name in names if name in columns), None)


def getter(path: str, columns: Sequence[str], dataset: str, field: str) -> Callable[[Row], Any]:
    """The function from a row to the value at a path; None if a value on the way is None."""
    root = root_of(path, columns)
    if root is None:
        raise MissingFieldError(dataset, field, path, columns)
    steps = path[len(root) + 1 :].split(".") if path != root else []
    return lambda row: _walked(row[root], steps, path)


def _walked(value: Any, steps: list[str], path: str) -> Any:
    for step in steps:
        if value is None:
            return None
        value = _inside(value, step, path)
    return value


def _inside(value: Any, step: str, path: str) -> Any:
    if isinstance(value, Mapping):
        if step not in value:
            raise PathError(path, f"there is no {step!r} among {', '.join(map(str, value)) or 'nothing'}")
        return value[step]
    if isinstance(value, list) and step.lstrip("-").isdigit():
        if not -len(value) <= int(step) < len(value):
            raise PathError(path, f"there is no item {step} in a list of {len(value)}")
        return value[int(step)]
    raise PathError(path, f"{step!r} cannot be looked up in {type(value).__name__}")


def feature_at(path: str, features: Mapping[str, Any]) -> Any:
    """The type of the value at a path; None if unknown."""
    root = root_of(path, list(features))
    kind = None if root is None else features[root]
    for step in path[len(root) + 1 :].split(".") if root is not None and path != root else []:
        if isinstance(kind, dict) and step in kind:
            kind = kind[step]
        elif isinstance(kind, (List, LargeList)) and step.lstrip("-").isdigit():
            kind = kind.feature
        else:
            return None
    return kind
