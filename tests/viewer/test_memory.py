"""The memory of a viewer is bounded by the budget of decoded data, however large the data is."""

import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command import CRUCIBLE

MEGABYTE = 2**20
LONG = "select text, count(*) as n from self group by all order by n"
QUESTIONS = ["where=x>0.5", "sort=-x", "q=abcd", "seed=1", "where=x>0.2&sort=x", f"sql={quote(LONG)}"]
WORKING = 64  # megabytes: blocks of rows on their way, answers on their way, what allocators keep for themselves


def written(path, rows):
    """Rows of 2,000 bytes, in a file that is much smaller; their size in megabytes."""
    draw = np.random.default_rng(0)
    texts = pa.array([draw.integers(97, 123, 2_000, dtype=np.uint8).tobytes().decode() for _ in range(300)])
    chosen = pa.array(draw.integers(0, len(texts), rows))
    table = pa.table({"n": np.arange(rows), "x": draw.random(rows), "text": texts.take(chosen)})
    pq.write_table(table, path, row_group_size=2_000)
    return table.nbytes / MEGABYTE


class Process:
    """A viewer of its own, and requests to it."""

    def __init__(self, running):
        self.status = Path(f"/proc/{running.pid}/status")
        self.base = re.search(r"http://\S+", running.stdout.readline())[0].partition("?token=")[0]
        self.token = running.stdout.readline().split()[-1]

    def __call__(self, path):
        asked = Request(self.base + path, headers={"X-Crucible-Token": self.token})
        with urlopen(asked, timeout=120) as answer:
            return answer.read()

    @property
    def memory(self):
        """Megabytes that belong to it alone; pages of files go when others need the memory."""
        return int(re.search(r"RssAnon:\s+(\d+)", self.status.read_text())[1]) / 1024

    def look(self, data, rows):
        """Do all that people do with data."""
        for at in range(0, rows, max(rows // 30, 1)):
            self(f"data/{data}/rows.json?offset={at}")
        for column in ("n", "x", "text"):
            while not json.loads(self(f"data/{data}/summary.json?column={column}"))["done"]:
                time.sleep(0.02)
        for question in QUESTIONS:
            self(f"data/{data}.json?{question}")
            self(f"data/{data}/rows.json?{question}&offset={rows // 3}")
        for kind in ("jsonl", "parquet"):
            self(f"data/{data}/download.{kind}?where=n<{rows // 3}&columns=n,x")


@contextmanager
def peak(process):
    """The most memory that it has meanwhile."""
    found, stop = [process.memory], Event()

    def watch():
        while not stop.wait(0.01):
            found.append(process.memory)

    watching = Thread(target=watch)
    watching.start()
    try:
        yield found
    finally:
        stop.set()
        watching.join()


@pytest.mark.parametrize(
    ("rows", "budget"), [(60_000, 8), pytest.param(600_000, 32, marks=pytest.mark.slow)], ids=["small", "large"]
)
def test_the_memory_of_a_viewer_does_not_grow_with_the_data(tmp_path, rows, budget):
    small, large = str(tmp_path / "small.parquet"), str(tmp_path / "large.parquet")
    written(small, 3_000)
    size = written(large, rows)
    assert size > 10 * budget
    command = [CRUCIBLE, "view", small, large, "--no-browser"]
    surroundings = {**os.environ, "CRUCIBLE_MEMORY_BUDGET": str(budget * MEGABYTE)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings) as running:
        try:
            process = Process(running)
            process.look(0, 3_000)  # everything that is imported for it is there
            began = process.memory
            with peak(process) as found:
                process.look(1, rows)
        finally:
            running.kill()
    grown = max(found) - began
    # What the budget let go may still be with the allocators; and there are the numbers of the rows of every answer.
    bound = 2 * budget + WORKING + rows * 8 * len(QUESTIONS) / MEGABYTE
    assert grown < bound < size, f"{grown:.0f} MB more for {size:.0f} MB of data"
