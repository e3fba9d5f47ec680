"""A join equals two nested loops over lists."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import Dataset
from crucible_datasets.exceptions import ArgumentError, CastError, ColumnNamesError, ColumnNotFoundError
from crucible_datasets.features import ClassLabel, Features, List, Value
from crucible_datasets.ops.join import HOWS, join
from crucible_datasets.ops.rows import shuffle
from crucible_datasets.tables.table import SideBySide
from crucible_datasets.tables.view import View


def view_of(features: dict[str, Any] | None = None, **columns: Any) -> View:
    table = pa.table(columns, schema=Features(features).arrow_schema if features else None)
    return View.of(table, Features.from_arrow_schema(table.schema))


def rows_of(view: View) -> list[dict[str, Any]]:
    return view.read().to_pylist()


keys = st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from([1, 2, None])), max_size=12)
ROW = {"k": Value("string"), "m": Value("int64")}


def side(pairs, payload, feature):
    values = {"k": [k for k, _ in pairs], "m": [m for _, m in pairs]}
    return view_of({**ROW, "n": Value("int64"), payload: feature}, n=list(range(len(pairs))), **values, **{
        payload: [None if index % 4 == 3 else [{"x": index}] for index in range(len(pairs))]
    })  # fmt: skip


def naive(left, right, on, how):
    """Join lists of dicts; columns of `right` that clash get a suffix."""

    def shown(one, other):
        row = dict.fromkeys(["k", "m", "n", "p"]) if one is None else dict(one)
        for key in on if one is None else ():
            row[key] = other[key]
        for name in [*ROW, "n", "q"]:
            if name not in on:
                row[name if name == "q" else f"{name}_right"] = None if other is None else other[name]
        return row

    def same(one, other):
        return all(one[key] is not None and one[key] == other[key] for key in on)

    if how in ("semi", "anti"):
        return [row for row in left if any(same(row, other) for other in right) == (how == "semi")]
    if how == "right":
        return [shown(one, other) for other in right for one in ([row for row in left if same(row, other)] or [None])]
    rows = []
    for one in left:
        found = [shown(one, other) for other in right if same(one, other)]
        rows += found or ([] if how == "inner" else [shown(one, None)])
    if how == "outer":
        rows += [shown(None, other) for other in right if not any(same(one, other) for one in left)]
    return rows


@pytest.mark.parametrize("how", HOWS)
@settings(max_examples=50, deadline=None)
@given(left=keys, right=keys, on=st.sampled_from([["k"], ["m"], ["k", "m"]]), seed=st.none() | st.integers(0, 99))
def test_a_join_is_two_nested_loops(how, left, right, on, seed):
    nested = List({"x": Value("int64")})
    one, other = side(left, "p", nested), side(right, "q", nested)
    if seed is not None:
        one, other = shuffle(one, seed, None), shuffle(other, seed + 1, None)
    joined = join(one, other, on, how=how)
    assert rows_of(joined) == naive(rows_of(one), rows_of(other), on, how)
    assert list(joined.features) == list(joined.table.schema.names)
    assert pa.schema(list(joined.features.type)) == joined.table.schema
    assert joined.features["p"] == nested


def test_nothing_is_copied():
    left = shuffle(view_of(id=[1, 2, 3], text=["a", "b", "c"]), 1, None)
    right = view_of(id=[3, 1, 2], answer=["C", "A", "B"])
    joined = join(left, right, "id")
    assert isinstance(joined.table, SideBySide)
    mine, other = (table.table for table, _ in joined.table.parts)
    assert (
        mine.column("text").chunk(0).buffers()[2].address
        == left.table.table.column("text").chunk(0).buffers()[2].address
    )
    assert (
        other.column("answer").chunk(0).buffers()[2].address
        == right.table.table.column("answer").chunk(0).buffers()[2].address
    )
    assert join(left, right, "id", how="semi").table is left.table


def test_keys_of_other_names_appear_once_under_the_left_name():
    left, right = view_of(id=[1, 2], x=["a", "b"]), view_of(key=[2, 3], y=["c", "d"])
    assert rows_of(join(left, right, "id", right_on="key", how="outer")) == [
        {"id": 1, "x": "a", "y": None},
        {"id": 2, "x": "b", "y": "c"},
        {"id": 3, "x": None, "y": "d"},
    ]
    assert list(join(left, right, ["id"], right_on=["key"]).features) == ["id", "x", "y"]


def test_joins_can_be_joined():
    first, second, third = (
        view_of(id=[1, 2], a=[1, 2]),
        view_of(id=[2, 3], b=[3, 4]),
        view_of(id=[3, 2, 1], c=[5, 6, 7]),
    )
    assert rows_of(join(join(first, second, "id", how="outer"), third, "id", how="left")) == [
        {"id": 1, "a": 1, "b": None, "c": 7},
        {"id": 2, "a": 2, "b": 3, "c": 6},
        {"id": 3, "a": None, "b": 4, "c": 5},
    ]


def test_labels_meet_by_name():
    mine, other = ClassLabel(names=["no", "yes"]), ClassLabel(names=["yes", "maybe"])
    left = view_of({"label": mine, "n": Value("int64")}, label=[0, 1, -1], n=[0, 1, 2])
    right = view_of({"label": other, "m": Value("int64")}, label=[0, 1, -1], m=[0, 1, 2])
    assert rows_of(join(left, right, "label")) == [{"label": 1, "n": 1, "m": 0}]
    assert join(left, right, "label").features["label"] == mine
    outer = join(left, right, "label", how="outer")
    assert outer.features["label"] == Value("string")
    assert outer.column("label").to_pylist() == ["no", "yes", None, "maybe", None]
    names = view_of(name=["yes"], m=[9])
    assert rows_of(join(left, names, "label", right_on="name", how="semi")) == [{"label": 1, "n": 1}]
    assert rows_of(join(left, view_of(label=[1], m=[9]), "label")) == [{"label": 1, "n": 1, "m": 9}]
    assert join(left, left, "label", how="right").features["label"] == mine


def test_numbers_of_different_width_are_equal():
    left, right = view_of(k=pa.array([1, 2], pa.int32())), view_of(k=[2.0, 3.0])
    assert join(left, right, "k").column("k").to_pylist() == [2]
    outer = join(left, right, "k", how="outer")
    assert outer.column("k").to_pylist() == [1.0, 2.0, 3.0]
    assert outer.features["k"] == Value("float64")


def test_nested_keys():
    left, right = view_of(k=[{"a": [1]}, {"a": []}, None]), view_of(k=[{"a": []}, None], n=[1, 2])
    assert rows_of(join(left, right, "k")) == [{"k": {"a": []}, "n": 1}]


def test_what_cannot_be_joined():
    left, right = view_of(id=[1], x=[1], x_right=[1]), view_of(id=[1], x=[1], name=["a"])
    with pytest.raises(ColumnNamesError, match="twice"):
        join(left, right, "id")
    assert list(join(left, right, "id", suffix="_2").features) == ["id", "x", "x_right", "x_2", "name"]
    with pytest.raises(ArgumentError, match="inner, left"):
        join(left, right, "id", how="cross")
    with pytest.raises(ArgumentError, match="as many columns"):
        join(left, right, "id", right_on=["id", "x"])
    with pytest.raises(ArgumentError, match="at least one"):
        join(left, right, [])
    with pytest.raises(ColumnNotFoundError):
        join(left, right, "name")
    with pytest.raises(ColumnNotFoundError):
        join(left, right, "x_right")
    with pytest.raises(CastError, match="no type holds"):
        join(left, right, "id", right_on="name")


@pytest.mark.parametrize(
    ("left", "right", "pairs"),
    [
        ([{"a": 1}, {"b": 1}, None], [{"a": 2}, {"a": 1.0}, None], [(0, 1)]),
        (["x", 1, "1", {"a": 1}], ["1", "x"], [(0, 1), (2, 0)]),
        ([1, "1", None], [1, None], [(0, 0)]),
        ([[{"a": 1}], [{"b": 1}]], [[{"b": 1}], []], [(1, 0)]),
    ],
)
def test_values_of_json_meet_equal_values_of_other_types(left, right, pairs):
    first = Dataset.from_list([{"k": key, "n": n} for n, key in enumerate(left)], on_mixed_types="use_json")
    second = Dataset.from_list([{"k": key, "w": w} for w, key in enumerate(right)])
    joined = first.join(second, on="k")
    assert list(zip(joined["n"], joined["w"], strict=True)) == pairs
    joined = second.join(first, on="k")
    assert sorted(zip(joined["n"], joined["w"], strict=True)) == pairs
    assert set(first.join(second, on="k", how="anti")["n"]) == {*range(len(left))} - {n for n, _ in pairs}
