"""Several datasets as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops import combine
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.view import View


def concatenate_datasets(
    dsets: list[Dataset], info: DatasetInfo | None = None, split: NamedSplit | str | None = None, axis: int = 0
) -> Dataset:
    """The rows of several datasets under each other (axis 0), or their columns beside each other (axis 1).

    Data is shared, not copied. Columns that some datasets lack are null there.
    """
    return Dataset._of(combine.concatenate(_views(dsets), axis, info, split))


def interleave_datasets(
    datasets: list[Dataset],
    probabilities: list[float] | None = None,
    seed: int | None = None,
    info: DatasetInfo | None = None,
    split: NamedSplit | str | None = None,
    stopping_strategy: Literal[
        "first_exhausted", "all_exhausted", "all_exhausted_without_replacement"
    ] = "first_exhausted",
) -> Dataset:
    """Rows of several datasets in turns, or each time from one that is drawn by its probability.

    `first_exhausted` stops with the shortest, `all_exhausted` goes on until every row was
    used and starts datasets over, `all_exhausted_without_replacement` uses every row once.
    """
    return Dataset._of(combine.interleave(_views(datasets), probabilities, seed, info, split, stopping_strategy))


def _views(datasets: Sequence[Dataset]) -> list[View]:
    if not datasets:
        raise ArgumentError("datasets", datasets, "expected at least one dataset.")
    for position, dataset in enumerate(datasets):
        if not isinstance(dataset, Dataset):
            raise ArgumentError("datasets", type(dataset).__name__, f"number {position} is not a Dataset.")
    return [dataset._view for dataset in datasets]
