"""Braces in patterns: `data-{000..099}.tar` and `{train,test}.csv` stand for several names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crucible_datasets.exceptions import LimitExceededError

_RANGE = re.compile(r"\{(\d{1,18})\.\.(\d{1,18})\}|\{([^{},]*,[^{}]*)\}")
MOST = 1_000_000


def expanded(pattern: str) -> Iterator[str]:
    """The names that a pattern with braces stands for, in order; a pattern without is itself.

    >>> list(expanded("data-{08..10}.tar")), list(expanded("{a,b}.csv")), list(expanded("{a}.csv"))
    (['data-08.tar', 'data-09.tar', 'data-10.tar'], ['a.csv', 'b.csv'], ['{a}.csv'])
    """
    count = 1
    for found in _RANGE.finditer(pattern):
        count *= _count(found)
        if count > MOST:
            raise LimitExceededError(pattern, "the number of names it stands for", MOST, "reading.braces.MOST")
    yield from _expanded(pattern)


def _expanded(pattern: str) -> Iterator[str]:
    found = _RANGE.search(pattern)
    if found is None:
        yield pattern
        return
    for name in _names(found):
        yield from _expanded(f"{pattern[: found.start()]}{name}{pattern[found.end() :]}")


def _count(found: re.Match[str]) -> int:
    first, last, several = found.groups()
    return several.count(",") + 1 if several is not None else abs(int(last) - int(first)) + 1


def _names(found: re.Match[str]) -> Iterator[str]:
    first, last, several = found.groups()
    if several is not None:
        yield from several.split(",")
        return
    step = 1 if int(last) >= int(first) else -1
    is_padded = any(len(end) > 1 and end.startswith("0") for end in (first, last))
    width = max(len(first), len(last)) if is_padded else 0
    for number in range(int(first), int(last) + step, step):
        yield str(number).zfill(width)
