"""The memory that `map` takes does not grow with the rows of data that lies on the disk."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pytest

# Pages of mapped files are resident too, but can go at any time: only what was allocated is compared.
PROGRAM = """
import sys, threading
from crucible_datasets import Dataset

most, done = 0, threading.Event()

def watch():
    global most
    while not done.wait(0.005):
        with open("/proc/self/status") as status:
            most = max(most, *(int(line.split()[1]) for line in status if line.startswith("RssAnon")))

dataset = Dataset.from_file(sys.argv[1])
thread = threading.Thread(target=watch)
thread.start()
made = dataset.map(lambda row: {"size": len(row["text"]), "words": row["text"].split()[:5]})
kept = made.filter(lambda row: row["size"] > 10)
done.set()
thread.join()
assert len(kept) == len(dataset)
print(most)
"""


def memory_for(rows: int, folder: str) -> int:
    path = os.path.join(folder, f"{rows}.arrow")
    with pa.ipc.new_stream(path, pa.schema({"text": pa.string()})) as writer:
        for start in range(0, rows, 1000):
            texts = [f"row {place} " + "some words of text " * 20 for place in range(start, min(start + 1000, rows))]
            writer.write_table(pa.table({"text": texts}))
    environment = {**os.environ, "HF_DATASETS_CACHE": os.path.join(folder, f"cache{rows}")}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], env=environment, capture_output=True, text=True, check=False
    )
    assert not ran.returncode, ran.stderr
    return int(ran.stdout)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux tells")
@pytest.mark.parametrize("rows", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_ten_times_the_rows_take_hardly_more_memory(rows, tmp_path):
    few, many = (memory_for(size, str(tmp_path)) for size in (rows, 10 * rows))
    assert many < 1.3 * few
