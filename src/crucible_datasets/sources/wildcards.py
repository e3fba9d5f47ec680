"""Paths with wildcards: `*`, `?` and `[abc]` stand for parts of one name, `**` for any number of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WILDCARD = re.compile(r"[*?[]")


def is_pattern(text: str) -> bool:
    """Whether a text has wildcards."""
    return _WILDCARD.search(text) is not None


def readings(path: str) -> Iterator[tuple[str, bool]]:
    """What a path may mean, the likelier first: the folder to look in, and whether the rest is a pattern.

    Names may contain `?` and `[`, so these are taken literally first: a file that was listed is found by its URL.
    """
    if "*" not in path:
        yield path, False
    if is_pattern(path):
        yield folder_of(path), True


def folder_of(pattern: str) -> str:
    """The folder above the first wildcard."""
    return _WILDCARD.split(pattern, maxsplit=1)[0].rpartition("/")[0]
