"""Errors that are raised only after all rows before them have been yielded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible_datasets.ops.mapping.user_functions import STOPPED, collect


def until_error(items: Iterator[Any], count: int | None = None) -> tuple[list[Any], BaseException | None]:
    """The items before an error, and the error.

    With `count`, fewer items are an error too.
    """
    found: list[Any] = []
    try:
        collect(items, found)
    except Exception as error:  # noqa: BLE001  it is raised behind the items
        return found, error
    if count is not None and len(found) < count:
        return found, RuntimeError(STOPPED)
    return found, None
