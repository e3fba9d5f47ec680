"""What the packages beside the API ask of data and users do not: its bounds, the order of its rows, its way elsewhere.

`benchmarks`, `evaluation` and `viewer` are built on the public API and on these functions; no other code of them looks
into a dataset.
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
    """The folders that paths in the data may lead into; None where nothing bounds them."""
    return data._view.media_roots if isinstance(data, Dataset) else data._stream.media_roots


def with_media_roots(dataset: Dataset, roots: Roots | None) -> Dataset:
    """The same rows, whose paths may lead into these folders."""
    return Dataset._of(replace(dataset._view, media_roots=roots))


def bounded_features(dataset: Dataset) -> Features:
    """The features, whose media open nothing outside of the folders of the data."""
    return dataset._view.readable


def stored_rows(dataset: Dataset) -> Rows:
    """Which rows of its table a dataset shows: a range where they lie side by side."""
    return dataset._view.rows


def carried(dataset: Dataset, sees_files: bool) -> Dataset:
    """The dataset as another machine reads it; `sees_files` says whether that finds the files of this one."""
    from crucible_datasets.ops.carrying import carried

    return Dataset._of(carried(dataset._view, range(len(dataset)), sees_files))
