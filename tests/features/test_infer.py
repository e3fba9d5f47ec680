"""What values turn out to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets.exceptions import MixedTypesError, ValueTypeError
from crucible_datasets.features import Array2D, ClassLabel, Image, Json, List, Value, tensors
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column


def test_the_last_row_counts_as_much_as_the_first() -> None:
    column, feature = infer_column([{"a": None}] * 100_000 + [{"a": [1.5]}])
    assert feature == {"a": List(Value("float64"))}
    assert column[0].as_py() == {"a": None} and column[-1].as_py() == {"a": [1.5]}
    column, feature = infer_column([{"a": None}] * 100_000 + [{"a": [1.5], "b": "x"}])
    assert feature == Json()
    assert column[0].as_py() == '{"a":null}' and column[-1].as_py() == '{"a":[1.5],"b":"x"}'


def test_a_row_that_does_not_fit_is_named() -> None:
    with pytest.raises(MixedTypesError) as caught:
        infer_column([1] * 1000 + ["x", 2, 3], "score")
    assert (caught.value.column, caught.value.row) == ("score", 1000)
    assert "'x'" in str(caught.value) and "int64" in str(caught.value)


def test_a_value_that_no_type_holds_is_named() -> None:
    with pytest.raises(ValueTypeError) as caught:
        infer_column([1, object()], "c")
    assert (caught.value.column, caught.value.row) == ("c", 1)
    with pytest.raises(OverflowError):
        infer_column([2**64])


def test_a_value_that_the_feature_refuses_is_named() -> None:
    with pytest.raises(ValueTypeError) as caught:
        column_of(["1", "2", "x"], Value("int64"), "n")
    assert (caught.value.column, caught.value.row) == ("n", 2)


class Node:
    def __init__(self) -> None:
        self.children, self.parent = [1], self


class Lazy:
    size = 1

    @property
    def content(self) -> str:
        raise RuntimeError("not loaded")


def test_an_object_that_holds_itself_is_named() -> None:
    for store in (
        lambda values: infer_column(values, "c", "use_json"),
        lambda values: column_of(values, Json(), "c"),
    ):
        with pytest.raises(ValueTypeError) as caught:
            store([{"a": 1}, Node()])
        assert (caught.value.column, caught.value.row) == ("c", 1)


def test_an_attribute_that_cannot_be_had_is_left_out() -> None:
    assert infer_column([Lazy()], "c", "use_json")[0].to_pylist() == [{"size": 1}]
    assert column_of([Lazy()], Json(), "c").to_pylist() == ['{"size":1}']


def test_json_only_where_kinds_differ() -> None:
    rows = [{"id": 1, "answer": 2}, {"id": 2, "answer": "2"}]
    column, feature = infer_column(rows, on_mixed_types="use_json")
    assert feature == {"id": Value("int64"), "answer": Json()}
    assert column.to_pylist() == [{"id": 1, "answer": "2"}, {"id": 2, "answer": '"2"'}]


@pytest.mark.parametrize("on_mixed_types", [None, "use_json"])
def test_dicts_whose_keys_differ_are_json(on_mixed_types: str | None) -> None:
    column, feature = infer_column([{"a": 1}, {"b": 2}, {}], on_mixed_types=on_mixed_types)
    assert feature == Json()
    assert column.to_pylist() == ['{"a":1}', '{"b":2}', "{}"]


@pytest.mark.parametrize("framework", ["numpy", "torch", "jax.numpy"])
def test_tensors_of_any_framework_keep_their_dtype(framework: str) -> None:
    library: Any = pytest.importorskip(framework)
    make = library.tensor if framework == "torch" else library.array
    matrix = make([[1, 2], [3, 4]], dtype=library.int16)
    for values, kind in (
        (matrix, List(Value("int16"))),
        ([matrix, None], List(List(Value("int16")))),
        ([matrix[0], matrix[1][:1]], List(Value("int16"))),
        ([{"a": matrix}], {"a": List(List(Value("int16")))}),
    ):
        column, feature = infer_column(values)
        assert feature == kind
        column.validate(full=True)
    assert column_of([matrix, None], Array2D((2, 2), "int8")).to_pylist() == [[[1, 2], [3, 4]], None]


def test_matrices_of_different_widths_are_ragged_lists() -> None:
    column, _ = infer_column([np.zeros((1, 2)), np.ones((2, 1))])
    assert column.to_pylist() == [[[0.0, 0.0]], [[1.0], [1.0]]]


def test_tensors_beyond_the_reach_of_offsets_become_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "_MOST", 6)
    matrices = [np.full((2, 2), index) for index in range(5)]
    for values in (matrices, np.stack(matrices)):
        column, _ = infer_column(values)
        assert column.num_chunks > 1
        assert column.to_pylist() == [matrix.tolist() for matrix in matrices]


def test_pandas_values_keep_what_is_missing() -> None:
    pandas = pytest.importorskip("pandas")
    assert infer_column(pandas.Series(["a", None]))[0].to_pylist() == ["a", None]
    assert infer_column(pandas.Series([1, None], dtype="Int64"))[0].to_pylist() == [1, None]
    assert infer_column(pandas.Series(["a", "b"], dtype="category"))[1] == Value("string")
    assert np.isnan(infer_column(pandas.Series([1.5, None]))[0].to_pylist()[1])


def test_pictures_are_found_at_any_depth() -> None:
    pillow = pytest.importorskip("PIL.Image")
    picture = pillow.new("RGB", (2, 2))
    for values, kind in (
        ([None, picture], Image()),
        ([[None, picture], []], List(Image())),
        ([{"a": [picture], "b": 1}], {"a": List(Image()), "b": Value("int64")}),
    ):
        column, feature = infer_column(values)
        assert feature == kind
        column.validate(full=True)


def test_token_columns_take_few_bytes_while_values_fit() -> None:
    assert infer_column([[1, 2]], "input_ids")[1] == List(Value("int32"))
    assert infer_column([[1, 2**40]], "input_ids")[1] == List(Value("int64"))


def test_columns_shared_by_other_libraries_are_taken_as_they_are() -> None:
    polars = pytest.importorskip("polars")
    assert infer_column(polars.Series([1, None]))[0].to_pylist() == [1, None]
    assert column_of(polars.Series(["b", "a"]), ClassLabel(names=["a", "b"])).to_pylist() == [1, 0]


def test_iterators_are_read_once() -> None:
    assert column_of(iter(["1", 2]), Value("int64")).to_pylist() == [1, 2]
    assert infer_column(iter([1, 2]))[0].to_pylist() == [1, 2]


def test_finer_times_are_not_cut_down() -> None:
    import datetime as dt

    with pytest.raises(ValueError, match="lose data"):
        column_of([dt.datetime(2020, 1, 1, 0, 0, 0, 5)], Value("timestamp[s]"))
    day = column_of(["2020-01-01"], Value("timestamp[s]"))
    assert day.to_pylist() == [dt.datetime(2020, 1, 1)]


def test_dictionaries_are_stored_as_their_values() -> None:
    column, feature = infer_column(pa.array([["a"], ["b"]], pa.list_(pa.dictionary(pa.int32(), pa.string()))))
    assert (feature, column.type) == (List(Value("string")), pa.list_(pa.string()))


class Model:
    """As pydantic's: what it holds is told by a method, and there is more to find in it."""

    model_config = "frozen"

    def model_dump(self) -> dict[str, Any]:
        return {"role": "user", "parts": (1, 2)}


def test_a_model_is_stored_as_its_fields() -> None:
    column, feature = infer_column([Model()], "m", "use_json")
    assert column.to_pylist() == [{"role": "user", "parts": [1, 2]}]
    assert feature == {"role": Value("string"), "parts": List(Value("int64"))}


@pytest.mark.parametrize("value", [object(), print, int, iter([1])], ids=["object", "function", "class", "iterator"])
def test_what_holds_nothing_is_refused(value: Any) -> None:
    with pytest.raises(ValueTypeError, match="no exact form in JSON"):
        infer_column([value], "m", "use_json")
