"""concatenate_datasets and interleave_datasets give the same rows, features and errors on both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.combine import concatenate, interleave
from crucible_datasets.ops.interleaving import STRATEGIES
from crucible_datasets.outputs.base import Format
from crucible_datasets.tables.view import View


def mine(dataset: datasets.Dataset) -> View:
    """The same dataset as a view."""
    return View.of(dataset.data.table, Features.from_dict(dataset.features.to_dict()))


def made(columns: dict[str, Any], **features: Any) -> datasets.Dataset:
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features) if features else None)


def sized(*lengths: int) -> list[datasets.Dataset]:
    return [
        made({"n": list(range(100 * index, 100 * index + size))}, n=datasets.Value("int64"))
        for index, size in enumerate(lengths)
    ]


INT, TEXT, NULL = datasets.Value("int64"), datasets.Value("string"), datasets.Value("null")
LABEL = datasets.ClassLabel(names=["a", "b"])

ALIGNED = [
    [({"a": [1, 2]}, {"a": INT}), ({"a": [None]}, {"a": NULL})],
    [({"a": [None]}, {"a": NULL}), ({"a": [0, 1]}, {"a": LABEL})],
    [({"a": [1]}, {"a": INT}), ({"b": ["x"]}, {"b": TEXT}), ({"b": ["y"], "a": [3]}, {"b": TEXT, "a": INT})],
    [({"a": [{"x": 1, "y": "q"}]}, {}), ({"a": [{"y": "r", "x": 2}]}, {})],
    [({"a": [{"x": None, "y": "q"}]}, {}), ({"a": [{"y": "r", "x": 2}]}, {})],
    [({"a": [{"q": {"x": 1}}]}, {}), ({"a": [{"q": {"x": None}}]}, {})],
    [({"a": [[]]}, {}), ({"a": [[1]]}, {}), ({"a": [None]}, {})],
    [({"a": [[[]]]}, {}), ({"a": [[[1]], None]}, {})],
    [({"a": [[{"x": 1, "y": "q"}]]}, {}), ({"a": [[{"y": "r", "x": 2}]]}, {})],
    [({"a": [1]}, {}), ({"b": []}, {}), ({"a": []}, {"a": TEXT})],
    [({"a": []}, {"a": INT}), ({"b": []}, {"b": INT})],
]

REFUSED = [
    (INT, datasets.Value("int32")),
    (INT, datasets.Value("float64")),
    (INT, TEXT),
    (INT, {"x": INT}),
    (LABEL, datasets.ClassLabel(names=["b", "a"])),
    (LABEL, INT),
    (TEXT, datasets.Value("large_string")),
    (TEXT, datasets.Json()),
    (datasets.List(INT), datasets.LargeList(INT)),
    (datasets.List(INT), datasets.List(INT, length=1)),
    (datasets.List(NULL), datasets.LargeList(INT)),
    (datasets.Value("timestamp[s]"), datasets.Value("timestamp[ms]")),
    ({"x": INT}, {"x": TEXT}),
]


@pytest.mark.parametrize("several", ALIGNED, ids=str)
def test_features_are_aligned_alike(several):
    whole = [made(columns, **features) for columns, features in several]
    for order in (whole, whole[::-1]):
        theirs, ours = datasets.concatenate_datasets(order), concatenate([mine(dataset) for dataset in order])
        assert ours.read().to_pylist() == theirs.to_list()
        assert ours.features == Features.from_dict(theirs.features.to_dict())
        assert ours.column_names == theirs.column_names


@pytest.mark.parametrize("pair", REFUSED, ids=str)
def test_features_are_refused_alike(pair):
    for order in (pair, pair[::-1]):
        whole = [made({"a": [None]}, a=feature) for feature in order]
        with pytest.raises(Exception) as theirs:
            datasets.concatenate_datasets(whole)
        with pytest.raises(ValueError) as ours:
            concatenate([mine(dataset) for dataset in whole])
        assert isinstance(ours.value, TypeError if isinstance(theirs.value, TypeError) else type(theirs.value))


def test_columns_beside_each_other():
    whole = [made({"a": [1, 2, 3]}).shuffle(seed=2), made({"b": ["x", "y", "z"], "c": [None] * 3}), made({"d": []})]
    views = [mine(whole[0].flatten_indices()), mine(whole[1]), mine(whole[2])]
    theirs, ours = datasets.concatenate_datasets(whole, axis=1), concatenate(views, axis=1)
    assert ours.read().to_pylist() == theirs.to_list()
    for clash in ([made({"a": [1]}), made({"a": [2]})], [made({"a": [1]}), made({"b": [1, 2]})]):
        with pytest.raises(ValueError):
            datasets.concatenate_datasets(clash, axis=1)
        with pytest.raises(ValueError):
            concatenate([mine(dataset) for dataset in clash], axis=1)


def test_info_is_merged_alike():
    texts = [
        {"description": "one", "license": "mit", "citation": "c", "builder_name": "x"},
        {"description": "two", "license": "mit", "citation": "", "builder_name": "x"},
    ]
    for chosen, columns in (([0, 1], "aa"), ([0, 0], "aa"), ([0, 0], "ab"), ([1], "a")):
        whole = [
            datasets.Dataset.from_dict({name: [1]}, info=datasets.DatasetInfo(**texts[which]))
            for which, name in zip(chosen, columns, strict=True)
        ]
        views = [
            replace(mine(dataset), info=DatasetInfo(**texts[which]))
            for which, dataset in zip(chosen, whole, strict=True)
        ]
        theirs, ours = datasets.concatenate_datasets(whole).info, concatenate(views).info
        for field in texts[0]:
            assert getattr(ours, field) == getattr(theirs, field)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"type": "numpy"}, {"type": "numpy"}),
        ({"type": "numpy"}, {"type": None}),
        ({"type": "numpy", "columns": ["a"]}, {"type": "numpy", "columns": ["a"]}),
        ({"type": "numpy", "columns": ["a"]}, {"type": "numpy"}),
        ({"type": "numpy", "columns": ["a", "b"]}, {"type": "numpy"}),
        ({"type": "numpy", "columns": ["b"], "output_all_columns": True}, {"type": "numpy", "columns": ["b"]}),
    ],
)
def test_a_format_is_kept_when_all_have_it(left, right):
    whole = [made({"a": [1], "b": [2]}).with_format(**kind) for kind in (left, right)]
    views = [
        replace(
            mine(dataset), format=Format(**{**kind, "columns": tuple(kind["columns"]) if "columns" in kind else None})
        )
        for dataset, kind in zip(whole, (left, right), strict=True)
    ]
    ours = concatenate(views)
    assert ours.format.as_dict(ours.column_names) == datasets.concatenate_datasets(whole).format


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
    weights=st.none() | st.lists(st.integers(1, 20), min_size=5, max_size=5),
)
def test_interleaved_rows(strategy, lengths, seed, weights):
    whole = sized(*lengths)
    share = None if weights is None else (np.array(weights[: len(lengths)]) / sum(weights[: len(lengths)])).tolist()
    arguments = {"probabilities": share, "seed": seed, "stopping_strategy": strategy}
    theirs = datasets.interleave_datasets(whole, **arguments)
    assert interleave([mine(dataset) for dataset in whole], **arguments).column("n").to_pylist() == theirs["n"][:]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_interleaved_rows_need_many_draws(strategy):
    whole = [
        made({"n": list(range(10_000 * index, 10_000 * index + size))}) for index, size in enumerate((900, 4000, 50))
    ]
    for seed in range(3):
        arguments = {"probabilities": [0.3, 0.6, 0.1], "seed": seed, "stopping_strategy": strategy}
        theirs = datasets.interleave_datasets(whole, **arguments)
        assert interleave([mine(dataset) for dataset in whole], **arguments).column("n").to_pylist() == theirs["n"][:]


@pytest.mark.parametrize(
    ("lengths", "arguments"),
    [
        ((0, 3), {}),
        ((3, 0), {}),
        ((0, 0), {"stopping_strategy": "all_exhausted"}),
        ((0, 3), {"stopping_strategy": "all_exhausted_without_replacement"}),
        ((2, 0, 3), {"stopping_strategy": "all_exhausted_without_replacement"}),
        ((3, 4), {"probabilities": [1, 0], "seed": 1}),
        ((3, 0), {"probabilities": [1, 0], "seed": 1}),
    ],
    ids=str,
)
def test_empty_datasets_and_those_never_drawn(lengths, arguments):
    whole = sized(*lengths)
    ours = interleave([mine(dataset) for dataset in whole], **arguments)
    assert ours.column("n").to_pylist() == datasets.interleave_datasets(whole, **arguments)["n"][:]


@pytest.mark.parametrize(
    ("lengths", "arguments"),
    [
        ((), {}),
        ((3, 4), {"stopping_strategy": "x"}),
        ((3, 4), {"probabilities": [0.5]}),
        ((3, 4), {"probabilities": [0.5, 0.5, 0.0]}),
        ((3, 4), {"probabilities": []}),
        ((3, 4), {"probabilities": [0.5, 0.6]}),
        ((3, 4), {"probabilities": [-0.5, 1.5]}),
        ((3, 4), {"probabilities": [1, 0], "stopping_strategy": "all_exhausted"}),
        ((3, 0), {"probabilities": [1, 0], "stopping_strategy": "all_exhausted"}),
        ((3, 0), {"probabilities": [0.5, 0.5]}),
        ((0, 3), {"probabilities": [0.5, 0.5], "stopping_strategy": "all_exhausted"}),
    ],
    ids=str,
)
def test_interleaving_is_refused_alike(lengths, arguments):
    whole = sized(*lengths)
    with pytest.raises((ValueError, IndexError)) as theirs:
        datasets.interleave_datasets(whole, **arguments)
    with pytest.raises(theirs.type):
        interleave([mine(dataset) for dataset in whole], **arguments)


def test_scattered_rows():
    whole = [dataset.flatten_indices() for dataset in sized(5, 6)]
    orders = [[4, 0, 2], [5, 1]]
    parts = [dataset.select(order) for dataset, order in zip(whole, orders, strict=True)]
    views = [mine(dataset).moved(np.array(order), "select") for dataset, order in zip(whole, orders, strict=True)]
    assert concatenate(views).column("n").to_pylist() == datasets.concatenate_datasets(parts)["n"][:]
    assert interleave(views).column("n").to_pylist() == datasets.interleave_datasets(parts)["n"][:]
    assert isinstance(concatenate(views).read(), pa.Table)
