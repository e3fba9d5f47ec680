"""Tasks one after another in this process: without a rank, and without pickling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crucible_datasets.executors.base import Advance, LocalExecutor, Task


def run(tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]:
    """The results of the tasks, each computed when requested."""
    return (task.taken(task.run(None, advance)) for task in tasks)


EXECUTOR = LocalExecutor("serial", run)
