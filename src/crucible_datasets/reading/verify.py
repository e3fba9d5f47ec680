"""Stage 3 of 6: comparing splits with the dataset's card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.exceptions import (
    ExpectedMoreDownloadedFilesError,
    ExpectedMoreSplitsError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    UnexpectedDownloadedFileError,
    UnexpectedSplitsError,
)
from crucible_datasets.splits import SplitDict


def require_described(described: SplitDict | None, found: Iterable[str]) -> None:
    """Raise unless exactly the described splits exist."""
    names = list(found)
    if not described:
        return
    if missing := [name for name in described if name not in names]:
        raise ExpectedMoreSplitsError(missing, names)
    if extra := [name for name in names if name not in described]:
        raise UnexpectedSplitsError(extra, list(described))


def require_sizes(described: SplitDict | None, num_rows: Mapping[str, int]) -> None:
    """Raise unless the splits have the described numbers of rows."""
    stated = {name: info.num_examples for name, info in (described or {}).items()}
    if wrong := {name: (stated[name], rows) for name, rows in num_rows.items() if stated.get(name, rows) != rows}:
        raise NonMatchingSplitsSizesError(wrong)


def require_checksums(described: Mapping[str, Any] | None, found: Mapping[str, Any]) -> None:
    """Raise unless the downloaded files are those described, with the same sizes and checksums."""
    if not described:
        return
    if missing := sorted(described.keys() - found.keys()):
        raise ExpectedMoreDownloadedFilesError(missing)
    if extra := sorted(found.keys() - described.keys()):
        raise UnexpectedDownloadedFileError(extra)
    if wrong := sorted(url for url in described if dict(described[url]) != dict(found[url])):
        raise NonMatchingChecksumError(wrong)
