"""Processes that are copied while their threads are at work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from crucible_datasets.forking import Lock, cached_property

# Each fork comes while three threads use the library; in the first rounds, for the first time.
FORKS = """
import os, random, sys, threading, time
import crucible_datasets as datasets
from crucible_datasets import forking

file, rounds = sys.argv[1], int(sys.argv[2])
failed, stopped = [], threading.Event()

def work():
    rows = datasets.Dataset.from_dict({"a": list(range(20))})
    assert len(rows.map(lambda row: {"b": random.random()}).filter(lambda row: row["a"] > 3)) == 16
    assert sum(1 for _ in datasets.load_dataset("json", data_files=file, split="train", streaming=True)) == 5

def go_on():
    while not stopped.is_set():
        try:
            work()
        except BaseException as error:
            failed.append(error)
            raise

threads = [threading.Thread(target=go_on, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(rounds):
    time.sleep(random.random() / 10)
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stopped.set()
for thread in threads:
    thread.join()
assert not failed, failed
"""


def forked(rounds: int, tmp_path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n' * 5)
    told = [sys.executable, "-W", "ignore", "-c", FORKS, str(tmp_path / "rows.jsonl"), str(rounds)]
    done = subprocess.run(told, timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_that_is_forked_beside_working_threads_works(tmp_path):
    forked(1, tmp_path)


@pytest.mark.slow
def test_so_do_many(tmp_path):
    for _ in range(20):
        forked(5, tmp_path)


PRINTS = """
import os, sys
import crucible_datasets as datasets

numbers = datasets.Dataset.from_dict({"n": list(range(2000))})
print("before", end=" ")
if os.fork() == 0:
    print("child", end=" ")
    sys.stdout.flush()
    os._exit(0)
os.wait()
print("after", end=" ")
assert len(numbers.map(lambda row: {"m": row["n"] + 1}, num_proc=2)) == 2000
print("end")
"""


def test_text_that_is_printed_before_a_fork_appears_once(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    result = subprocess.run(
        [sys.executable, "-c", PRINTS], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["before", "child", "after", "end"]


def test_one_thread_that_works_a_property_out_keeps_no_other_waiting():
    begun, others_done = threading.Event(), threading.Event()

    class Thing:
        def __init__(self, slow: bool) -> None:
            self.slow = slow

        @cached_property
        def value(self) -> int:
            if self.slow:
                begun.set()
                assert others_done.wait(10)
            return 1

    thread = threading.Thread(target=lambda: Thing(slow=True).value)
    thread.start()
    assert begun.wait(10)
    assert Thing(slow=False).value == 1
    others_done.set()
    thread.join()


def test_a_lock_is_taken_by_one_thread_and_waited_for_only_so_long():
    lock, order = Lock(seconds=0.05), []

    def take() -> None:
        with lock:
            order.append("other")

    with lock, lock:
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        order.append("first")
    with lock:
        pass
    assert order == ["other", "first"]
