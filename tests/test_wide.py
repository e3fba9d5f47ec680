"""Tables of many columns: no operation takes more than its share of each, counted in calls of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from crucible_datasets import Dataset, Features, Value, concatenate_datasets, load_dataset

FEW, MANY = 50, 200


def table(width: int) -> Dataset:
    return Dataset.from_dict({f"c{number}": [1, 2, 3] for number in range(width)})


def renamed(dataset: Dataset) -> Dataset:
    return dataset.rename_columns({name: f"new {name}" for name in dataset.column_names})


def written(dataset: Dataset, folder: Any, kind: str) -> str:
    path = str(folder / f"{dataset.num_columns}.{kind}")
    getattr(dataset, f"to_{kind}")(path)
    return path


OPERATIONS: dict[str, Callable[[Dataset, Any], Any]] = {
    "row": lambda dataset, _: dataset[1],
    "rows": lambda dataset, _: dataset[[2, 0]],
    "iterate": lambda dataset, _: list(dataset),
    "rename": lambda dataset, _: renamed(dataset),
    "remove": lambda dataset, _: dataset.remove_columns(dataset.column_names[1:]),
    "cast": lambda dataset, _: dataset.cast(Features(dict.fromkeys(dataset.column_names, Value("string")))),
    "add a row": lambda dataset, _: dataset.add_item(dict.fromkeys(dataset.column_names, 1)),
    "concatenate rows": lambda dataset, _: concatenate_datasets([dataset, dataset])[4],
    "concatenate columns": lambda dataset, _: concatenate_datasets([dataset, renamed(dataset)], axis=1)[0],
    "map": lambda dataset, _: dataset.map(lambda row: {name: value + 1 for name, value in row.items()})[0],
    "map batches": lambda dataset, _: dataset.map(lambda batch: dict(batch), batched=True)[0],
    "filter": lambda dataset, _: dataset.filter(lambda row: row["c1"] > 1)[0],
    "stream": lambda dataset, _: list(dataset.to_iterable_dataset().map(lambda row: {"new": 1}).batch(2)),
    "save": lambda dataset, folder: dataset.save_to_disk(folder / str(dataset.num_columns)),
    **{
        f"write and read {kind}": lambda dataset, folder, kind=kind: load_dataset(
            kind, data_files=written(dataset, folder, kind), split="train"
        )[0]
        for kind in ("parquet", "json", "csv")
    },
}


def calls(work: Callable[[], Any]) -> int:
    number = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


@pytest.mark.parametrize("name", OPERATIONS)
def test_four_times_the_columns_take_four_times_the_calls(name, tmp_path):
    work = OPERATIONS[name]
    work(table(3), tmp_path)  # imports
    few, many = (calls(lambda: work(table(width), tmp_path)) for width in (FEW, MANY))
    assert many < 4.5 * few
