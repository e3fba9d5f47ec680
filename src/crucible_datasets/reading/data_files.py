"""Stage 2 of 6: `data_files` in any of its forms → patterns for each split."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.reading.braces import expanded
from crucible_datasets.splits import NamedSplit

Patterns = dict[str, list[str]]


def patterns_of(data_files: Any) -> Patterns:
    """One path, several, a dict of split → paths, or a list of `{"split": …, "path": …}`.

    >>> patterns_of("a.csv")
    {'train': ['a.csv']}
    """
    if isinstance(data_files, Mapping):
        given = dict(data_files)
    elif isinstance(data_files, (list, tuple)) and any(isinstance(item, Mapping) for item in data_files):
        given = dict(map(_split_and_path, data_files))
        if len(given) < len(data_files):
            raise ArgumentError("data_files", data_files, "a split is named twice; give it a list of paths.")
    else:
        given = {"train": data_files}
    found = {_split(split): list(_paths(paths)) for split, paths in given.items()}
    if not found or not all(found.values()):
        raise NoFilesNamedError("data_files", data_files, "it is empty; name files, or leave it out.")
    return found


class NoFilesNamedError(ArgumentError, FileNotFoundError):
    """`data_files` is given but empty: Hugging Face raises the one error for files, the other for the Hub."""


def of_repository(patterns: Patterns, id: str, revision: str) -> Patterns:
    """The same patterns, with URLs into the repository itself as relative paths."""
    home = f"hf://datasets/{id}"
    at_revision = f"{home}@{quote(revision, safe='')}/"
    return {
        split: [one.removeprefix(f"{home}/").removeprefix(at_revision) for one in several]
        for split, several in patterns.items()
    }


def _split(name: object) -> str:
    if str(name) == "all":
        raise ArgumentError("data_files", "all", "'all' means all splits together; use another name.")
    return str(NamedSplit(str(name)))


def _split_and_path(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, Mapping) or set(item) != {"split", "path"}:
        raise ArgumentError("data_files", item, "in a list of dicts, each has the keys 'split' and 'path'.")
    return item["split"], item["path"]


def _paths(given: Any) -> Iterator[str]:
    if isinstance(given, (str, bytes, os.PathLike)):
        path = os.fsdecode(given)
        yield from [path] if os.path.exists(path) else expanded(path) if path else []
    elif isinstance(given, (list, tuple)):
        for item in given:
            yield from _paths(item)
    else:
        raise ArgumentTypeError("data_files", given, "expected paths: text, a list of it, or a dict of split → paths.")
