"""The number of files into which a dataset is written."""

from __future__ import annotations

from dataclasses import dataclass

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.parquet import byte_count
from crucible_datasets.ops.blocks import nbytes
from crucible_datasets.tables.view import View


@dataclass(frozen=True)
class Shards:
    """The number of data files, the number of processes that write them, and whether the caller chose them."""

    count: int
    workers: int
    are_asked_for: bool

    @classmethod
    def wanted(
        cls, view: View, max_shard_size: str | int | None, num_shards: int | None, num_proc: int | None
    ) -> Shards:
        """The number of shards that results from the caller's arguments."""
        if max_shard_size is not None and num_shards is not None:
            raise ArgumentError("num_shards", num_shards, "give either max_shard_size or num_shards, not both.")
        if num_shards is not None and num_shards < 1:
            raise ArgumentError("num_shards", num_shards, "expected at least 1.")
        most = byte_count(max_shard_size or config.MAX_SHARD_SIZE)
        if most < 1:
            raise ArgumentError("max_shard_size", max_shard_size, "expected a size above 0.")
        by_size = nbytes(view) // most + 1
        count = num_shards or max(1, min(max(by_size, num_proc or 1), len(view)))
        is_asked_for = not (max_shard_size is None and num_shards is None and num_proc is None)
        return cls(count, max(1, min(num_proc or 1, count)), is_asked_for)
