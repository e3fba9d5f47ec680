"""Running the shards of a call, one after another or by workers, with one progress bar."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from crucible_datasets import config, progress
from crucible_datasets.cache.parts import Parts
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.executors.base import Executor, Once, Task, executor_of
from crucible_datasets.logging import get_logger
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.remote import Facts, remote_task
from crucible_datasets.ops.mapping.shards import Shard
from crucible_datasets.tables.portable import seams
from crucible_datasets.tables.rows import shared_out

logger = get_logger(__name__)

# Fractions of the rows per cluster worker: the most that is lost when one dies, and the smallest last shard.
_LARGEST, _SMALLEST = 4, 16
_EVEN = 16  # batches per worker, from which on one batch more or less does not matter


def workers_for(
    num_proc: int | None, num_rows: int, with_rank: bool = False, executor: str | Executor | None = None
) -> int | None:
    """The number of workers with one shard each; None if not specified and the function does not get a rank."""
    asked = executor or config.CRUCIBLE_EXECUTOR
    if not num_proc and with_rank and asked and asked != "serial":
        num_proc = executor_of(asked).workers()
    if not num_proc:
        return None
    if num_proc < 0:
        raise ArgumentError("num_proc", num_proc, "expected None or at least 0.")
    if num_proc > num_rows:
        logger.warning("num_proc=%d is more than there are rows: %d processes are used.", num_proc, max(num_rows, 1))
    return max(1, min(num_proc, num_rows))


def bounds(num_rows: int, shards: int, unit: int = 1) -> list[range]:
    """Contiguous ranges of rows whose lengths differ by at most one unit."""
    runs = (shared_out(-(-num_rows // unit), shards, index) for index in range(shards))
    return [range(unit * run.start, min(unit * run.stop, num_rows)) for run in runs]


def tapered(num_rows: int, workers: int, unit: int = 1) -> list[range]:
    """Ranges of rows for workers that take one after another: the last are small, so that all finish together."""
    units = -(-num_rows // unit)
    most, least, ends = -(-units // (workers * _LARGEST)), max(1, units // (workers * _SMALLEST)), [0]
    while (left := units - ends[-1]) > 0:
        ends.append(ends[-1] + min(left, max(least, min(most, left // (2 * workers)))))
    return [range(start * unit, min(stop * unit, num_rows)) for start, stop in pairwise(ends)]


def shards_that_show(
    num_rows: int, workers: int | None, batch_size: int | None, executor: str | Executor | None
) -> int | None:
    """The number of shards, if a batched function could see it, since batches begin where shards begin."""
    runner = _runner(executor, workers)
    if not runner.shares_disk and workers is None:
        return None
    size = batch_size if batch_size and batch_size > 0 else num_rows
    rows = _bounds_of_batches(num_rows, _shards(runner, workers, num_rows, size), size)
    return len(rows) if any(part.start % size for part in rows) else None


def _runner(executor: str | Executor | None, workers: int | None) -> Executor:
    return executor_of(executor or config.CRUCIBLE_EXECUTOR or ("serial" if workers is None else "processes"))


def _shards(runner: Executor, workers: int | None, num_rows: int, size: int) -> int:
    if not runner.shares_disk and workers is not None:
        return min(workers, -(-num_rows // size))
    return workers or (1 if runner.name == "serial" else runner.workers())


def _bounds_of_batches(num_rows: int, shards: int, size: int) -> list[range]:
    """Contiguous ranges of rows: of whole batches, as a single shard would have them, if the work stays even."""
    return bounds(num_rows, shards, size if num_rows >= _EVEN * size * shards else 1)


def run(
    shard: Callable[[range], Shard],
    num_rows: int,
    workers: int | None,
    title: str,
    call: Call,
    executor: str | Executor | None = None,
) -> Facts:
    """Run all shards; the facts of their parts, in order."""
    chosen = _runner(executor, workers)
    label = title if workers is None else f"{title} (num_proc={workers})"
    with progress.tqdm(total=num_rows, desc=label, unit=" rows") as bar:
        if chosen.shares_disk:
            size = shard(range(num_rows)).block_rows if call.batched else 1
            rows = _bounds_of_batches(num_rows, _shards(chosen, workers, num_rows, size), size)
            tasks: list[Task[Facts]] = [Task(_one_of(shard(part), len(rows)), part, call.name) for part in rows]
            return [facts for parts in chosen.run(tasks, len(rows), bar.update) for facts in parts]
        return list(_run_remotely(shard, num_rows, workers, call, chosen, bar))


def _run_remotely(
    shard: Callable[[range], Shard], num_rows: int, workers: int | None, call: Call, executor: Executor, bar: Any
) -> Iterator[dict[str, Any]]:
    """Run all shards on other machines; the facts of their parts. Finished shards are not sent."""
    size = shard(range(num_rows)).block_rows if call.batched else 1
    once = Once(call)
    if workers is not None:
        rows = _bounds_of_batches(num_rows, _shards(executor, workers, num_rows, size), size)
    else:
        rows = tapered(num_rows, executor.workers(), size)
        rows = _along(rows, seams(shard(range(num_rows)).view), size, executor.workers())
        # An earlier run, with other shards, may have finished parts.
        rows = _around(rows, _finished(shard(range(num_rows)).folder, size, num_rows))
    sees_files = executor.sees_files()
    planned = [remote_task(_one_of(shard(part), len(rows)), once, sees_files) for part in rows]
    left = [one for one in planned if isinstance(one, Task)]
    bar.update(num_rows - sum(len(task.rows) for task in left))
    results = executor.run(left, workers or executor.workers() if left else 0, bar.update)
    for one in planned:
        yield from next(results) if isinstance(one, Task) else one


def _along(rows: list[range], ends: list[int], size: int, workers: int) -> list[range]:
    """The ranges of rows, aligned with boundaries of the table if there are enough of these for all workers."""
    if len(ends) <= workers:
        return rows
    near = [ends[min(bisect_left(ends, run.start), len(ends) - 1)] // size * size for run in rows]
    starts = sorted({0, *near})
    return [range(start, stop) for start, stop in pairwise([*starts, rows[-1].stop]) if start < stop]


def _finished(folder: str, size: int, num_rows: int) -> list[range]:
    """The consecutive ranges of whole batches that earlier runs have finished."""
    found: list[range] = []
    for start, stop in sorted(
        (facts["start"], facts["stop"]) for facts in Parts(folder).all_found() if "start" in facts
    ):
        is_whole = start % size == 0 and (stop % size == 0 or stop == num_rows)
        if is_whole and (not found or start >= found[-1].stop):
            found.append(range(start, stop))
    return found


def _around(rows: list[range], found: list[range]) -> list[range]:
    """The ranges of rows, split so that each finished range is separate."""
    starts = [part.start for part in found]

    def is_inside(end: int) -> bool:
        place = bisect_left(starts, end) - 1
        return place >= 0 and end < found[place].stop

    ends = {end for end in (0, *(run.stop for run in rows)) if not is_inside(end)}
    ends |= {end for part in found for end in (part.start, part.stop)}
    return [range(start, stop) for start, stop in pairwise(sorted(ends))]


def _one_of(shard: Shard, shards: int) -> Shard:
    return replace(shard, is_alone=shards == 1)
