"""A process killed while it writes tar shards leaves each shard old or new, whole, and nothing for ever.

One killed while it makes an index of a shard leaves a whole index or none: rows are those of the archive that is there.

Run as a program, `python test_webdataset_kills.py FOLDER SEED KILLS` prints what was found, with `index` behind it for indices.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from support import kills
from support.packed import tar_of

from crucible_datasets import Dataset, load_dataset
from crucible_datasets.webdataset import ShardWriter

SEED = int(os.environ.get("KILL_SEED", "20261116"))
ROWS, SHARDS, INDEXED = 3_000, 4, 300


def test_a_killed_writer_leaves_whole_shards(tmp_path):
    require(found(tmp_path, SEED, 9), 9)


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_shards_200_times(tmp_path):
    require(found(tmp_path, SEED + 1, 200), 200)


def test_a_killed_index_is_never_taken_for_a_whole_one(tmp_path):
    require(found(tmp_path, SEED, 6, "index"), 6)


@pytest.mark.slow
def test_two_hundred_killed_indices(tmp_path):
    require(found(tmp_path, SEED + 2, 200, "index"), 200)


def found(folder: os.PathLike[str], seed: int, count: int, *what: str) -> Counter[str]:
    answer = kills.run(__file__, str(folder), str(seed), str(count), *what, timeout=3600)
    sys.stdout.write(f"seed {seed}\n{answer}")
    return Counter(json.loads(answer))


def require(seen: Counter[str], count: int) -> None:
    assert seen["killed"] + seen["finished"] == count
    assert seen["killed"] >= count // 3, "too few kills came in time"
    assert seen["old"] + seen["new"] + seen["some of each"] == count, seen
    assert seen["litter"] == 0


# The program


def main(folder: str, seed: int, count: int) -> Counter[str]:
    def write_the_other(there: str) -> None:
        word = "new" if there == "old" else "old"
        (flowing if seed % 2 else rows(word).to_webdataset)(*([folder, word] if seed % 2 else [target(folder), *SPLIT]))

    # Imported before the forks, so that kills meet writing and not imports; nothing here starts a thread.
    for module in ("ops.build", "ops.webdataset.export", "ops.rows", "compute", "atomic"):
        assert import_module(f"crucible_datasets.{module}")
    assert import_module("pyarrow.compute")
    assert kills.forked(lambda: write_the_other("new")) == 0
    result = kills.kill_often(seed, count, write_the_other, lambda: present(folder))
    assert kills.forked(lambda: write_the_other("old")) == 0
    result["litter"] = len(os.listdir(folder)) - SHARDS
    return result


def main_of_indices(folder: str, seed: int, count: int) -> Counter[str]:
    """Archives of one size take turns at one path; each time the index is made, or found."""
    path, cache = os.path.join(folder, "x.tar"), os.path.join(folder, "cache")

    def replace_and_index(there: str) -> None:
        word = "new" if there == "old" else "old"
        members = [
            (f"{word}{n}.{kind}", data)
            for n in range(INDEXED)
            for kind, data in (("json", b'{"n": %d}' % n), ("txt", f"{word} {n}".encode()))
        ]
        Path(f"{path}.new").write_bytes(tar_of(members))
        os.replace(f"{path}.new", path)
        present_by_index(path, cache)

    for module in (
        "load",
        "reading.tar_views",
        "reading.prepare",
        "formats.webdataset",
        "cache",
        "ops.read",
        "outputs.python",
    ):
        assert import_module(f"crucible_datasets.{module}")
    assert import_module("pyarrow.compute")
    assert kills.forked(lambda: replace_and_index("new")) == 0
    result = kills.kill_often(seed, count, replace_and_index, lambda: present_by_index(path, cache))
    work = Path(cache, "crucible", ".work")
    result["litter"] = sum(name.suffix == ".tmp" for name in work.iterdir()) if work.exists() else 0
    return result


def present_by_index(path: str, cache: str) -> str:
    """Which of the two archives the rows are of, all of them read by the index."""
    rows = load_dataset("webdataset", data_files=path, split="train", cache_dir=cache)
    word = rows[0]["txt"].split()[0]
    assert [rows[n] for n in range(INDEXED)] == [
        {"json": {"n": n}, "txt": f"{word} {n}", "__key__": f"{word}{n}", "__url__": path} for n in range(INDEXED)
    ]
    return str(word)


SPLIT = (None, None, None, SHARDS)


def target(folder: str) -> str:
    return os.path.join(folder, "out-%d.tar")


def rows(word: str) -> Dataset:
    """Samples that say which of the two they are, so long that a shard is not written at once."""
    return Dataset.from_dict({"txt": [f"{word} {number} " * 60 for number in range(ROWS)]})


def flowing(folder: str, word: str) -> None:
    """The same, sample by sample."""
    with ShardWriter(target(folder), max_shard_rows=ROWS // SHARDS) as writer:
        for number in range(ROWS):
            writer.write({"txt": f"{word} {number} " * 60})


def present(folder: str) -> str:
    """Which of the two the shards are, read without this library."""
    words = set()
    for shard in range(SHARDS):
        path = target(folder) % shard
        with tarfile.open(path) as archive:
            texts = [archive.extractfile(member).read().decode() for member in archive]
            end = archive.offset
        assert os.path.getsize(path) % 10240 == 0
        assert end <= os.path.getsize(path)
        word = texts[0].split()[0]
        first = shard * ROWS // SHARDS
        assert texts == [f"{word} {number} " * 60 for number in range(first, first + ROWS // SHARDS)]
        words.add(word)
    return words.pop() if len(words) == 1 else "some of each"


if __name__ == "__main__":
    program = main_of_indices if sys.argv[4:] == ["index"] else main
    sys.stdout.write(json.dumps(program(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
