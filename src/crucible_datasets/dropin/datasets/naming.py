"""The names that prepared datasets have on the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from crucible_datasets.exceptions import ArgumentError

__all__ = [
    "INVALID_WINDOWS_CHARACTERS_IN_PATH",
    "camelcase_to_snakecase",
    "filename_prefix_for_name",
    "filename_prefix_for_split",
    "filenames_for_dataset_split",
    "filepattern_for_dataset_split",
    "snakecase_to_camelcase",
]

INVALID_WINDOWS_CHARACTERS_IN_PATH = r"<>:/\|?*"
_split_re = r"^\w+(\.\w+)*$"


def camelcase_to_snakecase(name: str) -> str:
    """`HelloWorld` as `hello_world`."""
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z\d])(?=[A-Z])", "_", name).lower()


def snakecase_to_camelcase(name: str) -> str:
    """`hello_world` as `HelloWorld`."""
    return "".join(
        part if set(part) == {"_"} else part.capitalize() for part in re.split(r"(?<!_)_(?!_)|(__+)", name) if part
    )


def filename_prefix_for_name(name: str) -> str:
    """How the files of a dataset begin."""
    if os.path.basename(name) != name:
        raise ArgumentError("name", name, "expected the name of a dataset, not a path.")
    return camelcase_to_snakecase(name)


def filename_prefix_for_split(name: str, split: str) -> str:
    """How the files of a split begin."""
    return f"{filename_prefix_for_name(name)}-{split}"


def filenames_for_dataset_split(
    path: str,
    dataset_name: str,
    split: str,
    filetype_suffix: str | None = None,
    shard_lengths: Sequence[int] | None = None,
) -> list[str]:
    """The files of a split."""
    start = os.path.join(path, filename_prefix_for_split(dataset_name, split))
    end = f".{filetype_suffix}" if filetype_suffix else ""
    count = len(shard_lengths or ())
    if count < 2:
        return [start + end]
    return [f"{start}-{shard:05d}-of-{count:05d}{end}" for shard in range(count)]


def filepattern_for_dataset_split(
    dataset_name: str, split: str, data_dir: str, filetype_suffix: str | None = None
) -> str:
    """A pattern that the files of a split match."""
    end = f".{filetype_suffix}" if filetype_suffix else ""
    return os.path.join(data_dir, f"{filename_prefix_for_split(dataset_name, split)}{end}*")
