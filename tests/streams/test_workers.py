"""Workers and machines get every row once between them, and in one order if that is asked for."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.streams import as_worker, assert_resumes, built, pipelines, read, saved, values

import crucible_datasets as ours
from crucible_datasets.distributed import split_dataset_by_node
from crucible_datasets.exceptions import StreamStateError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Forty rows in one, two or three files of each kind."""
    folder = tmp_path_factory.mktemp("files")
    found: dict[str, list[str]] = {}
    for index, numbers in enumerate((range(25), range(25, 38), range(38, 40))):
        table = pa.table({"x": list(numbers), "text": [f"row {number}\n" for number in numbers]})
        pq.write_table(table, folder / f"{index}.parquet", row_group_size=4)
        pq.write_table(table, folder / f"{index}.whole.parquet")
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
        (folder / f"{index}.jsonl").write_text(lines)
        (folder / f"{index}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        (folder / f"{index}.csv").write_text("x,text\n" + "".join(f'{number},"row {number}\n"\n' for number in numbers))
        with pa.OSFile(str(folder / f"{index}.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
        for ending in ("parquet", "whole.parquet", "jsonl", "jsonl.gz", "csv", "arrow"):
            found.setdefault(ending, []).append(str(folder / f"{index}.{ending}"))
    return found


FORMATS = {"parquet": "parquet", "whole.parquet": "parquet", "jsonl": "json", "jsonl.gz": "json", "csv": "csv"}
FORMATS["arrow"] = "arrow"


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("num_files", [1, 3])
@pytest.mark.parametrize("num_workers", [2, 5, 11])
def test_every_row_of_files_is_read_once(files, ending, num_files, num_workers):
    paths = files[ending][:num_files]
    stream = ours.load_dataset(FORMATS[ending], data_files=paths, split="train", streaming=True)
    expected = sorted(values(stream))
    for steps in (lambda same: same, lambda same: same.shuffle(seed=1, buffer_size=7), lambda same: same.map(dict)):
        parts = []
        for worker in range(num_workers):
            with as_worker(worker, num_workers):
                parts.append(values(steps(stream)))
        assert sorted(itertools.chain(*parts)) == expected
    if ending in ("parquet", "jsonl") and num_workers < 11:
        assert all(parts)  # files that can be cut leave nobody idle
    if (ending, num_files) == ("jsonl", 1):
        assert list(itertools.chain(*parts)) == expected  # each reads a run of lines, and not lines here and there


@given(
    spec=pipelines(3), world=st.integers(1, 3), workers=st.integers(1, 5), strategy=st.sampled_from(["auto", "shards"])
)
@settings(max_examples=40)
def test_sources_are_shared_out_whole(spec, world, workers, strategy):
    """Steps that take, skip, stop early or count batches depend on who reads; without those, all rows are there."""
    text = str(spec)
    if any(name in text for name in ("take", "skip", "first_exh", "'all_exhausted'", "batch", "numbered")):
        return
    expected = Counter(values(built(ours, spec)))
    found: Counter[int] = Counter()
    for rank in range(world):
        part = split_dataset_by_node(built(ours, spec), rank, world, strategy=strategy)
        for worker in range(workers):
            with as_worker(worker, workers):
                found.update(values(part))
    assert found == expected


@given(size=st.integers(0, 40), wanted=st.integers(0, 50), workers=st.integers(1, 6))
def test_rows_are_numbered_before_they_are_shared_out(size, wanted, workers):
    """Where there are fewer shards than workers, a number is that which a single reader sees."""
    whole = built(ours, ("generated", [size]))
    numbered = whole.map(lambda _, index: {"index": index}, with_indices=True)
    columns = whole.add_column("index", range(size))
    for stream in (whole.take(wanted), whole.skip(wanted), numbered, columns, columns.skip(wanted).map(dict)):
        found = []
        for worker in range(workers):
            with as_worker(worker, workers):
                found += list(stream)
        assert sorted(map(str, found)) == sorted(map(str, stream))


@pytest.mark.parametrize("context", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_worker_processes(context):
    pytest.importorskip("torch", reason="torch is not installed")
    script = str(Path(__file__).with_name("real_workers.py"))
    done = subprocess.run([sys.executable, script, context], capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stdout) == (0, "7 checks\n"), done.stderr


def test_torch_may_come_later():
    pytest.importorskip("torch", reason="torch is not installed")
    script = (
        "import crucible_datasets as ours\n"
        "stream = ours.IterableDataset.from_dict({'x': [1, 2, 3]})\n"
        "from torch.utils.data import DataLoader\n"
        "print([row['x'] for row in DataLoader(stream, batch_size=None)])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[1, 2, 3]\n"


# One order for all


@given(spec=pipelines(3), epoch=st.sampled_from([0, 3]), block=st.sampled_from([1, 2, 5]), data=st.data())
@settings(max_examples=40)
def test_one_order_for_any_number_of_readers(spec, epoch, block, data):
    world, workers = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    whole = built(ours, spec)
    whole.set_epoch(epoch)
    order, count = values(whole), world * workers
    for rank in range(world):
        part = split_dataset_by_node(built(ours, spec), rank, world, deterministic=True, block_size=block)
        part.set_epoch(epoch)
        for worker in range(workers):
            index = worker * world + rank
            with as_worker(worker, workers):
                assert values(part) == [row for place, row in enumerate(order) if place // block % count == index]


class Deal:
    """A run on several simulated readers, which can be left and gone on with by others."""

    def __init__(self, spec: Any, epoch: int) -> None:
        self.spec, self.epoch, self.states = spec, epoch, []

    def readers(self, world: int, workers: int, block: int) -> list[tuple[int, Any]]:
        found = []
        for turn in range(world * workers):
            stream = split_dataset_by_node(
                built(ours, self.spec), turn % world, world, deterministic=True, block_size=block
            )
            stream.set_epoch(self.epoch)
            stream.load_state_dict(self.states)
            found.append((turn // world, stream))
        return found

    def run(self, left: list[Any], world: int, workers: int, block: int, amounts: list[int]) -> list[Any]:
        """Read some rows with each reader; they must be those it has to get. Gives what is left, and keeps the states."""
        count, states, gone = world * workers, [], set()
        for turn, (worker, stream) in enumerate(self.readers(world, workers, block)):
            mine = [place for place in range(len(left)) if place // block % count == turn][: amounts[turn]]
            with as_worker(worker, workers):
                assert [row["x"] for row in read(stream, len(mine))] == [left[place] for place in mine]
                states.append(saved(stream))
            gone |= set(mine)
        self.states = states
        return [row for place, row in enumerate(left) if place not in gone]


@given(spec=pipelines(3), epoch=st.sampled_from([0, 3]), in_step=st.booleans(), data=st.data())
@settings(max_examples=40)
def test_others_go_on_where_some_stopped(spec, epoch, in_step, data):
    whole = built(ours, spec)
    whole.set_epoch(epoch)
    left, deal, before = values(whole), Deal(spec, epoch), None
    for _ in range(3):
        layout = data.draw(
            st.tuples(st.integers(1, 2), st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 3])).filter(
                lambda layout, before=before: layout != before
            )
        )
        world, workers, block = layout
        if in_step:
            stop = data.draw(st.integers(0, len(left)))
            amounts = [0] * (world * workers)
            for place in range(stop):
                amounts[place // block % (world * workers)] += 1
        else:
            amounts = data.draw(st.lists(st.integers(0, 9), min_size=world * workers, max_size=world * workers))
        left, before = deal.run(left, world, workers, block, amounts), layout
    if before != (1, 1, 1):
        assert not deal.run(left, 1, 1, 1, [len(left)])


@pytest.mark.parametrize("amounts", [[700, 100, 950], [300, 300, 300], [0, 0, 301]])
def test_large_blocks(amounts):
    """Rows of others are skipped, but not those behind which some are left."""
    deal = Deal(("table", 4000, 2), 0)
    left = deal.run(list(range(4000)), 1, 3, 300, amounts)
    left = deal.run(left, 1, 2, 400, [900, 500])
    left = deal.run(left, 2, 2, 260, [100, 600, 0, 300])
    assert not deal.run(left, 1, 1, 1, [len(left)])


def test_functions_run_for_own_rows_only():
    seen: list[int] = []

    def noted(row: dict[str, int]) -> dict[str, int]:
        seen.append(row["x"])
        return row

    stream = built(ours, ("table", 30, 1)).map(noted).select_columns(["x"]).with_workers(block_size=2)
    with as_worker(1, 3):
        found = values(stream.batch(1))
    assert seen == [value for [value] in found]


def test_rows_of_others_are_skipped_not_read(tmp_path):
    pq.write_table(pa.table({"x": list(range(40_000))}), tmp_path / "a.parquet", row_group_size=1000)
    stream = ours.load_dataset("parquet", data_files=str(tmp_path / "a.parquet"), split="train", streaming=True)
    with as_worker(3, 4):
        assert values(stream.with_workers(block_size=10_000)) == list(range(30_000, 40_000))


@pytest.mark.parametrize("worker", range(3))
def test_workers_resume(worker):
    for spec in (
        ("generated", [9, 8, 0, 5]),
        (("shuffle", 1, 5, 2), ("table", 25, 5)),
        (("batch", 3, False), ("table", 25, 2)),
    ):
        for stream in (built(ours, spec), built(ours, spec).with_workers(block_size=2)):
            with as_worker(worker, 3):
                assert_resumes(stream)


@given(spec=pipelines(3), count=st.integers(0, 30), in_loader=st.booleans())
@settings(max_examples=40)
def test_a_program_and_its_only_worker_go_on_with_what_the_other_began(spec, count, in_loader):
    def place(is_worker: bool) -> Any:
        return as_worker(0, 1) if is_worker else contextlib.nullcontext()

    first, second = built(ours, spec), built(ours, spec)
    with place(in_loader):
        order = values(first)
        before = read(first, count)
        state = saved(first)
    second.load_state_dict(state)
    with place(not in_loader):
        assert values([*before, *second]) == order


@pytest.mark.parametrize("deterministic", [True, False])
def test_states_of_others_are_refused(deterministic):
    stream = built(ours, ("table", 12, 4)).with_workers(deterministic=deterministic)
    with as_worker(0, 2):
        read(stream, 2)
        state = saved(stream)
    stream.load_state_dict(state)  # a state of one of two workers
    with pytest.raises(StreamStateError, match="worker 0 of 2"):
        list(stream)
    with as_worker(0, 2):
        assert len(values(stream)) == 4


@pytest.mark.parametrize(
    ("rank", "world", "arguments"),
    [
        (2, 2, {}),
        (-1, 2, {}),
        (0, 0, {}),
        (0, 2, {"strategy": "none"}),
        (0, 2, {"deterministic": True, "block_size": 0}),
    ],
)
def test_parts_that_cannot_be(rank, world, arguments):
    with pytest.raises(ValueError, match=r"rank|world_size|strategy|block_size"):
        split_dataset_by_node(built(ours, ("table", 4, 2)), rank, world, **arguments)
