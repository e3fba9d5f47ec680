"""Files are read ahead by a thread; that changes when they are read, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.streams import as_worker, assert_resumes, read, values

import crucible_datasets as ours
from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import Features, Value
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.prefetched import Prefetched
from crucible_datasets.streams.source import Shard, Source
from crucible_datasets.streams.stream import Stream

KINDS = Features({"x": Value("int64")})


class Slow(Shard):
    """A shard of ten batches that counts how many were read, and may fail in one of them."""

    reads_files = True

    def __init__(self, rows: int = 1, fails_at: int | None = None) -> None:
        self.rows, self.fails_at, self.read, self.threads = rows, fails_at, 0, set()

    def batches(self, at: Any = None) -> Iterator[tuple[Any, Batch]]:
        for number in range(at or 0, 10):
            if number == self.fails_at:
                raise OSError("the file is gone")
            self.read += 1
            self.threads.add(threading.current_thread().name)
            yield number, Batch.of_table(pa.table({"x": [number] * self.rows}), KINDS)


def streamed(*shards: Shard) -> Any:
    return ours.IterableDataset._of(Stream(Source(shards), KINDS))


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "crucible-prefetch"]


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert threads() == []


@pytest.fixture
def paths(tmp_path):
    for index in range(3):
        numbers = list(range(100 * index, 100 * index + 100))
        pq.write_table(pa.table({"x": numbers}), tmp_path / f"{index}.parquet", row_group_size=9)
    return [str(tmp_path / f"{index}.parquet") for index in range(3)]


@pytest.mark.parametrize("ahead", [0, 1, 2, 50])
def test_rows_and_states_are_the_same(paths, monkeypatch, ahead):
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", ahead)
    stream = ours.load_dataset("parquet", data_files=paths, split="train", streaming=True)
    assert values(stream) == list(range(300))
    for steps in (stream, stream.shuffle(seed=1, buffer_size=30), stream.skip(150).batch(7), stream.map(dict)):
        assert_resumes(steps, most=10)
    for worker in range(2):
        with as_worker(worker, 2):
            assert_resumes(stream, most=4)


def test_a_thread_reads_all_but_the_first_batch():
    shard = Slow()
    assert values(streamed(shard)) == list(range(10))
    assert shard.threads == {"MainThread", "crucible-prefetch"}


def test_a_short_look_starts_no_thread():
    shard = Slow()
    assert len(read(streamed(shard), 1)) == 1
    assert (shard.read, shard.threads) == (1, {"MainThread"})


def test_nothing_is_read_ahead_if_the_setting_says_so(monkeypatch):
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", 0)
    shard = Slow()
    rows = iter(streamed(shard))
    for number in range(10):
        next(rows)
        assert shard.read == number + 1
    assert shard.threads == {"MainThread"}


@pytest.mark.parametrize("batches", [1, 3])
def test_as_many_batches_as_the_setting_says(monkeypatch, batches):
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", batches)
    shard = Slow()
    rows = iter(streamed(shard))
    next(rows), next(rows)
    for number in range(2, 10):
        # Those that are used, and those that wait, and no other.
        assert _settled(shard) == min(number + batches, 10)
        next(rows)
    rows.close()


def test_as_many_bytes_as_the_setting_says(monkeypatch):
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", 8)
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BYTES", 3 * 80)
    large, small = Slow(rows=100), Slow(rows=10)
    held = iter(streamed(large))
    next(held), [next(held) for _ in range(100)]
    assert _settled(large) == 3  # one is more than all that may wait, so no second one waits
    others = iter(streamed(small))
    next(others), [next(others) for _ in range(10)]
    assert _settled(small) == 3  # also where others have used it up
    held.close()
    [next(others) for _ in range(10)]
    assert _settled(small) == 6
    others.close()


def _settled(shard: Slow) -> int:
    """How many batches were read, once the thread has come to rest."""
    for thread in threading.enumerate():
        if thread.name == "crucible-prefetch":
            ahead = thread._target.__self__  # type: ignore[attr-defined]
            with ahead._changed:
                ahead._changed.wait_for(lambda ahead=ahead: ahead._is_done or not ahead._has_room(), timeout=20)
    return shard.read


@pytest.mark.parametrize("number", [0, 1, 2, 5, 9])
def test_an_error_comes_at_its_row(number):
    found = []
    with pytest.raises(OSError, match="gone"):
        for row in streamed(Slow(fails_at=number)):
            found.append(row["x"])
    assert found == list(range(number))


def test_a_broken_line_comes_behind_the_good_ones(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"x": number}) + "\n" for number in range(1000)) + '{"x": 3')
    found = []
    with pytest.raises(ours.exceptions.FileFormatError, match=r"rows\.jsonl"):
        for row in ours.load_dataset("json", data_files=str(path), split="train", streaming=True):
            found.append(row["x"])
    assert found == list(range(1000))


@pytest.mark.parametrize("leave", [lambda rows: rows.close(), lambda rows: None])
def test_who_stops_early_leaves_no_thread(leave):
    rows = iter(streamed(Slow(), Slow()))
    next(rows), next(rows)
    assert threads() == ["crucible-prefetch"]
    leave(rows)
    del rows
    assert threads() == []


def test_inputs_of_a_shuffle_have_threads_of_their_own():
    stream = streamed(*[Slow() for _ in range(3)]).shuffle(seed=1, buffer_size=4)
    rows = iter(stream)
    [next(rows) for _ in range(8)]
    assert len(threads()) == 3
    rows.close()


class Recut(Shard):
    """Twenty rows that come in batches of another length whenever they are read."""

    reads_files, name = True, "recut"

    def __init__(self, *sizes: int, has_rows: bool = True) -> None:
        self.sizes, self.has_rows = list(sizes), has_rows

    def batches(self, at: Any = None) -> Iterator[tuple[Any, Batch]]:
        size = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        for row in range(at or 0, 20, size):
            yield row, Batch.of_table(pa.table({"x": list(range(row, min(row + size, 20)))}), KINDS)

    def inside(self, at: Any, num_rows: int) -> Any:
        return (at or 0) + num_rows if self.has_rows else None


@pytest.mark.parametrize(("first", "again"), [(10, 4), (4, 10), (6, 6), (3, 20), (20, 3)])
def test_what_is_read_anew_stands_where_its_rows_are(first, again):
    reader = Prefetched(Source((Recut(first, again),)))
    position, given = next(items := reader.batches())
    items.close()
    rest = list(reader._behind(position, given))
    assert [row["x"] for _, batch in rest for row in batch.rows()] == list(range(first, 20))
    for place, batch in rest:
        (_, same), *_ = reader.source.batches(place)
        assert same.rows()[0] == batch.rows()[0]


def test_rows_that_come_otherwise_and_have_no_position_are_an_error():
    reader = Prefetched(Source((Recut(10, 4, has_rows=False),)))
    position, given = next(items := reader.batches())
    items.close()
    with pytest.raises(FileFormatError, match="recut.*other batches"):
        list(reader._behind(position, given))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("used", [1, 2, 5])
def test_a_forked_process_goes_on_where_its_reader_stands(used):
    stream = streamed(Slow(rows=2), Slow(rows=2))
    expected, rows = values(stream), iter(stream)
    found = [next(rows)["x"] for _ in range(used)]
    child = os.fork()
    if not child:
        signal.alarm(20)  # it would wait for ever for the thread that is not there
        found.append(next(rows)["x"])
        state = stream.state_dict()
        rest = [row["x"] for row in rows]
        stream.load_state_dict(state)
        os._exit((found + rest, rest) == (expected, values(stream)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert found + [row["x"] for row in rows] == expected


@pytest.mark.parametrize("streaming", [False, True])
def test_rows_come_where_no_thread_can_be_started(tmp_path, monkeypatch, streaming):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    pq.write_table(pa.table({"x": list(range(2000))}), tmp_path / "rows.parquet", row_group_size=300)
    rows = ours.load_dataset("parquet", data_files=str(tmp_path / "*"), split="train", streaming=streaming)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert [row["x"] for row in rows] == list(range(2000))
