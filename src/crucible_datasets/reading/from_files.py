"""Stage 3 of 6: files of a given format → views, for `Dataset.from_csv` and the like."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from crucible_datasets.exceptions import ArgumentTypeError
from crucible_datasets.features import Features
from crucible_datasets.keywords import passing_on
from crucible_datasets.reading.access import Access
from crucible_datasets.reading.reader import How, SplitReader
from crucible_datasets.reading.resolve import resolve
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.view import View


def one_split(
    format: str,
    paths: Any,
    split: str | NamedSplit | None = None,
    features: Mapping[str, Any] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
    **options: Any,
) -> View:
    """The rows of all files as one split, `train` unless named otherwise."""
    if isinstance(paths, Mapping) and split is None:
        raise ArgumentTypeError("path_or_paths", paths, "a dict of splits is for DatasetDict, or name the split.")
    name = str(split or "train")
    named = paths if isinstance(paths, Mapping) else {name: paths}
    return _reader(format, named, features, How(cache_dir, keep_in_memory, num_proc), options).rows(name)


def splits(
    format: str,
    paths: Any,
    features: Mapping[str, Any] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
    **options: Any,
) -> dict[str, View]:
    """The rows of each split."""
    return _reader(format, paths, features, How(cache_dir, keep_in_memory, num_proc), options).all()


def _reader(
    format: str, paths: Any, features: Mapping[str, Any] | None, how: How, options: Mapping[str, Any]
) -> SplitReader:
    given = dict(options)
    access = Access.of(None, given.pop("token", None), given.pop("storage_options", None), None)
    with passing_on(one_split):
        found = resolve(format, data_files=paths, options=given, access=access)
    return SplitReader(found, None if features is None else Features(features), how)
