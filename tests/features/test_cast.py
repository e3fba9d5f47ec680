"""Casts at the edges: slices, hidden values, fixed lengths, shapes, text that may be JSON."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from crucible_datasets import Dataset
from crucible_datasets.exceptions import CastError, ShapeError, ValueTypeError
from crucible_datasets.features import Array2D, ClassLabel, Features, Json, LargeList, List, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of


def column(*chunks: pa.Array) -> pa.ChunkedArray:
    return pa.chunked_array(list(chunks))


def test_values_outside_the_slice_are_not_cast() -> None:
    lists = pa.array([["x"], ["1", "2"], None, ["3"]]).slice(1)
    assert cast_column(column(lists), List(Value("int64"))).to_pylist() == [[1, 2], None, [3]]


def test_json_becomes_lists_and_structs_again() -> None:
    chat = List({"role": Value("string")})
    mixed = Dataset.from_dict({"m": [[{"role": "user"}], "broken", None]}, on_mixed_types="use_json")
    whole = mixed.select([0, 2])
    for typed in (whole.cast_column("m", chat), whole.map(lambda row: row, features=Features({"m": chat}))):
        assert typed.features["m"] == chat and typed["m"][:] == [[{"role": "user"}], None]
    assert [row["m"] for row in whole.to_iterable_dataset().cast_column("m", chat)] == [[{"role": "user"}], None]
    with pytest.raises(ValueTypeError, match="'m', row 1: 'broken'"):
        mixed.cast_column("m", chat)


def test_values_under_null_structs_are_not_cast() -> None:
    structs = pa.StructArray.from_arrays([pa.array(["1", "x"])], ["a"], mask=pa.array([False, True]))
    assert cast_column(column(structs), {"a": Value("int64")}).to_pylist() == [{"a": 1}, None]


@pytest.mark.parametrize("target", [List(Value("int8")), LargeList(Value("int8")), List(Value("int8"), 2)])
@pytest.mark.parametrize("source", [pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 2)])
@pytest.mark.parametrize("start", [0, 1])
def test_every_kind_of_list_becomes_every_other(source: Any, target: Any, start: int) -> None:
    values = [[1, 2], None, [None, 4], [5, 6]]
    cast = cast_column(column(pa.array(values, source).slice(start)), target)
    cast.validate(full=True)
    assert cast.to_pylist() == values[start:]


def test_lists_of_another_length_are_refused() -> None:
    with pytest.raises(CastError, match="'c'"):
        cast_column(column(pa.array([[1, 2], [3]])), List(Value("int64"), 2), "c")


def test_shapes_are_checked() -> None:
    matrices = column(pa.array([[[1, 2], [3, 4]], None]))
    assert cast_column(matrices, Array2D((2, 2), "int8")).to_pylist() == [[[1, 2], [3, 4]], None]
    with pytest.raises(ShapeError):
        cast_column(matrices, Array2D((2, 3), "int8"))


def test_shapes_are_checked_at_any_depth() -> None:
    with pytest.raises(ValueTypeError):
        column_of([{"a": [[[1, 2, 3]]]}], {"a": List(Array2D((1, 2), "int8"))})


def test_fields_are_matched_by_name_and_never_lost() -> None:
    rows = column(pa.array([{"a": 1, "b": "x"}]))
    assert cast_column(rows, {"b": Value("string"), "c": Value("int8"), "a": Value("int8")}).to_pylist() == [
        {"b": "x", "c": None, "a": 1}
    ]
    with pytest.raises(CastError, match="lost"):
        cast_column(rows, {"a": Value("int8")})


def test_text_is_parsed_when_it_is_cast_to_json() -> None:
    assert cast_column(column(pa.array(["1"]), pa.array(["[2]"])), Json()).to_pylist() == ["1", "[2]"]
    with pytest.raises(CastError, match="row 1 is no JSON: x"):
        cast_column(column(pa.array(["1"]), pa.array(["x"])), Json())


def test_labels_are_looked_up_and_checked() -> None:
    label = ClassLabel(names=["no", "yes"])
    assert cast_column(column(pa.array(["yes", None, "0"])), label).to_pylist() == [1, None, 0]
    assert cast_column(column(pa.array([1, -1], pa.int8())), label).to_pylist() == [1, -1]
    with pytest.raises(CastError, match="column 'answer', row 0, from int64 .*: 2 is no label: expected -1 to 1"):
        cast_column(column(pa.array([2])), label, "answer")


def test_an_empty_column_casts_to_anything() -> None:
    empty = pa.chunked_array([], pa.null())
    for feature in (Value("int8"), List(Value("int8"), 2), Json(), ClassLabel(2), Array2D((2, 2), "int8"), {}):
        assert len(cast_column(empty, feature)) == 0


@pytest.mark.parametrize(
    ("rows", "before", "after"),
    [
        ([[{"x": 1}], [], None], List(Json()), List({"x": Value("int64")})),
        ([[{"x": 1}], [{"é": "1"}], None], List(Json()), Json()),
        ([{"b": {"x": 1}}, {"b": "text"}], {"b": Json()}, Json()),
        ([{"b": {"x": 1}}, None], {"b": Json(decode=False)}, {"b": {"x": Value("int64")}}),
        ([[{"b": [1, 2]}]], List({"b": Json()}), List({"b": List(Value("int8"))})),
    ],
)
def test_json_within_lists_and_structs_casts_as_its_values(rows, before, after):
    dataset = Dataset.from_dict({"a": rows}, features=Features({"a": before}))
    assert dataset.cast_column("a", after)["a"][:] == rows
