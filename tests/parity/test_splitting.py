"""The same seed splits the same rows on both sides, and the same sizes are refused."""

from __future__ import annotations

from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets.features import ClassLabel, Features, Value
from crucible_datasets.ops.splitting import train_test_split
from crucible_datasets.tables.view import View


def ours(labels: list[int], **arguments: Any) -> Any:
    features = Features({"row": Value("int64"), "label": ClassLabel(num_classes=9)})
    view = View.of(pa.table({"row": list(range(len(labels))), "label": pa.array(labels, pa.int64())}), features)
    return tuple(part.column("row").to_pylist() for part in train_test_split(view, **arguments))


def theirs(labels: list[int], **arguments: Any) -> Any:
    features = datasets.Features({"row": datasets.Value("int64"), "label": datasets.ClassLabel(num_classes=9)})
    whole = datasets.Dataset.from_dict({"row": list(range(len(labels))), "label": labels}, features=features)
    parts = whole.train_test_split(**arguments)
    return parts["train"]["row"][:], parts["test"]["row"][:]


def outcome(split: Any, labels: list[int], **arguments: Any) -> Any:
    try:
        return split(labels, **arguments)
    except ValueError:
        return ValueError


def sizes(draw: np.random.Generator, num_rows: int) -> dict[str, Any]:
    def size() -> float | int | None:
        return [None, float(draw.random()), int(draw.integers(1, num_rows))][draw.integers(3)]

    return {"test_size": size(), "train_size": size() if draw.random() < 0.4 else None}


@pytest.mark.parametrize("seed", range(120))
def test_plain_splits(seed):
    draw = np.random.default_rng(seed)
    labels = [0] * int(draw.integers(2, 200))
    arguments = {**sizes(draw, len(labels)), "seed": seed, "shuffle": bool(seed % 4)}
    assert outcome(ours, labels, **arguments) == outcome(theirs, labels, **arguments)


@pytest.mark.parametrize("seed", range(250))
def test_stratified_splits(seed):
    draw = np.random.default_rng(seed)
    classes = int(draw.integers(1, 8))
    # Few different counts make many ties, which the generator breaks.
    chances = draw.dirichlet(np.full(classes, 1 + 5 * (seed % 3)))
    labels = np.repeat(draw.choice(classes, size=int(draw.integers(classes, 60)), p=chances), 2).tolist()
    arguments = {**sizes(draw, len(labels)), "seed": seed, "stratify_by_column": "label"}
    assert outcome(ours, labels, **arguments) == outcome(theirs, labels, **arguments)


def test_large_stratified_split():
    labels = np.random.default_rng(0).integers(0, 9, 5000).tolist()
    for seed in range(3):
        arguments = {"test_size": 0.17, "seed": seed, "stratify_by_column": "label"}
        assert ours(labels, **arguments) == theirs(labels, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"test_size": 0},
        {"test_size": 0.0},
        {"test_size": 1.0},
        {"test_size": 12},
        {"test_size": -1},
        {"test_size": "3"},
        {"train_size": "3"},
        {"train_size": 12},
        {"test_size": 0.7, "train_size": 0.5},
        {"test_size": 7, "train_size": 6},
        {"test_size": 0.99},
        {"train_size": 0.01},
        {"stratify_by_column": "label", "shuffle": False},
        {"stratify_by_column": "label", "test_size": 2},
        {"stratify_by_column": "label", "train_size": 2},
        {"stratify_by_column": "nothing"},
    ],
    ids=str,
)
@pytest.mark.parametrize("split", [ours, theirs])
def test_refused(split, arguments):
    with pytest.raises(ValueError):
        split([0, 1, 2] * 4, **arguments)


@pytest.mark.parametrize("split", [ours, theirs])
def test_a_class_of_one_is_refused(split):
    with pytest.raises(ValueError):
        split([0, 1, 1, 1], test_size=2, stratify_by_column="label")


def test_the_callers_generator_and_the_global_seed():
    labels = [0] * 20
    for split in (ours, theirs):
        assert split(labels, generator=np.random.default_rng(5)) == split(labels, seed=5)
        assert split(labels, generator=np.random.default_rng(5), seed=1) == split(labels, seed=5)
    np.random.seed(3)
    first = ours(labels), ours(labels)
    np.random.seed(3)
    assert first == (theirs(labels), theirs(labels))


@pytest.mark.parametrize("arguments", [{}, {"test_size": 5}, {"stratify_by_column": "label"}], ids=str)
def test_no_rows(arguments):
    assert ours([], **arguments) == theirs([], **arguments) == ([], [])
