"""`concatenate_datasets` and `interleave_datasets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.info import DatasetInfo
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.ops import combine
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams import mixing

DatasetType = TypeVar("DatasetType", Dataset, IterableDataset)


def concatenate_datasets(
    dsets: list[DatasetType], info: DatasetInfo | None = None, split: NamedSplit | str | None = None, axis: int = 0
) -> DatasetType:
    """Concatenate the rows of several datasets (axis 0), or their columns (axis 1).

    Data is shared, not copied. Columns that some datasets lack are null there.
    """
    several = _listed(dsets)
    made: Any
    if _are_streams(several):
        made = IterableDataset._of(mixing.concatenate([stream._stream for stream in several], axis, info, split))
    else:
        made = Dataset._of(combine.concatenate([dataset._view for dataset in several], axis, info, split))
    return cast(DatasetType, made)


def interleave_datasets(
    datasets: list[DatasetType],
    probabilities: list[float] | None = None,
    seed: int | None = None,
    info: DatasetInfo | None = None,
    split: NamedSplit | str | None = None,
    stopping_strategy: Literal[
        "first_exhausted", "all_exhausted", "all_exhausted_without_replacement"
    ] = "first_exhausted",
) -> DatasetType:
    """Interleave the rows of several datasets, in turn or drawn by probability.

    `first_exhausted` stops with the shortest dataset, `all_exhausted` goes on until every row was used and restarts
    shorter datasets, `all_exhausted_without_replacement` uses every row once.
    """
    given = probabilities, seed, info, split, stopping_strategy
    several = _listed(datasets)
    made: Any
    if _are_streams(several):
        made = IterableDataset._of(mixing.interleave([stream._stream for stream in several], *given))
    else:
        made = Dataset._of(combine.interleave([dataset._view for dataset in several], *given))
    return cast(DatasetType, made)


def _listed(datasets: Iterable[object]) -> list[Any]:
    """The datasets as a list; raises for anything else."""
    if isinstance(datasets, Mapping):
        reason = f"expected a list of datasets, as list(splits.values()); these are {', '.join(map(str, datasets))}."
        raise ArgumentError("datasets", type(datasets).__name__, reason)
    if isinstance(datasets, (Dataset, IterableDataset)):  # iterating it might never end
        raise ArgumentError("datasets", type(datasets).__name__, "expected a list of datasets, as [dataset].")
    return list(datasets or ())


def _are_streams(datasets: Sequence[object]) -> bool:
    """Whether all are streams; raises if datasets and streams are mixed."""
    if not datasets:
        raise ArgumentError("datasets", datasets, "expected at least one dataset.")
    kind = IterableDataset if isinstance(datasets[0], IterableDataset) else Dataset
    for position, dataset in enumerate(datasets):
        if not isinstance(dataset, kind):
            reason = f"number {position} is no {kind.__name__}, and streams cannot be mixed with datasets."
            raise ArgumentError("datasets", type(dataset).__name__, reason)
    return kind is IterableDataset
