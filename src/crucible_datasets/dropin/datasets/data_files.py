"""Forwards: data files by split."""

from __future__ import annotations

from crucible_datasets.exceptions import EmptyDatasetError
from crucible_datasets.reading.patterns import is_pattern as contains_wildcards

__all__ = ["DataFilesDict", "DataFilesList", "EmptyDatasetError", "contains_wildcards"]


class DataFilesList(list[str]):
    """The files of a split."""

    def __init__(self, data_files: list[str], origin_metadata: list[tuple[str, ...]] | None = None) -> None:
        super().__init__(data_files)
        self.origin_metadata = origin_metadata or []


class DataFilesDict(dict[str, DataFilesList]):
    """The files of each split."""
