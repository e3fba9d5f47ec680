"""Datasets travel: by pickle, by copy, to the workers of a `DataLoader`, and between threads."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import given
from support.tables import specs

import crucible_datasets
from crucible_datasets import Dataset, DatasetDict, DatasetInfo, concatenate_datasets

WAYS = {
    "pickle": lambda dataset: pickle.loads(pickle.dumps(dataset)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def numbered(size: int = 1000) -> Dataset:
    columns = {
        "n": list(range(size)),
        "s": [f"row {n}" for n in range(size)],
        "l": [[n] * (n % 3) for n in range(size)],
    }
    return Dataset.from_dict(columns, info=DatasetInfo(description="numbers"), split="train")


@pytest.fixture
def mapped(tmp_path) -> Dataset:
    path = tmp_path / "numbers.arrow"
    table = numbered(5000).data.table
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return Dataset.from_file(str(path))


@pytest.fixture(params=["memory", "file"])
def dataset(request) -> Dataset:
    return numbered() if request.param == "memory" else request.getfixturevalue("mapped")


CHANGES = {
    "nothing": lambda dataset: dataset,
    "select": lambda dataset: dataset.select([5, 3, 3]),
    "slice": lambda dataset: dataset.select(range(10, 20)),
    "shuffle": lambda dataset: dataset.shuffle(seed=1),
    "rename": lambda dataset: dataset.rename_column("n", "number"),
    "swap": lambda dataset: dataset.rename_columns({"s": "l", "l": "s"}),
    "remove": lambda dataset: dataset.remove_columns(["s"]),
    "order": lambda dataset: dataset.select_columns(["l", "n"]),
    "add": lambda dataset: dataset.add_column("more", [0] * len(dataset)),
    "add to some": lambda dataset: dataset.shuffle(seed=2).take(9).add_column("more", list(range(9))),
    "sort": lambda dataset: dataset.sort("s"),
    "concatenate": lambda dataset: concatenate_datasets([dataset, dataset.take(3)]),
    "format": lambda dataset: dataset.with_format("numpy", columns=["n"]),
    "many": lambda dataset: dataset.shuffle(seed=3).rename_column("n", "m").skip(3).shard(2, 1, contiguous=False),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_rows_format_and_info_stay(dataset, change, way):
    before = CHANGES[change](dataset)
    after = WAYS[way](before)
    assert list(after.with_format(None)) == list(before.with_format(None))
    assert (after.features, after.format, after.info, after.split) == (
        before.features,
        before.format,
        before.info,
        before.split,
    )
    assert after._fingerprint == before._fingerprint


@given(specs())
def test_any_types_stay(spec):
    before = spec.dataset(crucible_datasets).shuffle(seed=1)
    after = pickle.loads(pickle.dumps(before))
    assert after.features == before.features
    assert repr(after[:]) == repr(before[:])


@pytest.mark.parametrize("way", ["deepcopy", "copy"])
def test_copies_are_set_apart(way):
    before = numbered()
    after = WAYS[way](before)
    after.set_format("numpy")
    assert before.format["type"] is None
    if way == "deepcopy":
        after.info.description = "other"
        assert before.info.description == "numbers"


SMALL = 4_000  # bytes; the rows themselves are more than 100,000


@pytest.mark.parametrize("change", ["nothing", "slice", "select", "rename", "swap", "remove", "order", "format"])
def test_mapped_datasets_are_pickled_as_references(mapped, change):
    assert len(pickle.dumps(CHANGES[change](mapped))) < SMALL


@pytest.mark.parametrize("change", ["shuffle", "many"])
def test_of_shuffled_mapped_datasets_only_the_order_is_pickled(mapped, change):
    assert len(pickle.dumps(CHANGES[change](mapped))) < SMALL + 8 * len(mapped)


def test_dicts_of_datasets_travel():
    before = DatasetDict({"train": numbered(5), "test": numbered(3).with_format("numpy")})
    for way in WAYS.values():
        after = way(before)
        assert isinstance(after, DatasetDict)
        assert {name: split.num_rows for name, split in after.items()} == {"train": 5, "test": 3}
        assert after["test"].format["type"] == "numpy"


LOADING = """
    import sys, pickle
    from torch.utils.data import DataLoader

    if __name__ == "__main__":
        for dataset in pickle.load(open(sys.argv[1], "rb")):
            for format, shuffle in [(None, False), ("torch", False), ("torch", True)]:
                rows = dataset.shuffle(seed=1).take(203).with_format(format, columns=["n", "s"])
                loader = DataLoader(rows, batch_size=10, num_workers=2, shuffle=shuffle)
                batches = list(loader)
                numbers = [number for batch in batches for number in batch["n"].tolist()]
                assert sorted(numbers) == sorted(rows["n"]), (format, shuffle)
                assert shuffle or numbers == list(rows["n"])
                assert all(text == f"row {n}" for batch in batches for n, text in zip(batch["n"], batch["s"]))
"""


def test_data_loader_workers_give_every_row_once(tmp_path, mapped):
    """In a process of its own: torch forks its workers, which libraries with threads may not survive."""
    pytest.importorskip("torch", reason="torch is not installed")
    script, data = tmp_path / "loading.py", tmp_path / "datasets.pickle"
    script.write_text(textwrap.dedent(LOADING))
    data.write_bytes(pickle.dumps([numbered(), mapped]))
    done = subprocess.run([sys.executable, str(script), str(data)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("change", ["nothing", "shuffle", "concatenate", "add to some"])
def test_threads_read_without_disturbing_each_other(dataset, change):
    """Eight threads start together on a dataset that nobody has read yet."""
    shown = CHANGES[change](dataset)
    expected = list(CHANGES[change](dataset))

    def read(seed: int) -> bool:
        draw = random.Random(seed)
        for _ in range(25):
            place = draw.randrange(len(expected))
            start = draw.randrange(len(expected))
            stop = min(start + draw.randrange(20), len(expected))
            right = (
                shown[place] == expected[place]
                and shown[start:stop]["s"] == [row["s"] for row in expected[start:stop]]
                and shown["n"][place] == expected[place]["n"]
                and shown[[place, start]]["l"] == [expected[place]["l"], expected[start]["l"]]
            )
            if not right:
                return False
        return list(shown["n"]) == [row["n"] for row in expected]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(8)))
    finally:
        sys.setswitchinterval(interval)


def test_what_comes_back_shares_the_mapped_table_as_long_as_it_is_used(mapped):
    sent = pickle.dumps(mapped.rename_column("n", "number"))
    one, other = pickle.loads(sent), pickle.loads(sent)
    assert one._view.table is other._view.table
    assert pickle.loads(pickle.dumps(mapped))._view.table is mapped._view.table
    assert one.column_names != mapped.column_names and one[7] == other[7]
