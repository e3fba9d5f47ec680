"""Results and errors of users' functions: collected in a list, and annotated with the rows they came from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from crucible_datasets.exceptions import ColumnNotFoundError

STOPPED = "the function raised StopIteration"  # which looks like the end of the rows


def collect(results: Iterator[Any], found: list[Any]) -> None:
    """Append results to a list, which keeps those before an exception.

    A function may return the same dict, filled again, for every row. If its second result is the first, each is copied.
    """
    for first in islice(results, 1):
        found.append(_copied(first))
        for second in islice(results, 1):
            is_reused = second is first and type(first) is dict
            found.append(_copied(second) if is_reused else second)
            if is_reused:
                found.extend(map(_copied, results))
                return
            found[-2] = first
            found.extend(results)
            return
        found[-1] = first


def _copied(result: Any) -> Any:
    return dict(result) if type(result) is dict else result


def note_origin(error: BaseException, name: str, rows: range, columns: Collection[str]) -> None:
    """Add notes to an error: the function and the rows, and the available columns if one is missing."""
    where = f"row {rows.start}" if len(rows) == 1 else f"rows {rows.start} to {rows.stop - 1}"
    error.add_note(f"This came from {name} on {where}.")
    missing = error.args[0] if type(error) is KeyError and error.args else None
    if isinstance(missing, str) and missing not in columns:
        error.add_note(str(ColumnNotFoundError(missing, columns)))
