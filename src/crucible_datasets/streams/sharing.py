"""Which rows each reader gets when several machines, with several processes each, read one stream."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.concatenated import Beside
from crucible_datasets.streams.dealt import Dealt, DealtAlike, Origin, dealt_low
from crucible_datasets.streams.source import Source

STRATEGIES = ("auto", "shards", "examples")


@dataclass(frozen=True)
class Node:
    """One machine of several. With a `block_size`, rows are dealt in blocks of that size from one global order."""

    rank: int = 0
    world_size: int = 1
    strategy: str = "auto"
    block_size: int | None = None

    def within(self, rank: int, world_size: int, strategy: str, block_size: int | None) -> Node:
        """This machine's part, divided further."""
        _require(rank, world_size, strategy, block_size)
        inner = self.rank * world_size + rank, self.world_size * world_size
        return Node(*inner, strategy, block_size or self.block_size)

    def dealing(self, block_size: int | None) -> Node:
        """The same machine, with another block size."""
        _require(self.rank, self.world_size, self.strategy, block_size)
        return replace(self, block_size=block_size)

    def shares_shards(self, num_shards: int) -> bool:
        """Whether machines read different shards, rather than different rows of the same ones."""
        return self.strategy == "shards" or (self.strategy == "auto" and num_shards % self.world_size == 0)


def _require(rank: int, world_size: int, strategy: str, block_size: int | None) -> None:
    if world_size < 1:
        raise ArgumentError("world_size", world_size, "expected at least 1.")
    if not 0 <= rank < world_size:
        raise ArgumentError("rank", rank, f"expected a number from 0 to {world_size - 1}.")
    if strategy not in STRATEGIES:
        raise ArgumentError("strategy", strategy, f"expected one of {', '.join(STRATEGIES)}.")
    if block_size is not None and block_size < 1:
        raise ArgumentError("block_size", block_size, "expected at least 1.")


@dataclass(frozen=True)
class Part:
    """One reader: a process on a machine."""

    rank: int = 0
    world_size: int = 1
    worker: int = 0
    num_workers: int = 1
    is_worker: bool = False  # also the only worker draws numbers of its own, as in Hugging Face `datasets`

    @property
    def count(self) -> int:
        return self.world_size * self.num_workers

    @property
    def index(self) -> int:
        """Its index among all readers: first the first worker of every machine, as when machines run in lockstep."""
        return self.worker * self.world_size + self.rank


def part_here(node: Node) -> Part:
    """The reader of this process, which may be a worker of torch's `DataLoader`."""
    torch = sys.modules.get("torch.utils.data")
    info: Any = torch.get_worker_info() if torch is not None else None
    if info is None:
        return Part(node.rank, node.world_size)
    return Part(node.rank, node.world_size, info.id, info.num_workers, is_worker=True)


def part_of(stage: Stage, node: Node, part: Part, origin: Origin | None = None) -> Stage:
    """The rows of a stage for one reader. Together the readers get every row once."""
    if node.block_size is not None:
        return dealt_low(stage, node.block_size, part.count, part.index, origin)
    by_shard = node.world_size > 1 and node.shares_shards(stage.num_shards)
    by_row = node.world_size > 1 and not by_shard
    if by_shard:
        stage = share(stage, node.world_size, node.rank)
    if part.num_workers > 1:
        stage = share(stage, part.num_workers, part.worker)
    if part.is_worker:
        stage = stage.shifted(part.worker)
    return dealt_low(stage, 1, node.world_size, node.rank) if by_row else stage


def share(stage: Stage, count: int, index: int) -> Stage:
    """Every `count`-th shard; if there are too few, files are split into row groups or less, finally into rows.

    If rows are numbered, they are divided only after numbering, so that the numbers are those a single reader sees.
    """
    if stage.num_shards >= count:
        return stage.shard(count, index, contiguous=False)
    if stage.numbers_rows or isinstance(stage, Beside):
        return DealtAlike(stage, 1, count, index)
    finer = stage.resharded()
    if finer.num_shards >= count and not _is_numbered(stage):
        return finer.shard(count, index, contiguous=False)
    if isinstance(stage, Source):
        return _share_of_shards(stage, count, index)
    return stage.over([share(below, count, index) for below in stage.below()])


def _is_numbered(stage: Stage) -> bool:
    return stage.numbers_rows or any(map(_is_numbered, stage.below()))


def _share_of_shards(source: Source, count: int, index: int) -> Stage:
    """A part of one shard, if there are fewer shards than readers."""
    if not source.num_shards:
        return source
    shard = source.shards[index % source.num_shards]
    count, index = len(range(index % source.num_shards, count, source.num_shards)), index // source.num_shards
    pieces = shard.cut(count)
    mine = replace(source, shards=(pieces[index % len(pieces)],))
    readers, turn = len(range(index % len(pieces), count, len(pieces))), index // len(pieces)
    return Dealt(mine, 1, readers, turn) if readers > 1 else mine
