"""The laws of executors: each runs tasks, tells progress, and gives results and errors as if all was done here."""

import os
import threading
import time
import traceback
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets import Dataset
from crucible_datasets.exceptions import DatasetGenerationError, NotPicklableError, WorkerError
from crucible_datasets.executors import forkserver
from crucible_datasets.executors.base import EXECUTORS, Task, run_all

# Where processes can be copied, the other way to start them is tested too.
WAYS = [
    *EXECUTORS.names(),
    *([pytest.param("processes by spawn", marks=pytest.mark.slow)] if forkserver.START == "fork" else []),
]


@pytest.fixture(params=WAYS)
def executor(request, monkeypatch):
    name, _, start = request.param.partition(" by ")
    if name == "ray":
        request.getfixturevalue("ray_cluster")
    monkeypatch.setattr(forkserver, "START", start or forkserver.START)
    return EXECUTORS[name]


def none(rows):
    pass


def tasks_of(function, count, rows=10):
    return [Task(partial(function, number), range(number * rows, (number + 1) * rows)) for number in range(count)]


def results(executor, function, count=4, workers=2, advance=none):
    return list(executor.run(tasks_of(function, count), workers, advance))


@pytest.mark.parametrize(("count", "workers"), [(0, 1), (1, 1), (1, 4), (5, 2), (7, 3), (3, 3)])
def test_results_come_in_the_order_of_the_tasks(executor, count, workers):
    def slow_at_first(number, rank, advance):
        time.sleep(0.05 if number == 0 else 0)
        return number

    assert results(executor, slow_at_first, count, workers) == list(range(count))


def test_the_rank_is_the_number_of_the_task_or_none(executor):
    ranks = results(executor, lambda number, rank, advance: rank)
    assert ranks in ([0, 1, 2, 3], [None] * 4)


def test_every_row_is_told_once(executor):
    def work(number, rank, advance):
        for _ in range(number * 100):
            advance(1)
        advance(0)

    told = []
    results(executor, work, advance=told.append)
    assert sum(told) == 600


def test_progress_is_told_before_the_result(executor, tmp_path):
    def work(number, rank, advance):
        time.sleep(0.15)
        advance(1)
        deadline = time.monotonic() + 20
        while not (tmp_path / "heard").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return (tmp_path / "heard").exists()

    assert results(executor, work, 1, 1, advance=lambda rows: (tmp_path / "heard").touch()) == [True]


def test_results_come_before_all_tasks_are_done(executor, tmp_path):
    def work(number, rank, advance):
        deadline = time.monotonic() + 20
        while number and not (tmp_path / "seen").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return (tmp_path / "seen").exists()

    run = executor.run(tasks_of(work, 2), 2, none)
    assert next(run) is False
    (tmp_path / "seen").touch()
    assert list(run) == [True]


def test_nothing_starts_before_a_result_is_asked_for(executor, tmp_path):
    run = executor.run(tasks_of(lambda *_: (tmp_path / "begun").touch(), 2), 2, none)
    time.sleep(0.1)
    assert not list(tmp_path.iterdir())
    run.close()


def test_closing_stops_the_tasks(executor, tmp_path):
    def work(number, rank, advance):
        while number:
            (tmp_path / f"{os.getpid()}").write_text(str(time.monotonic_ns()))
            time.sleep(0.005)

    run = executor.run(tasks_of(work, 4), 3, none)
    next(run)
    run.close()
    assert any(_still(tmp_path) for _ in range(50)), "the tasks go on"


def _still(folder: Path) -> bool:
    """Whether nothing is written for a moment: a cluster takes one to end a process."""
    before = {file.name: file.read_text() for file in folder.iterdir()}
    time.sleep(0.1)
    return {file.name: file.read_text() for file in folder.iterdir()} == before


def test_an_interrupted_callback_stops_the_tasks(executor):
    def work(number, rank, advance):
        for _ in range(100):
            advance(1)
            time.sleep(0.01)

    def interrupt(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results(executor, work, advance=interrupt)
    assert results(executor, lambda number, *_: number) == [0, 1, 2, 3]


# What a task may hold and give


class Greeting:
    def __init__(self, word):
        self.word = word


def test_classes_closures_and_lambdas_travel(executor):
    class Local:
        def __init__(self, value):
            self.value = value

    def work(number, rank, advance):
        return Local(number), Greeting("hello")

    for number, (local, greeting) in enumerate(results(executor, work)):
        assert (type(local), local.value) == (Local, number)
        assert (type(greeting), greeting.word) == (Greeting, "hello")


@pytest.mark.parametrize("rows", [3, 5_000])
def test_views_arrive_whole(executor, rows):
    texts = [None if number % 7 == 0 else "x" * (number % 50) for number in range(rows)]
    view = Dataset.from_dict({"n": list(range(rows)), "t": texts})._view
    shuffled = view.moved(np.random.default_rng(0).permutation(rows), "shuffle")

    def work(number, rank, advance):
        return shuffled.read()

    assert all(table.equals(shuffled.read()) for table in results(executor, work))


def test_arrays_can_be_written_to(executor):
    array = np.zeros(10_000)
    fixed = np.zeros(10_000)
    fixed.flags.writeable = False

    def work(number, rank, advance):
        array[number] = number + 1
        return array[number], fixed.flags.writeable

    assert results(executor, work) == [(number + 1, False) for number in range(4)]


def test_large_results_come_back(executor):
    table = results(executor, lambda *_: pa.table({"a": np.arange(1_000_000)}), 2)[1]
    assert table.num_rows == 1_000_000


def test_a_task_may_run_tasks(executor):
    def work(number, rank, advance):
        return sum(run_all(tasks_of(lambda inner, *_: inner, 3), none))

    assert results(executor, work, 1) == [3]


# Errors


class TwoFacts(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.first, self.second = first, second


class Holder(Exception):
    def __init__(self, thing):
        super().__init__("it holds something")
        self.thing = thing


def raised(executor, make):
    def work(number, rank, advance):
        if number == 1:
            raise make()
        return number

    run = executor.run(tasks_of(work, 3), 2, none)
    with pytest.raises(BaseException) as found:
        list(run)
    return found.value


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        (ValueError, ("bad value",)),
        (KeyError, ("key",)),
        (FileNotFoundError, (2, "No such file", "some/path")),
        (UnicodeDecodeError, ("utf-8", b"\xff", 0, 1, "invalid start byte")),
        (DatasetGenerationError, ("f", 3, "it failed")),
        (TwoFacts, ("one", "two")),
        (SystemExit, (3,)),
        (ExceptionGroup, ("several", [ValueError("a"), KeyError("b")])),
    ],
)
def test_errors_come_out_as_they_are(executor, kind, facts):
    found, expected = raised(executor, lambda: kind(*facts)), kind(*facts)
    assert (type(found), str(found), vars(found)) == (kind, str(expected), vars(expected))


def test_errors_tell_where_they_were_raised(executor):
    def deep():
        raise ValueError("deep down")

    found = raised(executor, deep)
    shown = "".join(traceback.format_exception(found))
    assert "in deep" in shown
    assert "deep down" in shown


def test_causes_and_notes_are_kept(executor):
    def make():
        error = RuntimeError("on top")
        error.__cause__ = ValueError("below")
        error.add_note("remember")
        return error

    found = raised(executor, make)
    assert found.__notes__ == ["remember"]
    assert (type(found.__cause__), str(found.__cause__)) == (ValueError, "below")


def test_an_error_that_cannot_travel_is_told(executor):
    found = raised(executor, lambda: Holder(threading.Lock()))
    if isinstance(found, WorkerError):
        assert found.kind.endswith("Holder")
        assert found.said == "it holds something"
        assert "in work" in found.traceback
        assert "it holds something" in str(found)
    else:
        assert type(found) is Holder


def test_what_cannot_travel_is_named(executor):
    lock = threading.Lock()

    def holds_a_lock(number, rank, advance):
        return lock.locked()

    try:
        assert results(executor, holds_a_lock) == [False] * 4
    except NotPicklableError as error:
        assert "holds_a_lock" in error.function
        assert "lock" in error.reason
        assert "num_proc" in str(error)


class OnlyHere:
    def __reduce__(self):
        return only_in, (os.getpid(),)


def only_in(pid):
    if os.getpid() != pid:
        raise RuntimeError("another process")
    return OnlyHere()


def test_what_cannot_be_opened_elsewhere_is_named(executor):
    thing = OnlyHere()

    def holds_a_thing(number, rank, advance):
        return type(thing).__name__

    try:
        assert results(executor, holds_a_thing) == ["OnlyHere"] * 4
    except NotPicklableError as error:
        assert "holds_a_thing" in error.function
        assert "another process" in error.reason


def test_a_result_that_cannot_travel_is_named(executor):
    def gives_a_lock(number, rank, advance):
        return threading.Lock()

    try:
        assert len(results(executor, gives_a_lock)) == 4
    except NotPicklableError as error:
        assert "gives_a_lock" in error.function
        assert "lock" in error.reason


def test_the_next_call_works_after_a_failure(executor):
    for _ in range(3):
        raised(executor, lambda: ValueError("once"))
        assert results(executor, lambda number, *_: number) == [0, 1, 2, 3]
