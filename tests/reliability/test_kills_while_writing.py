"""A process killed while it saves or exports leaves the old data or the new, whole, and nothing for ever.

Run as a program, `python test_kills_while_writing.py FOLDER SEED KILLS KIND …` prints what was found.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kills

from crucible_datasets import Dataset, DatasetDict
from crucible_datasets.formats.base import FORMATS

KINDS = ["save", "save over itself", "save a dict", "jsonl", "jsonl.gz", "csv", "parquet", "arrow", "txt"]
FORMAT = {"jsonl": "json", "jsonl.gz": "json", "txt": "text"}
SEED = int(os.environ.get("KILL_SEED", "20261115"))
# Seeds at which a kill once found a fault; they are run again for ever.
KEPT_SEEDS: list[int] = []
ROWS = 8_000


@pytest.mark.parametrize("seed", [SEED, *KEPT_SEEDS])
def test_killed_writing_leaves_old_or_new(seed, tmp_path):
    for seen in found(KINDS, tmp_path, seed, 10):
        require(seen, 10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_writing_leaves_old_or_new_200_times(kind, tmp_path):
    require(*found([kind], tmp_path, SEED + 1, 200), 200)


def found(kinds: list[str], folder: os.PathLike[str], seed: int, count: int) -> list[Counter[str]]:
    """What the program finds for each kind; starting one for all of them saves the imports."""
    answers = kills.run(__file__, str(folder), str(seed), str(count), *kinds).splitlines()
    sys.stdout.write(f"seed {seed}\n" + "\n".join(answers))
    return [Counter(json.loads(answer.partition(": ")[2])) for answer in answers]


def require(seen: Counter[str], count: int) -> None:
    assert seen["killed"] + seen["finished"] == count
    assert seen["killed"] >= count // 3, "too few kills came in time"
    assert seen["old"] + seen["new"] == count, seen
    assert not seen["unreadable"]
    assert seen["litter"] == 0


# The program


def main(kind: str, folder: str, seed: int, count: int) -> Counter[str]:
    old, new = rows("old", ROWS // 2), rows("new", ROWS)
    target = os.path.join(folder, "data" if kind.startswith("save") else f"data.{kind}")

    def write_the_other(there: str) -> None:
        WRITE[kind](target, new if there == "old" else old)

    # Imported before the forks, so that kills meet writing and not imports; nothing here starts a thread.
    for module in ("ops.build", "ops.columns", "ops.rows", "ops.save", "ops.saved", "ops.export", "compute", "atomic"):
        assert import_module(f"crucible_datasets.{module}")
    assert import_module("pyarrow.compute")
    assert kind.startswith("save") or FORMATS[FORMAT.get(kind, kind)]
    assert kills.forked(lambda: WRITE[kind](target, old)) == 0
    result = kills.kill_often(seed, count, write_the_other, lambda: present(kind, target))
    assert kills.forked(lambda: write_the_other("old")) == 0
    left = [name for name in os.listdir(folder) if name != os.path.basename(target)]
    left += [name for _, _, names in os.walk(folder) for name in names if name.startswith(".") or "~" in name]
    result["litter"] = len(left)
    return result


def rows(word: str, count: int) -> Dataset:
    texts = [f"{word} {number}" for number in range(count)]
    return Dataset.from_dict({"text": texts, "n": [float(number) for number in range(count)]})


def present(kind: str, target: str) -> str:
    """Which of the two is there, whole."""
    texts, numbers = contents(kind, target)
    word = texts[0].split()[0]
    length = {"old": ROWS // 2, "new": ROWS}[word]
    assert texts == [f"{word} {number}" for number in range(length)]
    assert numbers is None or numbers == [float(number) for number in range(length)]
    return word


def save_over_itself(target: str, data: Dataset) -> None:
    """Save rows that are partly read from the folder they are saved to."""
    if os.path.exists(target):
        source = Dataset.load_from_disk(target).select_columns("n").rename_column("n", "before")
        repeated = source.select([number % len(source) for number in range(len(data))])
        data = repeated.add_column("text", data["text"][:]).add_column("n", data["n"][:])
    data.save_to_disk(target, num_shards=2)


WRITE: dict[str, Callable[[str, Dataset], Any]] = {
    "save": lambda target, data: data.save_to_disk(target, num_shards=3),
    "save over itself": save_over_itself,
    "save a dict": lambda target, data: DatasetDict({"a": data, "b": data.take(100)}).save_to_disk(target),
    "jsonl": lambda target, data: data.to_json(target),
    "jsonl.gz": lambda target, data: data.to_json(target),
    "csv": lambda target, data: data.to_csv(target),
    "parquet": lambda target, data: data.to_parquet(target),
    "arrow": lambda target, data: data.to_arrow(target),
    "txt": lambda target, data: data.to_text(target),
}


def contents(kind: str, target: str) -> tuple[list[str], list[float] | None]:
    """The rows, read without this library where that is possible."""
    if kind.startswith("save"):
        return saved(target)
    if kind == "parquet":
        table = pq.ParquetFile(target).read(use_threads=False)
        return table["text"].to_pylist(), table["n"].to_pylist()
    if kind == "arrow":
        with pa.OSFile(target) as file:
            table = pa.ipc.open_stream(file).read_all()
        return table["text"].to_pylist(), table["n"].to_pylist()
    with (gzip.open if kind.endswith("gz") else open)(target, "rt", encoding="utf-8", newline="\n") as text:
        lines = text.read().split("\n")
    assert lines.pop() == "", "the last line is not whole"
    if kind == "txt":
        return lines, None
    if kind == "csv":
        pairs = list(csv.reader(lines))[1:]
        return [text for text, _ in pairs], [float(number) for _, number in pairs]
    objects = [json.loads(line) for line in lines]
    return [each["text"] for each in objects], [each["n"] for each in objects]


def saved(target: str) -> tuple[list[str], list[float]]:
    """Follow the files as another reader does, and let this library read them too."""
    if os.path.exists(os.path.join(target, "dataset_dict.json")):
        both = DatasetDict.load_from_disk(target)
        assert both["b"]["text"][:] == both["a"]["text"][:100], "mixed"
        return both["a"]["text"][:], both["a"]["n"][:]
    with open(os.path.join(target, "state.json"), encoding="utf-8") as file:
        names = [entry["filename"] for entry in json.load(file)["_data_files"]]
    assert sorted(names) == sorted(name for name in os.listdir(target) if name.endswith(".arrow")), "mixed"
    texts = []
    for name in names:
        with pa.OSFile(os.path.join(target, name)) as source:
            texts += pa.ipc.open_stream(source).read_all()["text"].to_pylist()
    loaded = Dataset.load_from_disk(target)
    assert loaded["text"][:] == texts
    return texts, loaded["n"][:]


if __name__ == "__main__":
    for each in sys.argv[4:]:
        place = os.path.join(sys.argv[1], each)
        os.mkdir(place)
        answer = main(each, place, int(sys.argv[2]), int(sys.argv[3]))
        sys.stdout.write(f"{each}: {json.dumps(answer)}\n")
