"""A Ray cluster of this machine: what a second processor brings, what a shard costs, and Ray Data on the same work.

    python -m benchmarks.ray_cases --seconds 20 --repeat 3

Run it on a quiet machine with two processors or more: both sides of every comparison take turns, each on a cluster
that is warm. The bars: two processors do CPU-bound work in at most 1 / 1.6 of the time of one, and `Dataset.map` takes
no longer than `ray.data.Dataset.map_batches`. Overhead is CPU time that an empty function takes, for each shard.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

ROWS, BATCH = 4_000, 50
SPEED_UP, AS_FAST = 1.6, 1.0
EMPTY_SHARDS = 200


class Work:
    """Makes numbers of numbers, for so many rounds per row."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        made = []
        for n in batch["n"]:
            value = int(n)
            for _ in range(self.rounds):
                value = (value * 1103515245 + 12345) % 2147483648
            made.append(value)
        return {"made": made}


def rounds_for(seconds: float) -> int:
    """How many rounds per row make the work of all rows last so long on one processor."""
    began = time.process_time()
    Work(100_000)({"n": [1] * 10})
    return int(100_000 * seconds / ROWS / ((time.process_time() - began) / 10))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long it took, and what came of it."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def ours(work: Work, workers: int) -> list[int]:
    from crucible_datasets import Dataset
    from crucible_datasets.executors.ray import RayExecutor

    rows = Dataset.from_dict({"n": list(range(ROWS))})
    how = {"batched": True, "batch_size": BATCH, "load_from_cache_file": False, "keep_in_memory": True}
    # A task that takes half of all processors leaves room for one other.
    executor = RayExecutor(num_cpus=processors() / workers)
    return list(rows.map(work, executor=executor, **how)["made"])


def of_ray_data(work: Work) -> list[int]:
    import logging

    import ray

    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_items([{"n": n} for n in range(ROWS)]).map_batches(work, batch_size=BATCH)
    return [row["made"] for row in rows.take_all()]


def processors() -> int:
    import ray

    return int(ray.cluster_resources()["CPU"])


def overhead() -> float:
    """Seconds that a shard takes of which nothing is asked."""
    from crucible_datasets.executors.base import Task
    from crucible_datasets.executors.ray import RayExecutor

    tasks = [Task(_empty, range(1)) for _ in range(EMPTY_SHARDS)]
    executor = RayExecutor()
    list(executor.run(tasks[:4], executor.workers(), _untold))
    taken, _ = timed(lambda: list(executor.run(tasks, executor.workers(), _untold)))
    return taken / EMPTY_SHARDS


def _empty(rank: int | None, advance: Any) -> int | None:
    return rank


def _untold(rows: int) -> None:
    pass


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_cases")
    parser.add_argument("--seconds", type=float, default=20, help="of work on one processor")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    from crucible_datasets.executors.ray import connected

    connected("local")
    print(f"overhead of a shard: {overhead() * 1e3:.1f} ms of wall time, {processors()} workers")
    work = Work(rounds_for(options.seconds))
    sides: dict[str, Callable[[], list[int]]] = {
        "one": lambda: ours(work, 1),
        "two": lambda: ours(work, 2),
        "ray.data, two": lambda: of_ray_data(work),
    }
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(options.repeat):
        results = []
        for name in list(sides)[:: -1 if number % 2 else 1]:
            seconds, result = timed(sides[name])
            taken[name].append(seconds)
            results.append(sorted(result))
            print(f"  {name}: {seconds:.1f} s", flush=True)
        assert all(result == results[0] for result in results)
    one, two, other = (median(taken[name]) for name in sides)
    print(f"two processors: {one / two:.2f} times as fast as one (bar {SPEED_UP})")
    print(f"ray.data takes {other / two:.2f} times as long (bar {AS_FAST})")


if __name__ == "__main__":
    main()
