"""Forwards: data files by split, and the patterns that find them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from crucible_datasets.exceptions import EmptyDatasetError
from crucible_datasets.reading.data_files import patterns_of
from crucible_datasets.reading.patterns import matched
from crucible_datasets.sources.wildcards import is_pattern as contains_wildcards
from crucible_datasets.splits import Split

__all__ = [
    "DEFAULT_SPLITS",
    "FILES_TO_IGNORE",
    "SANITIZED_DEFAULT_SPLIT",
    "DataFilesDict",
    "DataFilesList",
    "EmptyDatasetError",
    "Url",
    "contains_wildcards",
    "resolve_pattern",
    "sanitize_patterns",
]

SANITIZED_DEFAULT_SPLIT = str(Split.TRAIN)
DEFAULT_SPLITS = [Split.TRAIN, Split.VALIDATION, Split.TEST]
FILES_TO_IGNORE = [
    "README.md",
    "config.json",
    "dataset_info.json",
    "dataset_infos.json",
    "dummy_data.zip",
    "dataset_dict.json",
]


class Url(str):
    """An address of a file."""


def sanitize_patterns(patterns: Any) -> dict[str, list[str]]:
    """The patterns of each split, in any form that `data_files` may have."""
    return {str(split): list(several) for split, several in patterns_of(patterns).items()}


def resolve_pattern(
    pattern: str, base_path: str, allowed_extensions: list[str] | None = None, download_config: Any = None
) -> list[str]:
    """The files that match a pattern, as seen from a folder."""
    found = matched(pattern, base_path)
    kept = [path for path in found if allowed_extensions is None or path.endswith(tuple(allowed_extensions))]
    if not kept:
        raise FileNotFoundError(f"No file matches {pattern!r} in {base_path!r}.")
    return kept


class DataFilesList(list[str]):
    """The files of a split."""

    def __init__(self, data_files: list[str], origin_metadata: list[tuple[str, ...]] | None = None) -> None:
        super().__init__(data_files)
        self.origin_metadata = origin_metadata or []

    @classmethod
    def from_patterns(
        cls,
        patterns: list[str],
        base_path: str | None = None,
        allowed_extensions: list[str] | None = None,
        download_config: Any = None,
    ) -> Self:
        """The files that match patterns."""
        found = [file for pattern in patterns for file in resolve_pattern(pattern, base_path or "", allowed_extensions)]
        return cls(found)


class DataFilesDict(dict[str, DataFilesList]):
    """The files of each split."""

    @classmethod
    def from_patterns(
        cls,
        patterns: Mapping[str, list[str]],
        base_path: str | None = None,
        allowed_extensions: list[str] | None = None,
        download_config: Any = None,
    ) -> Self:
        """The files that match the patterns of each split."""
        found = {
            split: DataFilesList.from_patterns(several, base_path, allowed_extensions)
            for split, several in patterns.items()
        }
        return cls(found)
