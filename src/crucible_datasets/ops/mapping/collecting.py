"""What a function gives for row after row → a list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any


def collect(results: Iterator[Any], found: list[Any]) -> None:
    """Append results to a list, which keeps those before an exception.

    A function may fill one dict anew for every row. Its second result tells; from then on each is copied as it comes.
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
