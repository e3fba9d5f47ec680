"""A stream takes the memory of a few batches, however much data flows through it."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MB = 1 << 20

# Prints by how many bytes the peak grew above the interpreter with everything imported.
READER = """
import resource, sys
import pyarrow.parquet, pyarrow.json, pyarrow.csv
import crucible_datasets as ours
path, then = sys.argv[1:]
format = path.rpartition(".")[2].replace("jsonl", "json")
small = ours.load_dataset(format, data_files=path + ".small." + path.rpartition(".")[2], split="train", streaming=True)
stream = ours.load_dataset(format, data_files=path, split="train", streaming=True)
steps = {
    "read": lambda d: d,
    "map": lambda d: d.map(lambda row: {"size": len(row["t"])}).filter(lambda row: row["size"]),
    "shuffle": lambda d: d.shuffle(seed=1, buffer_size=100).batch(10),
    "write": lambda d: d.to_parquet(path + ".out") and () or (),
}
for _ in steps[then](small):
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = 0
for row in steps[then](stream):
    count += 1
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, count)
"""


def written(path, megabytes, group=4 * MB):
    """Rows of 16 kB, in row groups of 4 MB."""
    for name, size in ((path, megabytes), (path.with_name(f"{path.name}.small{path.suffix}"), 8)):
        schema = pa.schema({"n": pa.int64(), "t": pa.string()})
        per_group = group // (16 << 10)
        with pq.ParquetWriter(name, schema, compression="none", use_dictionary=False) as writer:
            for number in range(size * MB // group):
                texts = [os.urandom(8 << 10).hex() for _ in range(per_group)]
                writer.write_table(pa.table({"n": range(per_group), "t": texts}, schema=schema))


def growth(path, then):
    command = [sys.executable, "-c", READER, str(path), then]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "data.parquet"
    written(path, 256)
    return path


# What is written is held until it fills a row group, of 100 MB.
@pytest.mark.parametrize(("then", "most"), [("read", 80), ("map", 80), ("shuffle", 160), ("write", 220)])
def test_memory_does_not_grow_with_the_file(large, then, most):
    assert growth(large, then) < most * MB


@pytest.mark.slow
@pytest.mark.parametrize("then", ["read", "map", "shuffle", "write"])
def test_two_gigabytes_of_parquet(tmp_path, then):
    path = tmp_path / "data.parquet"
    written(path, 2048, 64 * MB)
    assert growth(path, then) < 300 * MB


@pytest.mark.slow
def test_two_gigabytes_of_json_lines(tmp_path):
    path = tmp_path / "data.jsonl"
    line = '{"n": 1, "t": "' + "x" * (16 << 10) + '"}\n'
    for name, size in ((path, 2048), (path.with_name("data.jsonl.small.jsonl"), 8)):
        with open(name, "w") as file:
            file.writelines(line for _ in range(size * 64))
    assert growth(path, "read") < 300 * MB
