"""What `benchmarks`, `evaluation` and `viewer` need from a dataset beyond the public API.

They are built on the public API and on these functions, and access no other internals of a dataset.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.iterable_dataset import IterableDataset

if TYPE_CHECKING:
    from crucible_datasets.features import Features
    from crucible_datasets.features.bounds import Roots
    from crucible_datasets.tables.rows import Rows


def media_roots(data: Dataset | IterableDataset) -> Roots | None:
    """The folders that media paths in the data may point into; None if unrestricted."""
    return data._view.media_roots if isinstance(data, Dataset) else data._stream.media_roots


def with_media_roots(dataset: Dataset, roots: Roots | None) -> Dataset:
    """The same rows, with media paths restricted to these folders."""
    return Dataset._of(replace(dataset._view, media_roots=roots))


def bounded_features(dataset: Dataset) -> Features:
    """The features, whose media open no file outside the media roots."""
    return dataset._view.readable


def stored_rows(dataset: Dataset) -> Rows:
    """The row indices of its table that a dataset shows: a range if contiguous, else an array."""
    return dataset._view.rows


def portable(dataset: Dataset, sees_files: bool) -> Dataset:
    """The dataset in a form that another machine can read; `sees_files` says whether it shares our file system."""
    from crucible_datasets.ops.transport import portable

    return Dataset._of(portable(dataset._view, range(len(dataset)), sees_files))
