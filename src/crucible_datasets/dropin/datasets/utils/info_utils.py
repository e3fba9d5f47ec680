"""Forwards to the checks of `crucible_datasets.reading.verify`; the configurations of a dataset card."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ChecksumVerificationError,
    ExpectedMoreDownloadedFilesError,
    ExpectedMoreSplitsError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    SplitsVerificationError,
    UnexpectedDownloadedFileError,
    UnexpectedSplitsError,
)
from crucible_datasets.reading.modes import VerificationMode
from crucible_datasets.reading.verify import require_checksums, require_described, require_sizes

__all__ = [
    "ChecksumVerificationError",
    "ExpectedMoreDownloadedFilesError",
    "ExpectedMoreSplitsError",
    "MetadataConfigs",
    "NonMatchingChecksumError",
    "NonMatchingSplitsSizesError",
    "SplitsVerificationError",
    "UnexpectedDownloadedFileError",
    "UnexpectedSplitsError",
    "VerificationMode",
    "get_size_checksum_dict",
    "is_small_dataset",
    "verify_checksums",
    "verify_splits",
]


def verify_checksums(
    expected_checksums: Mapping[str, Any] | None,
    recorded_checksums: Mapping[str, Any],
    verification_name: str | None = None,
) -> None:
    """An error unless the files are those expected."""
    require_checksums(expected_checksums, recorded_checksums)


def verify_splits(expected_splits: Any, recorded_splits: Any) -> None:
    """An error unless the splits are those expected, with as many rows."""
    require_described(expected_splits, recorded_splits)
    require_sizes(expected_splits, {name: info.num_examples for name, info in recorded_splits.items()})


def get_size_checksum_dict(path: str, record_checksum: bool = False) -> dict[str, Any]:
    """The size of a file, and the digest of its bytes where it is asked for."""
    checksum = None
    if record_checksum:
        with open(path, "rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return {"num_bytes": os.path.getsize(path), "checksum": checksum}


def is_small_dataset(dataset_size: int | None) -> bool:
    """Whether a dataset of that size is kept in memory, as the settings say."""
    return bool(dataset_size and config.IN_MEMORY_MAX_SIZE and dataset_size < config.IN_MEMORY_MAX_SIZE)


class MetadataConfigs(dict[str, dict[str, Any]]):
    """What a card says of each configuration, by its name."""

    FIELD_NAME: ClassVar[str] = config.METADATA_CONFIGS_FIELD

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: Any) -> Self:
        """The configurations that a card states."""
        stated = dataset_card_data.get(cls.FIELD_NAME) or []
        return cls({entry["config_name"]: _without_name(entry) for entry in stated})

    def to_dataset_card_data(self, dataset_card_data: Any) -> None:
        """State these configurations in a card, beside those that it has."""
        if self:
            known = {**self.from_dataset_card_data(dataset_card_data), **self}
            stated = [{"config_name": name, **entry} for name, entry in sorted(known.items())]
            dataset_card_data[self.FIELD_NAME] = stated

    def get_default_config_name(self) -> str | None:
        """The configuration that is meant when none is named: the one marked so, or called so, or the only one."""
        marked = [name for name, entry in self.items() if entry.get("default")]
        only = list(self) if len(self) == 1 else []
        return next(iter([*(["default"] if "default" in self else []), *marked, *only]), None)


def _without_name(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "config_name"}
