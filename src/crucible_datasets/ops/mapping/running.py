"""Shards of a call, run one after the other or by workers, with one progress bar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

from crucible_datasets import progress
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import EXECUTORS, Task
from crucible_datasets.logging import get_logger
from crucible_datasets.ops.mapping.shards import Shard

logger = get_logger(__name__)
S = TypeVar("S", bound=Shard)


def workers_for(num_proc: int | None, num_rows: int) -> int | None:
    """How many processes work; None for this one alone."""
    if not num_proc:
        return None
    if num_proc < 0:
        raise ArgumentError("num_proc", num_proc, "expected None or at least 0.")
    if num_proc > num_rows:
        logger.warning("num_proc=%d is more than there are rows: %d processes are used.", num_proc, max(num_rows, 1))
    return max(1, min(num_proc, num_rows))


def bounds(num_rows: int, shards: int) -> list[range]:
    """Runs of rows that differ by one row at most."""
    size, more = divmod(num_rows, shards)
    starts = [size * index + min(index, more) for index in range(shards + 1)]
    return [range(start, stop) for start, stop in pairwise(starts)]


def run(
    shard: Callable[[range], Shard], num_rows: int, workers: int | None, title: str, name: str
) -> list[dict[str, Any]]:
    """The facts of the parts of all shards, in order."""
    rows = bounds(num_rows, workers or 1)
    tasks = [Task(shard(part), part, name) for part in rows]
    label = title if workers is None else f"{title} (num_proc={workers})"
    executor = EXECUTORS["serial" if workers is None else "processes"]
    with progress.tqdm(total=num_rows, desc=label, unit=" rows") as bar:
        results = executor.run(tasks, workers or 1, bar.update)
        return [facts for parts in results for facts in parts]
