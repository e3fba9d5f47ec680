"""Objects with many keys take time in proportion to their number."""

import resource
import subprocess
import sys

import pytest

SECONDS = 40  # of processor time, for what takes about 3; with quadratic work it takes minutes
OBJECTS = {
    "numbers": "[{f'k{i}': i for i in range(N)}]",
    "objects of different keys": "[{f'k{i}': {'a': 1} for i in range(N)}, {f'k{i}': {'b': 1} for i in range(N)}]",
    "objects with nulls": "[{'a': {f'k{i}': i for i in range(N)}}, {'a': {f'k{i}': None for i in range(N)}}]",
    "an object in an object": "[{'a': {f'k{i}': i for i in range(N)}}]",
    "numbers that Arrow rounds": "[{f'k{i}': 10**25 for i in range(N)}]",
    "dates": "[{f'k{i}': '2020-01-01' for i in range(N)}]",
}
PROGRAM = """
import json, sys
from crucible_datasets import load_dataset
N = 15_000
rows = ROWS
with open("a.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps(row) + "\\n" for row in rows)
data = load_dataset("json", data_files="a.jsonl", split="train", cache_dir="cache")
print(len(data.column_names) == len(rows[0]) and len(data) == len(rows))
"""


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize("name", OBJECTS)
def test_wide_objects_take_linear_time(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("ROWS", OBJECTS[name])],
        cwd=tmp_path,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr[-1500:]
