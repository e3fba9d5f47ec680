"""What came before an error, so that a stream gives all rows before the one that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible_datasets.ops.mapping.collecting import collect


def until_error(items: Iterator[Any], count: int | None = None) -> tuple[list[Any], BaseException | None]:
    """The items, and the error that came instead of the rest.

    Where `count` is told, fewer are an error as well: a function raised `StopIteration`, which would pass for the end.
    """
    found: list[Any] = []
    try:
        collect(items, found)
    except Exception as error:  # noqa: BLE001  it is raised behind the items
        return found, error
    if count is not None and len(found) < count:
        return found, RuntimeError("the function raised StopIteration")
    return found, None
