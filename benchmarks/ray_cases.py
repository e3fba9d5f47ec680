"""A local Ray cluster: speedup by a second CPU, overhead per shard, and Ray Data on the same work.

    python -m benchmarks.ray_cases --seconds 20 --repeat 3     # about 3 minutes, on an idle machine
    python -m benchmarks.ray_cases --seconds 2 --repeat 1      # a quick check

Run it on a machine with at least two CPUs: all sides alternate on a warm cluster, and must give the same numbers. The
requirements: two CPUs are 1.6 times as fast as one on CPU-bound work, and `Dataset.map` is at least as fast as
`ray.data.Dataset.map_batches`. The overhead per shard is the time of an empty task. The break-even point is the
amount of work for which two workers take as long as this process, without the start of the cluster.
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
    """CPU-bound work: `rounds` iterations per row."""

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
    """The number of rounds per row for which all rows take `seconds` on one CPU."""
    began = time.process_time()
    Work(100_000)({"n": [1] * 10})
    return int(100_000 * seconds / ROWS / ((time.process_time() - began) / 10))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The time and the result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def here(work: Work) -> list[int]:
    return _mapped(work, "serial")


def ours(work: Work, workers: int) -> list[int]:
    from crucible_datasets.executors.ray import RayExecutor

    # A task that needs half of all CPUs leaves room for one other.
    return _mapped(work, RayExecutor(num_cpus=processors() / workers))


def _mapped(work: Work, executor: Any) -> list[int]:
    from crucible_datasets import Dataset

    rows = Dataset.from_dict({"n": list(range(ROWS))})
    how = {"batched": True, "batch_size": BATCH, "load_from_cache_file": False, "keep_in_memory": True}
    return list(rows.map(work, executor=executor, **how)["made"])


def of_ray_data(work: Work, workers: int) -> list[int]:
    import logging

    import ray.data

    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_items([{"n": n} for n in range(ROWS)])
    made = rows.map_batches(work, batch_size=BATCH, num_cpus=processors() / workers)
    return [row["made"] for row in made.take_all()]


def processors() -> int:
    import ray

    return int(ray.cluster_resources()["CPU"])


def overhead() -> float:
    """The seconds of an empty shard."""
    from crucible_datasets.executors.base import Task
    from crucible_datasets.executors.ray import RayExecutor

    tasks, executor = [Task(_empty, range(1)) for _ in range(EMPTY_SHARDS)], RayExecutor(num_cpus=processors() / 2)
    return timed(lambda: list(executor.run(tasks, 2, _untold)))[0] / EMPTY_SHARDS


def _empty(rank: int | None, advance: Any) -> int | None:
    return rank


def _untold(rows: int) -> None:
    pass


def turns(work: Work, repeat: int) -> dict[str, list[float]]:
    """The times of each side; the order is reversed each round."""
    sides: dict[str, Callable[[], list[int]]] = {
        "this process": lambda: here(work),
        "Ray, one worker": lambda: ours(work, 1),
        "Ray, two workers": lambda: ours(work, 2),
        "ray.data, two workers": lambda: of_ray_data(work, 2),
    }
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(repeat):
        found = []
        for name in list(sides)[:: -1 if number % 2 else 1]:
            seconds, result = timed(sides[name])
            taken[name].append(seconds)
            found.append(sorted(result))
        assert all(result == found[0] for result in found), "the sides do not agree"
    return taken


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows of text as a table in Markdown."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def report(taken: dict[str, list[float]], idle: dict[str, list[float]], shards: list[float]) -> list[tuple[str, ...]]:
    """The measurements, and whether they meet the requirements."""
    serial, one, two, other = (median(each) for each in taken.values())
    fixed = median(idle["Ray, two workers"]) - median(idle["this process"])
    saved = 1 - two / serial  # per second of work
    return [
        ("what", "median", "least to most", "bar", ""),
        *((name, *_spread(each, 1, "s"), "", "") for name, each in taken.items()),
        ("two workers, to one", f"{one / two:.2f} ×", "", f"≥ {SPEED_UP}", _kept(one / two >= SPEED_UP)),
        ("ray.data, to ours", f"{other / two:.2f} ×", "", f"≥ {AS_FAST:.1f}", _kept(other / two >= AS_FAST)),
        ("a shard", *_spread(shards, 1e3, "ms"), "", ""),
        ("a map without work", f"{fixed * 1e3:.0f} ms more than here", "", "", ""),
        ("break-even", f"{fixed / saved:.2f} s of work" if saved > 0 else "never", "", "", ""),
    ]


def _spread(seconds: list[float], times: float, unit: str) -> tuple[str, str]:
    least, most = min(seconds) * times, max(seconds) * times
    return f"{median(seconds) * times:.2f} {unit}", f"{least:.2f} to {most:.2f} {unit}"


def _kept(holds: bool) -> str:
    return "kept" if holds else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_cases")
    parser.add_argument("--seconds", type=float, default=20, help="of work on one processor")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    from crucible_datasets import disable_progress_bars
    from crucible_datasets.executors.raycluster import connected

    disable_progress_bars()
    connected("local")
    turns(Work(0), 2)  # warm-up: workers start and import
    overhead()
    shards, idle = [overhead() for _ in range(3)], turns(Work(0), 5)
    taken = turns(Work(rounds_for(options.seconds)), options.repeat)
    print(f"{processors()} processors, {ROWS} rows, {options.seconds:g} s of work, {options.repeat} times\n")
    print(table(report(taken, idle, shards)))


if __name__ == "__main__":
    main()
