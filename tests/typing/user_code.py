"""What users write. `make lint` checks it with mypy, strictly; `test_user_code` runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_type

import crucible_datasets as cd
from crucible_datasets import Column, Dataset, DatasetDict, Features, IterableDataset, IterableDatasetDict
from crucible_datasets.exceptions import DatasetNotFoundError


def rows() -> Dataset:
    return Dataset.from_dict({"text": ["a", "b", "c", "d"], "label": [0, 1, 0, 1]})


def reading() -> None:
    data = rows()
    assert_type(data[0], dict[str, Any])
    assert_type(data["text"], Column)
    assert_type(data[:2], dict[str, list[Any]])
    assert_type(data[[0, 1]], dict[str, list[Any]])
    assert_type(data["text"][:2], list[Any])
    assert_type(len(data), int)
    assert_type(data.column_names, list[str])
    assert_type(data.features, Features)
    assert_type(data.shape, tuple[int, int])
    for row in data:
        assert_type(row, dict[str, Any])
    assert_type(data.to_list(), list[dict[str, Any]])


def changing() -> None:
    data = rows()

    def upper(row: dict[str, Any]) -> dict[str, Any]:
        return {"text": row["text"].upper()}

    assert_type(data.map(upper), Dataset)
    assert_type(data.filter(lambda row: row["label"] == 1), Dataset)
    assert_type(data.select([0]).shuffle(seed=1).sort("label").take(1), Dataset)
    assert_type(data.rename_column("text", "input").remove_columns("label").with_format("numpy"), Dataset)
    assert_type(data.cast_column("label", cd.Value("int8")), Dataset)
    parts = data.train_test_split(test_size=0.5, seed=1)
    assert_type(parts, DatasetDict)
    assert_type(parts["train"], Dataset)
    assert_type(parts.map(upper), DatasetDict)
    assert_type(cd.concatenate_datasets([data, data]), Dataset)
    assert_type(cd.interleave_datasets([data, data]), Dataset)


def streaming() -> None:
    def numbers() -> Iterator[dict[str, int]]:
        yield {"n": 1}

    stream = IterableDataset.from_generator(numbers)
    assert_type(stream, IterableDataset)
    assert_type(stream.map(lambda row: row).shuffle(seed=1).take(1), IterableDataset)
    assert_type(rows().to_iterable_dataset(), IterableDataset)
    for row in stream:
        assert_type(row, dict[str, Any])


def files(folder: str) -> None:
    rows().to_parquet(f"{folder}/data.parquet")
    one = cd.load_dataset("parquet", data_files=f"{folder}/data.parquet", split="train")
    assert_type(one, Dataset)
    every = cd.load_dataset("parquet", data_files=f"{folder}/data.parquet")
    assert_type(every, DatasetDict)
    assert_type(
        cd.load_dataset("parquet", data_files=f"{folder}/data.parquet", split="train", streaming=True), IterableDataset
    )
    assert_type(cd.load_dataset("parquet", data_files=f"{folder}/data.parquet", streaming=True), IterableDatasetDict)
    rows().save_to_disk(f"{folder}/saved")
    assert_type(cd.load_from_disk(f"{folder}/saved"), Dataset | DatasetDict)
    try:
        cd.load_dataset(f"{folder}/nothing")
    except DatasetNotFoundError as error:
        assert_type(error, DatasetNotFoundError)
