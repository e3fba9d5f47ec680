"""Rows that go to the frames of clusters and come back are the same."""

import importlib.util

import numpy as np
import pytest

from crucible_datasets import Array2D, ClassLabel, Dataset, Features, List, Value
from crucible_datasets.exceptions import MissingPackageError

of_ray_itself = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

KINDS = Features(
    {
        "n": Value("int32"),
        "label": ClassLabel(names=["a", "b"]),
        "grid": Array2D((2, 2), "int8"),
        "deep": List({"t": Value("string")}),
    }
)


@pytest.fixture
def rows():
    made = {
        "n": [None if n == 3 else n for n in range(100)],
        "label": [n % 2 for n in range(100)],
        "grid": [[[n, 1], [2, 3]] for n in range(100)],
        "deep": [[{"t": None}] * (n % 3) for n in range(100)],
    }
    return Dataset.from_dict(made, KINDS)


def same(one, other):
    assert (one.features, one.to_dict()) == (other.features, other.to_dict())


@of_ray_itself
@pytest.mark.usefixtures("ray_cluster")
def test_ray(rows):
    for dataset in (rows, rows.shuffle(1), rows.select([])):
        same(Dataset.from_ray_dataset(dataset.to_ray_dataset()), dataset)


@of_ray_itself
@pytest.mark.usefixtures("ray_cluster")
def test_ray_after_work_on_tensors(rows):
    def grown(batch):
        return {"n": batch["n"] + 1, "grid": np.ones((len(batch["n"]), 2, 2), dtype=np.int8)}

    numbers = rows.select_columns("n").filter(lambda row: row["n"] is not None)
    made = Dataset.from_ray_dataset(numbers.to_ray_dataset().map_batches(grown))
    assert sorted(made["n"]) == sorted(n + 1 for n in numbers["n"])
    assert made["grid"][:] == [[[1, 1], [1, 1]]] * 99
    same(
        Dataset.from_ray_dataset(numbers.to_ray_dataset(), Features({"n": Value("int64")})).cast(numbers.features),
        numbers,
    )


def test_dask(rows):
    if importlib.util.find_spec("dask") is None:
        with pytest.raises(MissingPackageError, match=r"\[dask\]"):
            rows.to_dask()
        pytest.skip("Dask is not installed")
    for dataset in (rows, rows.shuffle(1), rows.select([])):
        same(Dataset.from_dask(dataset.to_dask(), dataset.features), dataset)
    assert rows.to_dask().n.sum().compute() == sum(n for n in range(100) if n != 3)


def test_spark(rows):
    if importlib.util.find_spec("pyspark") is None:
        with pytest.raises(MissingPackageError, match=r"\[spark\]"):
            rows.to_spark()
        pytest.skip("Spark is not installed")
    same(Dataset.from_spark(rows.to_spark().orderBy("n"), features=rows.features).sort("n"), rows.sort("n"))
