"""Aggregations equal the same computation on Python lists."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import Dataset
from crucible_datasets.exceptions import (
    AggregationError,
    ArgumentError,
    ArgumentTypeError,
    ColumnNamesError,
    ColumnNotFoundError,
    UnknownEntryError,
)
from crucible_datasets.features import ClassLabel, Features, Json, List, Value
from crucible_datasets.ops import groups as module
from crucible_datasets.ops.groups import FUNCTIONS, aggregate, groups, parse_aggregations
from crucible_datasets.ops.rows import shuffle
from crucible_datasets.tables.view import View


def view_of(features: dict[str, Any] | None = None, **columns: Any) -> View:
    table = pa.table(columns, schema=Features(features).arrow_schema if features else None)
    return View.of(table, Features.from_arrow_schema(table.schema))


def present(values):
    return [value for value in values if value is not None]


def of_present(function, at_least=1):
    return lambda values: function(present(values)) if len(present(values)) >= at_least else None


NAIVE = {
    "count": lambda values: len(present(values)),
    "size": len,
    "n_unique": lambda values: len(set(present(values))),
    "count_distinct": lambda values: len(set(present(values))),
    "sum": of_present(sum),
    "mean": of_present(statistics.fmean),
    "min": of_present(min),
    "max": of_present(max),
    "std": of_present(statistics.stdev, 2),
    "var": of_present(statistics.variance, 2),
    "median": of_present(statistics.median),
    "mode": of_present(lambda values: Counter(values).most_common(1)[0][0]),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "list": list,
    "any": of_present(any),
    "all": of_present(all),
    "product": of_present(math.prod),
}

rows = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([1, 2]), st.none() | st.integers(-5, 5)), max_size=30
)


def test_every_function_has_a_naive_counterpart():
    assert set(NAIVE) == set(FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=30, deadline=None)
@given(rows=rows, seed=st.none() | st.integers(0, 99), keys=st.sampled_from([["a"], ["a", "b"], ["b", "a"]]))
def test_aggregation_equals_a_dict_of_lists(function, rows, seed, keys):
    features = {"a": Value("string"), "b": Value("int64"), "n": Value("int64")}
    view = view_of(features, a=[a for a, _, _ in rows], b=[b for _, b, _ in rows], n=[n for _, _, n in rows])
    view = view if seed is None else shuffle(view, seed, None)
    expected: dict[Any, list[Any]] = {}
    for row in view.read().to_pylist():
        expected.setdefault(tuple(row[key] for key in keys), []).append(row["n"])
    made = aggregate(view, keys, [("new", "n", function)])
    found = made.read().to_pylist()
    assert [tuple(row[key] for key in keys) for row in found] == list(expected)
    for row, values in zip(found, expected.values(), strict=True):
        assert row["new"] == (
            pytest.approx(NAIVE[function](values)) if function in ("std", "var", "mean") else NAIVE[function](values)
        )
    assert pa.schema(list(made.features.type)) == made.table.schema


def test_groups_are_views_in_order_of_first_appearance():
    view = shuffle(view_of(key=["b", "a", None, "b", None], n=list(range(5))), 1, None)
    expected: dict[Any, list[int]] = {}
    for row in view.read().to_pylist():
        expected.setdefault((row["key"],), []).append(row["n"])
    found = list(groups(view, "key"))
    assert {key: part.column("n").to_pylist() for key, part in found} == expected
    assert [key for key, _ in found] == list(expected)
    assert all(part.table is view.table for _, part in found)
    assert len({str(part.fingerprint) for _, part in found}) == 3


def test_features_of_the_result():
    label = ClassLabel(names=["no", "yes"])
    view = view_of(
        {"label": label, "n": Value("float32"), "tags": List(Value("string"))},
        label=[1, 0, 1],
        n=[1, 2, 3],
        tags=[["q"], [], None],
    )
    made = aggregate(
        view,
        ["label"],
        [
            ("m", "n", "mean"),
            ("top", "n", "max"),
            ("l", "label", "mode"),
            ("all", "tags", "list"),
            ("any", "tags", "first"),
        ],
    )
    assert made.features == {
        "label": label,
        "m": Value("float64"),
        "top": Value("float32"),
        "l": label,
        "all": List(List(Value("string"))),
        "any": List(Value("string")),
    }
    assert made.read().to_pydict()["all"] == [[["q"], None], [[]]]
    assert made.column("any").to_pylist() == [["q"], []]


@pytest.mark.parametrize("function", ["count", "size", "n_unique", "first", "last", "list", "mode"])
def test_nested_values_and_nested_keys(function):
    values = [{"q": [1]}, {"q": [2]}, {"q": [2]}, None]
    made = aggregate(view_of(key=[[1], [2], [2], [2]], v=values), ["key"], [("new", "v", function)])
    expected = {
        "count": [1, 2], "size": [1, 3], "n_unique": [1, 1], "first": values[:2], "last": [values[0], None],
        "list": [values[:1], values[1:]], "mode": values[:2],
    }  # fmt: skip
    assert made.column("new").to_pylist() == expected[function]
    assert made.column("key").to_pylist() == [[1], [2]]


def test_truth_values_count_as_numbers():
    view = view_of(key=[1, 1, 2], right=[True, False, None], n=[0, 3, 0])
    made = aggregate(
        view, "key", [("s", "right", "sum"), ("m", "right", "mean"), ("a", "n", "any"), ("sd", "right", "std")]
    )
    assert made.read().to_pydict() == {
        "key": [1, 2], "s": [1, None], "m": [0.5, None], "a": [True, False], "sd": [pytest.approx(0.5**0.5), None],
    }  # fmt: skip


def test_many_groups_stay_in_order():
    keys = np.random.default_rng(0).integers(0, 50_000, 200_000)
    made = aggregate(view_of(key=keys, n=np.arange(200_000)), ["key"], [("n", "n", "min"), ("c", "n", "count")])
    _, firsts = np.unique(keys, return_index=True)
    assert made.column("n").to_pylist() == sorted(firsts.tolist())
    assert sum(made.column("c").to_pylist()) == 200_000


def test_lists_are_cut_into_chunks_that_fit(monkeypatch):
    view = view_of(key=[1, 2, 1, 3, 3, 3], text=list("abcdef"))
    monkeypatch.setattr(module, "LIST_BYTES", 12)
    made = aggregate(view, ["key"], [("all", "text", "list")])
    assert made.column("all").num_chunks > 1
    assert made.column("all").to_pylist() == [["a", "c"], ["b"], ["d", "e", "f"]]


def test_medians_of_nan_and_infinity():
    view = view_of(key=[1, 1, 2, 2], n=[1.0, math.nan, math.inf, math.inf])
    one, two = aggregate(view, "key", [("m", "n", "median")]).column("m").to_pylist()
    assert math.isnan(one)
    assert two == math.inf


def test_ways_to_say_what_to_compute():
    view = view_of(key=[1], score=[2])
    assert parse_aggregations({"score": "mean"}, {}, view) == [("score_mean", "score", "mean")]
    assert parse_aggregations({"score": ["mean", "max"]}, {"best": ("score", "max")}, view) == [
        ("score_mean", "score", "mean"),
        ("score_max", "score", "max"),
        ("best", "score", "max"),
    ]


def test_what_cannot_be_computed():
    view = view_of(key=[1], score=[2], text=["a"])
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'score'"):
        parse_aggregations({"scores": "mean"}, {}, view)
    with pytest.raises(UnknownEntryError, match="Did you mean 'median'"):
        parse_aggregations({}, {"m": ("score", "medium")}, view)
    with pytest.raises(ArgumentError, match="a column and a function"):
        parse_aggregations(None, {"m": "score"}, view)
    with pytest.raises(ArgumentError, match="at least one"):
        parse_aggregations(None, {}, view)
    for function in ("mean", "median", "all"):
        with pytest.raises(AggregationError, match=f"'{function}' cannot be computed of column 'text'"):
            aggregate(view, ["key"], [("m", "text", function)])
    for column, most in (("text", ["min", "max"]), ("lists", [])):
        with pytest.raises(AggregationError) as error:
            aggregate(view_of(key=[1], text=["a"], lists=[[1]]), ["key"], [("m", column, "mean")])
        always = {"count", "size", "n_unique", "count_distinct", "mode", "first", "last", "list"}
        assert set(error.value.available) == always.union(most)
    with pytest.raises(ColumnNamesError, match="^Column name 'key': "):
        aggregate(view, ["key"], [("key", "score", "max")])
    with pytest.raises(ColumnNotFoundError):
        list(groups(view, ["nothing"]))
    with pytest.raises(ArgumentError):
        aggregate(view, [], [("m", "score", "max")])


@pytest.mark.parametrize(
    ("function", "values"),
    [("sum", [2**63 - 1, 1]), ("sum", [-(2**63), -1]), ("product", [2**40, 2**40]), ("product", [3] * 50)],
)
def test_a_total_of_more_than_64_bits_is_refused(function, values):
    rows = Dataset.from_dict({"k": ["a"] * len(values) + ["b"], "v": [*values, 1]})
    with pytest.raises(ArgumentError, match="more than 64 bits"):
        rows.group_by("k").agg({"v": function})
    exact = rows.cast_column("v", Value("decimal128(38, 0)")).group_by("k").agg({"v": function})
    assert exact[f"v_{function}"][0] == (sum(values) if function == "sum" else math.prod(values))


def test_totals_of_64_bits_are_exact_whatever_stands_between():
    rows = Dataset.from_dict({"k": ["a"] * 4, "v": [2**63 - 1, 2**62, -(2**62), -5]})
    assert rows.group_by("k").agg({"v": "sum"})["v_sum"][:] == [2**63 - 6]
    unsigned = Dataset.from_dict({"k": ["a"] * 2, "v": [2**63, 2**63 - 1]}).group_by("k").agg({"v": "sum"})
    assert unsigned["v_sum"][:] == [2**64 - 1]


def test_json_has_no_order():
    rows = Dataset.from_dict({"k": ["a", "a"], "v": [9, 10]}, features=Features(k=Value("string"), v=Json()))
    for function in ("min", "max"):
        with pytest.raises(AggregationError):
            rows.group_by("k").agg({"v": function})
    with pytest.raises(ArgumentTypeError, match="no order"):
        rows.sort("v")
    with pytest.raises(ArgumentTypeError, match="no order"):
        Dataset.from_dict({"v": [[2], [1]]}).sort("v")


def test_flatten_never_writes_one_column_over_another():
    rows = Dataset.from_list([{"a": {"b": 1}, "a.b": 2}])
    with pytest.raises(ColumnNamesError, match="'a.b'"):
        rows.flatten()
    assert rows.rename_column("a.b", "c").flatten().to_list() == [{"a.b": 1, "c": 2}]
