"""Splits, folds and samples are partitions of the rows; stratified ones keep proportions exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, SplitSizeError, StratificationError
from crucible_datasets.features import Features
from crucible_datasets.ops.folds import k_fold
from crucible_datasets.ops.rows import shuffle
from crucible_datasets.ops.splitting import sample, train_test_split
from crucible_datasets.tables.view import View

labels = st.lists(st.sampled_from("abcd"), min_size=2, max_size=60)
seeds = st.integers(0, 2**32)


def view_of(**columns: Any) -> View:
    table = pa.table(columns)
    return View.of(table, Features.from_arrow_schema(table.schema))


def numbered(values: list[Any]) -> View:
    return view_of(row=list(range(len(values))), label=values)


def rows_of(view: View) -> list[int]:
    return view.column("row").to_pylist()


@settings(max_examples=60, deadline=None)
@given(size=st.integers(2, 60), fraction=st.floats(0.02, 0.98), seed=seeds, shuffled=st.booleans())
def test_train_and_test_share_no_row_and_miss_none(size, fraction, seed, shuffled):
    view = numbered([0] * size)
    try:
        train, test = train_test_split(view, test_size=fraction, seed=seed, shuffle=shuffled)
    except SplitSizeError:
        assert np.ceil(fraction * size) == size
        return
    assert sorted(rows_of(train) + rows_of(test)) == list(range(size))
    assert len(test) == np.ceil(fraction * size)


@pytest.mark.parametrize(
    "values",
    [
        ["x", "y"] * 20,
        [1, 2] * 20,
        [0.5, None] * 20,
        [True, False] * 20,
        [b"x", b"y"] * 20,
        [{"q": [{"r": 2}]}, {"q": []}] * 20,
        [[1], None] * 20,
        [float("nan"), 1.0] * 20,
        [0.0, 1.0, -0.0, 1.0] * 10,
    ],
    ids=lambda values: str(values[:2]),
)
def test_any_column_stratifies(values):
    train, test = train_test_split(numbered(values), test_size=0.25, stratify_by_column="label", seed=1)
    kinds = Counter(row % 2 for row in rows_of(test))
    assert kinds == {0: 5, 1: 5}
    assert sorted(rows_of(train) + rows_of(test)) == list(range(40))


def test_equal_values_are_one_class_however_they_are_chunked():
    values = pa.chunked_array([["a", "b"], [], ["b", "a"], ["a"] * 8 + ["b"] * 8])
    view = view_of(row=list(range(20)), label=values)
    whole = view_of(row=list(range(20)), label=values.combine_chunks())
    for mine, other in zip(
        train_test_split(view, stratify_by_column="label", seed=3),
        train_test_split(whole, stratify_by_column="label", seed=3),
        strict=True,
    ):
        assert rows_of(mine) == rows_of(other)


@pytest.mark.parametrize(
    "sizes",
    [
        {"test_size": 0},
        {"test_size": 10},
        {"test_size": -1},
        {"test_size": 1.0},
        {"test_size": float("nan")},
        {"test_size": "3"},
        {"train_size": [3]},
        {"test_size": 0.7, "train_size": 0.7},
        {"test_size": 7, "train_size": 7},
        {"test_size": 0.99},
        {"train_size": 0.01},
    ],
    ids=str,
)
def test_sizes_that_no_rows_can_meet(sizes):
    with pytest.raises(SplitSizeError, match="Cannot split 10 rows"):
        train_test_split(numbered([0] * 10), **sizes)


def test_splits_that_cannot_be_stratified():
    with pytest.raises(StratificationError, match="shuffle=False"):
        train_test_split(numbered(["a"] * 8), shuffle=False, stratify_by_column="label")
    with pytest.raises(StratificationError, match="only one row"):
        train_test_split(numbered(["a"] * 7 + ["b"]), stratify_by_column="label")
    with pytest.raises(StratificationError, match="test has 1 rows for 2"):
        train_test_split(numbered(["a", "b"] * 4), test_size=1, stratify_by_column="label")
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'label'"):
        train_test_split(numbered(["a"] * 8), stratify_by_column="lable")


def test_no_rows_split_into_no_rows():
    assert [len(part) for part in train_test_split(numbered([]), test_size=3)] == [0, 0]


def test_a_split_copies_nothing_and_takes_fingerprints():
    view = numbered([0] * 10)
    train, test = train_test_split(view, seed=1, train_fingerprint="abc", test_fingerprint="def")
    assert train.table is test.table is view.table
    assert (str(train.fingerprint), str(test.fingerprint)) == ("abc", "def")
    train, test = train_test_split(view, shuffle=False)
    assert (train.rows, test.rows) == (range(7), range(7, 10))


@settings(max_examples=60, deadline=None)
@given(values=labels, k=st.integers(2, 7), seed=seeds, shuffled=st.booleans(), how=st.sampled_from("psgb"))
def test_every_row_is_in_exactly_one_test_fold(values, k, seed, shuffled, how):
    view = numbered(values)
    by = {"stratify_by_column": "label" if how in "sb" else None, "group_by_column": "label" if how in "gb" else None}
    available = len(set(values)) if how in "gb" else len(values)
    if k > available:
        with pytest.raises(ArgumentError, match="only"):
            k_fold(view, k, shuffled, seed, **by)
        return
    folds = k_fold(view, k, shuffled, seed, **by)
    assert len(folds) == k
    assert all(len(test) for _, test in folds)
    assert sorted(row for _, test in folds for row in rows_of(test)) == list(range(len(values)))
    for train, test in folds:
        assert sorted(rows_of(train) + rows_of(test)) == list(range(len(values)))
    again = k_fold(view, k, shuffled, seed, **by)
    assert [rows_of(test) for _, test in folds] == [rows_of(test) for _, test in again]
    if how in "gb":
        homes = {(values[row], fold) for fold, (_, test) in enumerate(folds) for row in rows_of(test)}
        assert len(homes) == len(set(values))


@settings(max_examples=60, deadline=None)
@given(values=labels, k=st.integers(2, 7), seed=seeds)
def test_stratified_folds_differ_by_one_row_at_most(values, k, seed):
    if k > len(values):
        return
    for column in (None, "label"):
        tests = [rows_of(test) for _, test in k_fold(numbered(values), k, seed=seed, stratify_by_column=column)]
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1
        for value in set(values) if column else ():
            counts = [sum(values[row] == value for row in test) for test in tests]
            assert max(counts) - min(counts) <= 1


def test_largest_groups_go_first_to_the_smallest_fold():
    values = ["d"] * 3 + ["a"] * 6 + ["c"] * 4 + ["b"] * 5
    for column in (None, "label"):
        folds = k_fold(numbered(values), 2, group_by_column="label", stratify_by_column=column)
        assert [len(test) for _, test in folds] == [9, 9], column


def test_grouped_folds_are_stratified_as_far_as_groups_allow():
    view = view_of(
        row=list(range(600)), group=[row // 5 for row in range(600)], label=[(row // 5) % 3 == 0 for row in range(600)]
    )
    for _, test in k_fold(view, 4, seed=1, stratify_by_column="label", group_by_column="group"):
        assert (len(test), sum(test.column("label").to_pylist())) == (150, 50)


def test_folds_without_shuffle_keep_the_order():
    folds = k_fold(numbered([0] * 7), 3, shuffle=False)
    assert [rows_of(test) for _, test in folds] == [[0, 1, 2], [3, 4], [5, 6]]
    assert rows_of(folds[1][0]) == [0, 1, 2, 5, 6]


@pytest.mark.parametrize(("k", "reason"), [(1, "at least 2"), (11, "only 10 rows")])
def test_folds_that_the_rows_cannot_fill(k, reason):
    with pytest.raises(ArgumentError, match=reason):
        k_fold(numbered([0] * 10), k)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(0, 50), data=st.data(), seed=seeds)
def test_a_sample_is_the_head_of_a_shuffle(size, data, seed):
    view = numbered([0] * size)
    n = data.draw(st.integers(0, size))
    assert rows_of(sample(view, n, seed=seed)) == rows_of(shuffle(view, seed, None))[:n]


@settings(max_examples=60, deadline=None)
@given(values=labels, data=st.data(), seed=seeds, again=st.booleans())
def test_a_stratified_sample_keeps_proportions_exactly(values, data, seed, again):
    n = data.draw(st.integers(0, len(values) * (1 + again)))
    rows = rows_of(sample(numbered(values), n, seed=seed, stratify_by_column="label", replace=again))
    assert len(rows) == n
    assert again or len(set(rows)) == n
    taken, claims = Counter(values[row] for row in rows), Counter(values)
    remainders = {}
    for value, count in claims.items():
        claim = Fraction(count * n, len(values))
        assert int(claim) <= taken[value] <= int(claim) + (claim.denominator > 1)
        remainders[value] = (-(claim % 1), value)
    extra = sorted(value for value, count in claims.items() if taken[value] > count * n // len(values))
    assert extra == sorted(sorted(remainders, key=remainders.__getitem__)[: len(extra)])


def test_sizes_of_samples():
    view = numbered([0] * 10)
    assert len(sample(view, 0.25, seed=0)) == 2
    assert len(sample(view, 1.0, seed=0)) == 10
    assert len(sample(view, 25, seed=0, replace=True)) == 25
    with pytest.raises(ArgumentError, match="10 rows; replace=True"):
        sample(view, 11)
    with pytest.raises(ArgumentError, match="0 rows"):
        sample(numbered([]), 1, replace=True)
    for nonsense in (-1, "3", float("nan"), True):
        with pytest.raises(ArgumentError, match="number of rows"):
            sample(view, nonsense)
