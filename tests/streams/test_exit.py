"""A program that ends before its streams do ends quietly, and at once."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = [{"n": number, "text": f"é漢🎈 {number} " * 20} for number in range(4000)]

OPEN = """
import builtins, os, sys
import crucible_datasets as datasets
from crucible_datasets.reading import blockshards
blockshards.BLOCK = 1 << 14

class Cycle: pass

def streams():
    for format, file in FILES:
        path = os.path.join(FOLDER, file)
        yield datasets.load_dataset(format, data_files=[path] * 2, split="train", streaming=True)
    yield datasets.Dataset.from_dict({"n": list(range(9000))}).to_iterable_dataset(num_shards=3)
    yield datasets.IterableDataset.from_generator(lambda: ({"n": n} for n in range(9000)))

async def later(row):
    return row

def derived(stream):
    yield stream
    yield stream.shuffle(seed=1, buffer_size=20)
    yield stream.map(lambda row: row).filter(lambda row: True).batch(3)
    yield stream.map(later)
    yield datasets.interleave_datasets([stream, stream])
    yield datasets.concatenate_datasets([stream, stream.skip(3)])

def begun():
    for stream in streams():
        for made in derived(stream):
            for rows in (iter(made), made.iter(4)):
                for _ in range(READ):
                    next(rows)
                yield rows
"""
HOLD = {
    "in a variable": "[None for rows in begun()]; held = list(begun())",
    "in another module": "builtins.held = list(begun()); sys.exit(0)",
    "in a cycle": "cycle = Cycle(); cycle.it, cycle.held = cycle, list(begun()); datasets.held = cycle; del cycle",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unfinished")
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    table = pa.Table.from_pylist(ROWS)
    (folder / "a.jsonl").write_text(lines)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "a.txt").write_text(lines)
    (folder / "a.csv").write_text("n,text\n" + "".join(f"{row['n']},{row['text']}\n" for row in ROWS))
    pq.write_table(table, folder / "a.parquet", row_group_size=500)
    with pa.ipc.new_stream(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    with tarfile.open(folder / "a.tar", "w") as archive:
        archive.add(folder / "a.txt", "1.txt")
        for number in range(2, 60):
            archive.add(folder / "a.csv", f"{number}.txt")
    return folder


FILES = [
    *(("json", "a.jsonl"), ("json", "a.jsonl.gz"), ("text", "a.txt"), ("csv", "a.csv")),
    *(("parquet", "a.parquet"), ("arrow", "a.arrow"), ("webdataset", "a.tar")),
]


@pytest.mark.parametrize("hold", HOLD)
def test_nothing_is_printed(hold: str, folder: Path) -> None:
    # A thread begins to prefetch after the first batch.
    script = f"FILES, FOLDER, READ = {FILES!r}, {str(folder)!r}, 2\n{OPEN}\n{HOLD[hold]}\n"
    (folder / "program.py").write_text(script)
    command = [sys.executable, "-X", "dev", "-c", script] if "variable" in hold else [sys.executable, "program.py"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=environment, cwd=folder, check=False
    )
    noise = [
        line for line in done.stderr.splitlines() if not line.startswith("Executing <")
    ]  # asyncio, on slow machines
    assert (done.returncode, done.stdout, noise) == (0, "", [])
