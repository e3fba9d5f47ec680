"""`split_dataset_by_node`: the part of a dataset for one of several machines."""

from __future__ import annotations

from typing import Literal, TypeVar

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.streams import mixing

DatasetType = TypeVar("DatasetType", Dataset, IterableDataset)


def split_dataset_by_node(
    dataset: DatasetType,
    rank: int,
    world_size: int,
    strategy: Literal["auto", "shards", "examples"] = "auto",
    deterministic: bool = False,
    block_size: int = 1,
) -> DatasetType:
    """The part of a dataset that machine `rank` of `world_size` reads.

    A `Dataset` is split into contiguous parts. For a stream, machines read different shards if these can be divided
    evenly (or always: `strategy="shards"`), else every `world_size`-th row (`"examples"`). With `deterministic`
    blocks of rows are dealt out in an order that does not depend on the number of machines and workers.
    """
    if isinstance(dataset, IterableDataset):
        return dataset._with(mixing.of_node, rank, world_size, strategy, block_size if deterministic else None)
    if strategy != "auto":
        raise ArgumentError("strategy", strategy, "only streams can be split otherwise than 'auto'.")
    return dataset.shard(world_size, rank, contiguous=True)
