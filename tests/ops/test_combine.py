"""Concatenation equals concatenation of lists, shares the data, and names what does not fit."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.exceptions import (
    AlignmentError,
    ArgumentError,
    ColumnLengthError,
    ColumnNamesError,
    FeaturesMismatchError,
    ProbabilitiesError,
)
from crucible_datasets.features import Features, LargeList, List, Value
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.combine import concatenate, interleave
from crucible_datasets.ops.interleaving import STRATEGIES, interleaved_rows
from crucible_datasets.ops.rows import select, shuffle
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.tables.table import ArrowTable, SideBySide
from crucible_datasets.tables.view import View


def view_of(features: dict[str, Any] | None = None, **columns: Any) -> View:
    table = pa.table(columns, schema=Features(features).arrow_schema if features else None)
    return View.of(table, Features.from_arrow_schema(table.schema))


def rows_of(view: View) -> list[dict[str, Any]]:
    return view.read().to_pylist()


def address(column: pa.ChunkedArray, chunk: int = 0) -> int:
    return column.chunk(chunk).buffers()[-1].address


def sized(size: int, start: int = 0) -> View:
    return view_of({"n": Value("int64")}, n=list(range(start, start + size)))


@st.composite
def some_views(draw, columns="abc"):
    """Views of some of the columns, whole, sliced, scattered, or with a column added to scattered rows."""
    names = draw(st.lists(st.sampled_from(columns), min_size=1, unique=True))
    size = draw(st.integers(1, 6))
    features = {"a": Value("int64"), "b": Value("string"), "c": {"x": List(Value("int64"))}}
    made = {"a": list(range(size)), "b": list("uvwxyz")[:size], "c": [{"x": [n]} if n else None for n in range(size)]}
    view = view_of({name: features[name] for name in names}, **{name: made[name] for name in names})
    view = select(view, draw(st.lists(st.integers(0, size - 1), max_size=8) | st.just(range(size // 2, size))))
    if draw(st.booleans()) and "a" not in names:
        column = pa.chunked_array([pa.array(range(len(view)), pa.int64())])
        view = view.with_columns({"a": (column, Value("int64"))}, view.fingerprint)
    return view


@settings(max_examples=60, deadline=None)
@given(views=st.lists(some_views(), min_size=1, max_size=4), again=st.booleans())
def test_rows_under_each_other_are_lists_one_after_the_other(views, again):
    views = views + views[:1] * again
    joined = concatenate(views)
    names = dict.fromkeys(name for view in views if len(view) for name in view.features)
    expected = [{name: row.get(name) for name in names} for view in views for row in rows_of(view)]
    assert rows_of(joined) == expected
    assert not expected or list(joined.features) == list(names) == joined.table.schema.names


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 6), seeds=st.lists(st.none() | st.integers(0, 99), min_size=1, max_size=4))
def test_columns_beside_each_other_are_zipped(size, seeds):
    views = [view_of(**{f"c{index}": list(range(size)), f"d{index}": ["x"] * size}) for index in range(len(seeds))]
    views = [view if seed is None else shuffle(view, seed, None) for view, seed in zip(views, seeds, strict=True)]
    joined = concatenate(views, axis=1)
    expected = [{key: value for row in rows for key, value in row.items()} for rows in zip(*map(rows_of, views))]
    assert rows_of(joined) == expected
    assert rows_of(concatenate([joined, joined])) == expected * 2


def test_data_is_shared_and_whole_tables_are_a_range():
    one, two = sized(3), sized(4, 10)
    joined = concatenate([one, two])
    assert joined.rows == range(7)
    assert [address(joined.table.table.column("n"), chunk) for chunk in (0, 1)] == [
        address(view.table.table.column("n")) for view in (one, two)
    ]
    part = concatenate([select(one, range(1, 3)), two])
    assert (part.rows, part.column("n").to_pylist()) == (range(6), [1, 2, 10, 11, 12, 13])
    mixed = concatenate([select(one, [1, 0]), two, select(one, [2, 0])])
    assert isinstance(mixed.table, ArrowTable)
    assert mixed.table.num_rows == 7
    assert mixed.column("n").to_pylist() == [1, 0, 10, 11, 12, 13, 2, 0]


def test_parts_of_one_table_stay_in_it():
    view = sized(5)
    wide = shuffle(view, 1, None).with_columns({"m": (pa.chunked_array([[0] * 5]), Value("int64"))}, view.fingerprint)
    for source in (view, wide):
        assert concatenate([select(source, [3, 1]), source]).table is source.table
    assert isinstance(wide.table, SideBySide)
    assert concatenate([select(view, range(2)), select(view, range(2, 5))]).rows == range(5)


def test_columns_beside_each_other_copy_nothing():
    one, two = shuffle(view_of(a=[1, 2, 3]), 1, None), shuffle(view_of(b=[1, 2, 3]), 2, None)
    parts = concatenate([one, two], axis=1).table.parts
    assert [address(part.table.column(0)) for part, _ in parts] == [
        address(view.table.table.column(0)) for view in (one, two)
    ]


NULL, INT, TEXT = Value("null"), Value("int64"), Value("string")


@pytest.mark.parametrize(
    ("left", "right", "united"),
    [
        (NULL, INT, INT),
        (NULL, {"x": INT}, {"x": INT}),
        (NULL, List(INT), List(INT)),
        (List(NULL), List(INT), List(INT)),
        (List(List(NULL)), List(List(INT)), List(List(INT))),
        (LargeList(NULL), LargeList(INT), LargeList(INT)),
        (List(NULL, length=1), List(INT, length=1), List(INT, length=1)),
        ({"x": NULL, "y": INT}, {"y": INT, "x": TEXT}, {"x": TEXT, "y": INT}),
        ({"q": {"x": NULL}}, {"q": {"x": INT}}, {"q": {"x": INT}}),
        (List({"x": INT, "y": INT}), List({"y": INT, "x": INT}), List({"x": INT, "y": INT})),
        (List({"x": NULL, "y": TEXT}), List({"y": NULL, "x": INT}), List({"x": INT, "y": TEXT})),
    ],
    ids=str,
)
def test_features_that_can_be_aligned(left, right, united):
    def example(feature: Any) -> Any:
        if isinstance(feature, dict):
            return {name: example(value) for name, value in feature.items()}
        return (
            [example(feature.feature)]
            if hasattr(feature, "feature")
            else {"int64": 1, "string": "a"}.get(feature.dtype)
        )

    def completed(value: Any, feature: Any) -> Any:
        if isinstance(value, dict):
            return {name: completed(value.get(name), kind) for name, kind in feature.items()}
        return [completed(item, feature.feature) for item in value] if isinstance(value, list) else value

    for one, other in ((left, right), (right, left)):
        views = [view_of({"c": one}, c=[example(one)]), view_of({"c": other}, c=[None, example(other)])]
        for scattered in (False, True):
            views = [select(view, [len(view) - 1, 0] if scattered else range(len(view))) for view in views]
            joined = concatenate(views)
            assert joined.features["c"] == united
            assert joined.column("c").to_pylist() == [
                completed(value, united) for view in views for value in view.column("c").to_pylist()
            ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (INT, Value("int32")),
        (INT, TEXT),
        (INT, {"x": INT}),
        ({"x": INT}, {"x": TEXT}),
        (List(INT), LargeList(INT)),
        (List(INT), List(INT, length=2)),
        (List({"x": INT}), List({"x": TEXT})),
    ],
    ids=str,
)
def test_features_that_cannot_be_aligned(left, right):
    views = [view_of({"c": feature}, c=[None]) for feature in (left, right)]
    with pytest.raises(AlignmentError, match="Column 'c") as raised:
        concatenate(views)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, TypeError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_what_cannot_be_concatenated():
    with pytest.raises(ArgumentError, match="nothing"):
        concatenate([])
    with pytest.raises(ArgumentError, match="axis"):
        concatenate([sized(1)], axis=2)
    with pytest.raises(ColumnLengthError):
        concatenate([sized(1), view_of(m=[1, 2])], axis=1)
    with pytest.raises(ColumnNamesError):
        concatenate([sized(1), sized(1)], axis=1)
    with pytest.raises(FeaturesMismatchError):
        concatenate([sized(1)], info=DatasetInfo(features=Features({"other": Value("int64")})))


def test_format_info_split_and_fingerprint():
    one = replace(sized(2), format=Format("numpy"), info=DatasetInfo(description="one", license="mit"), split="train")
    two = replace(sized(3), format=Format("numpy", columns=("n",)), info=DatasetInfo(description="two", license="mit"))
    joined = concatenate([one, two])
    assert joined.format.type == "numpy"
    assert (joined.info.description, joined.info.license, joined.split) == ("one\n\ntwo", "mit", None)
    assert concatenate([one, replace(two, format=PYTHON)]).format == PYTHON
    assert concatenate([one, two], split="all", info=DatasetInfo(description="q")).split == "all"
    orders = [[one, two], [two, one], [one, one], [one]]
    assert len({str(concatenate(order).fingerprint) for order in orders}) == 4
    assert str(concatenate([one, two]).fingerprint) == str(concatenate([one, two]).fingerprint)


lengths = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(lengths=lengths, strategy=st.sampled_from(STRATEGIES), weights=st.none() | st.integers(0, 99))
def test_each_dataset_keeps_its_order_when_interleaved(lengths, strategy, weights):
    probabilities = None if weights is None else np.random.default_rng(weights).dirichlet([2.0] * len(lengths))
    taken = interleaved_rows(lengths, probabilities, 7, strategy)
    ends = np.cumsum(lengths)
    used_up = []
    for size, end in zip(lengths, ends.tolist(), strict=True):
        own = taken[(taken >= end - size) & (taken < end)] - (end - size)
        assert own.tolist() == (np.arange(len(own)) % size).tolist()
        used_up.append(len(own) >= size)
    assert any(used_up) if strategy == "first_exhausted" else all(used_up)
    if strategy == "all_exhausted_without_replacement":
        assert sorted(taken.tolist()) == list(range(sum(lengths)))


def test_empty_datasets_take_no_turn():
    views = [sized(3), sized(0), sized(2, 10)]
    assert interleave(views).column("n").to_pylist() == []
    assert interleave(views, stopping_strategy="all_exhausted").column("n").to_pylist() == [0, 10, 1, 11, 2, 10]
    once = interleave(views, [0.5, 0.3, 0.2], 1, stopping_strategy="all_exhausted_without_replacement")
    assert sorted(once.column("n").to_pylist()) == [0, 1, 2, 10, 11]
    assert len(interleave([sized(0), sized(0)])) == 0


@pytest.mark.parametrize(
    ("probabilities", "strategy"),
    [
        ([0.5], "first_exhausted"),
        ([0.5, 0.6], "first_exhausted"),
        ([-0.5, 1.5], "first_exhausted"),
        ([float("nan"), 1], "first_exhausted"),
        ([1, 0], "all_exhausted"),
        ([1, 0], "all_exhausted_without_replacement"),
    ],
)
def test_probabilities_that_do_not_fit(probabilities, strategy):
    with pytest.raises(ProbabilitiesError):
        interleave([sized(3), sized(4)], probabilities, 1, stopping_strategy=strategy)


def test_what_cannot_be_interleaved():
    with pytest.raises(ArgumentError, match="nothing"):
        interleave([])
    with pytest.raises(ArgumentError, match="first_exhausted, all_exhausted"):
        interleave([sized(1)], stopping_strategy="never")
    with pytest.raises(ProbabilitiesError, match="have no row"):
        interleave([sized(1), sized(0)], [0.5, 0.5])
