"""Checks with worker processes of torch's `DataLoader`, run in a process of their own: `python real_workers.py fork`.

Other tests leave threads of jax or tensorflow behind in theirs, and forking that is not safe.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from support.streams import as_worker, built, read, saved, values
from torch.utils.data import DataLoader

import crucible_datasets as ours

warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)


class Told(torch.utils.data.IterableDataset):
    """Each row of a stream with the state behind it, as a worker sees them."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __iter__(self) -> Any:
        for row in self.stream:
            yield row["x"], json.dumps(self.stream.state_dict())


def loader(stream: Any, num_workers: int, **options: Any) -> Any:
    return DataLoader(stream, num_workers=num_workers, multiprocessing_context=sys.argv[1], **options)


def loaded(stream: Any, num_workers: int) -> list[Any]:
    return list(loader(stream, num_workers, batch_size=None))


def expected(stream: Any, num_workers: int) -> list[Any]:
    """What workers give in step, one row of each at a time, as simulated ones tell."""
    parts = []
    for worker in range(num_workers):
        with as_worker(worker, num_workers):
            parts.append(values(stream))
    return by_turns(parts)


def by_turns(parts: list[list[Any]]) -> list[Any]:
    return [row for turn in itertools.zip_longest(*parts) for row in turn if row is not None]


def parquet(num_rows: int) -> Any:
    path = Path(tempfile.mkdtemp()) / "rows.parquet"
    pq.write_table(pa.table({"x": list(range(num_rows))}), path, row_group_size=max(num_rows // 7, 1))
    return ours.load_dataset("parquet", data_files=str(path), split="train", streaming=True)


def check_every_row_comes_once() -> None:
    stream = parquet(25).shuffle(seed=3, buffer_size=5).map(dict)
    for num_workers in (1, 2, 3):
        found = values(loaded(stream, num_workers))
        assert found == expected(stream, num_workers)
        assert sorted(found) == list(range(25))


def check_batches_of_tensors() -> None:
    stream = built(ours, ("table", 20, 2)).with_format("torch")
    batches = [batch["x"].tolist() for batch in loader(stream, 2, batch_size=5)]
    assert batches == [[*range(5)], [*range(10, 15)], [*range(5, 10)], [*range(15, 20)]]


def check_workers_that_are_kept_see_the_epoch() -> None:
    spec = (("shuffle", 1, 3, 2), ("table", 12, 4))
    stream = built(ours, spec)
    kept = loader(stream, 2, batch_size=None, persistent_workers=True)
    orders = []
    for epoch in range(3):
        stream.set_epoch(epoch)
        fresh = built(ours, spec)
        fresh.set_epoch(epoch)
        orders.append(values(kept))
        assert orders[-1] == expected(fresh, 2)
    assert orders[0] != orders[1] != orders[2]


def check_eight_workers_then_two_then_three() -> None:
    for block_size in (1, 4):
        spec = (("map",), (("shuffle", 5, 20, 3), ("table", 100, 3)))
        order = values(built(ours, spec))
        stream = built(ours, spec).with_workers(deterministic=True, block_size=block_size)
        given: list[int] = []
        states: list[Any] = []
        for num_workers, stop in ((8, 40), (2, 44), (3, 100)):
            rows, states = _run(stream, states, num_workers, stop - len(given), block_size)
            given += rows
            assert given == order[: len(given)]
        assert given == order


def _run(stream: Any, states: list[Any], num_workers: int, count: int, block_size: int) -> tuple[list[int], list[Any]]:
    """Some rows as a loader gives them, in batches of a block, and where each worker then stood."""
    stream.load_state_dict(states)
    kept = []
    for worker in range(num_workers):
        with as_worker(worker, num_workers):
            kept.append(saved(stream))
    batches = list(loader(Told(stream), num_workers, batch_size=block_size, collate_fn=list))[: -(-count // block_size)]
    for turn, batch in enumerate(batches):
        kept[turn % num_workers] = json.loads(batch[-1][1])
    return [row for batch in batches for row, _ in batch], kept


def check_all_states_at_once_resume_as_many_workers() -> None:
    stream = built(ours, (("shuffle", 1, 5, 2), ("table", 40, 4)))
    states, rest = [], []
    for worker in range(2):
        with as_worker(worker, 2):
            read(stream, 3 + worker)
            states.append(saved(stream))
            rest.append(values(stream)[3 + worker :])
    stream.load_state_dict(states)
    assert values(loaded(stream, 2)) == by_turns(rest)


def check_an_empty_stream() -> None:
    stream = built(ours, ("generated", [0]))
    for shared in (stream, stream.with_workers(), stream.shuffle(seed=1).repeat(None)):
        assert loaded(shared, 2) == []


def check_a_stream_that_is_being_read() -> None:
    """Its thread reads ahead while workers are started; they have none of it."""
    stream = parquet(300)
    rows = iter(stream)
    [next(rows) for _ in range(60)]
    assert sorted(values(loaded(stream, 2))) == list(range(300))
    if sys.argv[1] == "fork":
        child = os.fork()
        if not child:
            del rows
            os._exit(0 if sum(values(stream)) == sum(range(300)) else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert values(rows) == list(range(60, 300))


CHECKS: dict[str, Callable[[], None]] = {name: check for name, check in globals().items() if name.startswith("check_")}

if __name__ == "__main__":
    for check in CHECKS.values():
        check()
    print(len(CHECKS), "checks")  # noqa: T201
