"""`unite` is a least upper bound: order and grouping do not matter, and no value is lost."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.exceptions import CastError
from crucible_datasets.features import ClassLabel, Json, LargeList, List, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.types import any_leaf
from crucible_datasets.features.unite import is_lossless, unite

small = st.integers(0, 100)
NUMBERS = ["null", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


numbers = st.sampled_from(NUMBERS).map(Value)
lists = st.tuples(st.sampled_from([List, LargeList]), numbers).map(lambda pair: pair[0](pair[1]))
structs = st.dictionaries(st.sampled_from("abc"), lists | st.fixed_dictionaries({"x": numbers}), max_size=2)
families = st.one_of(st.tuples(numbers, numbers, numbers), st.tuples(structs, structs, structs))


def united(left: Any, right: Any) -> Any:
    try:
        return unite(left, right)
    except CastError:
        return None


@given(families)
def test_order_does_not_matter(case: tuple[Any, Any, Any]) -> None:
    left, right, _ = case
    assert united(left, right) == united(right, left)


@given(families)
def test_a_feature_united_with_itself_stays(case: tuple[Any, Any, Any]) -> None:
    assert unite(case[0], case[0]) == case[0]


@given(st.tuples(numbers, numbers, numbers))
def test_grouping_does_not_matter(case: tuple[Any, Any, Any]) -> None:
    a, b, c = case
    assert unite(unite(a, b), c) == unite(a, unite(b, c))


@settings(deadline=None)
@given(numbers, numbers, st.lists(small | st.none()))
def test_no_value_is_lost(left: Value, right: Value, values: list[int | None]) -> None:
    values = [None] * len(values) if left == Value("null") else values
    column = column_of(values, left)
    assert cast_column(column, unite(left, right)).to_pylist() == values


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (Value("null"), List(Value("int8")), List(Value("int8"))),
        (Value("int8"), Value("uint8"), Value("int16")),
        (Value("int64"), Value("uint64"), Value("uint64")),
        (Value("int64"), Value("float32"), Value("float64")),
        (Value("string"), Value("large_string"), Value("large_string")),
        (List(Value("int8"), 2), List(Value("int8"), 3), List(Value("int8"))),
        (List(Value("int8"), 2), List(Value("int16"), 2), List(Value("int16"), 2)),
        (List(Value("int8")), LargeList(Value("int8")), LargeList(Value("int8"))),
        (
            {"a": Value("int8"), "b": Value("int8")},
            {"b": Value("int16"), "a": Value("int8")},
            {"a": Value("int8"), "b": Value("int16")},
        ),
        ({"a": Value("int8")}, {"b": Value("string")}, Json()),
        ({"a": Value("int8")}, {}, Json()),
        (Value("decimal128(5, 2)"), Value("decimal128(6, 1)"), Value("decimal128(7, 2)")),
        (Value("decimal128(5, 2)"), Value("int8"), Value("decimal128(5, 2)")),
        (Value("timestamp[s]"), Value("timestamp[us]"), Value("timestamp[us]")),
        (Value("timestamp[s, tz=UTC]"), Value("timestamp[s, tz=Asia/Tokyo]"), Value("timestamp[s, tz=UTC]")),
        (Value("date32"), Value("timestamp[us]"), Value("timestamp[us]")),
        (Value("time32[s]"), Value("time64[us]"), Value("time64[us]")),
        (Value("duration[s]"), Value("duration[ms]"), Value("duration[ms]")),
        (Json(), Value("int8"), Json()),
        (Value("bool", id="x"), Value("bool"), Value("bool")),
        (ClassLabel(2), ClassLabel(2), ClassLabel(2)),
    ],
)
def test_what_two_features_unite_to(left: Any, right: Any, both: Any) -> None:
    assert unite(left, right) == both


def test_what_shares_no_type_is_an_error_or_json() -> None:
    with pytest.raises(CastError, match="'c'"):
        unite(Value("int8"), Value("string"), name="c")
    assert unite({"a": Value("int8")}, {"a": Value("string")}, "use_json") == {"a": Json()}


WITHOUT_JSON_FORM = ["date32", "timestamp[us]", "duration[us]", "time64[us]", "binary", "decimal128(5, 2)"]


@pytest.mark.parametrize("dtype", WITHOUT_JSON_FORM)
def test_values_without_a_json_form_never_become_json(dtype: str) -> None:
    for left, right in ((Value(dtype), Value("string")), ({"a": Value(dtype)}, {"b": Value("string")})):
        with pytest.raises(CastError, match="no exact form in Json"):
            unite(left, right, "use_json")
        with pytest.raises(CastError):
            unite(right, left, "use_json")


def test_fields_that_only_a_schema_declares_are_null_on_request() -> None:
    left, right = {"a": Value("int8")}, {"b": Value("string")}
    assert unite(left, right, keys="null") == {"a": Value("int8"), "b": Value("string")}
    with pytest.raises(CastError, match="their fields differ"):
        unite(left, right, keys="error")


@given(families)
def test_what_is_united_is_lossless(case: tuple[Any, Any, Any]) -> None:
    left, right, _ = case
    both = united(left, right)
    if both is not None and not any_leaf(both, (Json,)):
        assert is_lossless(left, both)
        assert is_lossless(right, both)


def test_narrower_types_and_other_families_are_not_lossless() -> None:
    for source, target in [("int64", "int8"), ("float64", "float32"), ("timestamp[us]", "date32"), ("int64", "string")]:
        assert not is_lossless(Value(source), Value(target))
    assert not is_lossless({"a": Value("int8")}, {"a": Value("int8"), "b": Value("int8")})
    assert not is_lossless({"a": Value("int8")}, Json())


def test_an_integer_that_a_float_cannot_hold_is_refused() -> None:
    column = pa.chunked_array([pa.array([2**53 + 1])])
    with pytest.raises(CastError):
        cast_column(column, unite(Value("int64"), Value("float64")))
