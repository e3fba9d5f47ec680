"""Laws that hold for every feature, nested to any depth."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import json
import pickle
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_datasets.features import (
    Array2D,
    Array3D,
    Audio,
    ClassLabel,
    Features,
    Image,
    Json,
    LargeList,
    List,
    Translation,
    TranslationVariableLanguages,
    Value,
    Video,
)
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.jsontext import is_json
from crucible_datasets.features.storage import arrow_type, plain, storage_type, to_extension, to_storage

quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.one_of(st.booleans(), st.integers(), finite, words.filter(lambda word: not is_json(word))),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=4,
)
pairs = st.lists(st.lists(st.integers(-128, 127), min_size=2, max_size=2), max_size=3)
references = st.fixed_dictionaries({"bytes": st.binary(max_size=3), "path": st.none() | words})

LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Value("null"), st.none()),
    (Value("bool"), st.booleans()),
    (Value("int8"), st.integers(-128, 127)),
    (Value("uint64"), st.integers(0, 2**64 - 1)),
    (Value("int64"), st.integers(-(2**63), 2**63 - 1)),
    (Value("float32"), st.floats(width=32, allow_nan=False)),
    (Value("float64"), st.floats(allow_nan=False)),
    (Value("string"), words),
    (Value("large_string"), words),
    (Value("binary"), st.binary(max_size=4)),
    (Value("date32"), st.dates()),
    (Value("timestamp[us]"), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))),
    (Value("timestamp[s]"), st.dates(dt.date(1900, 1, 1)).map(lambda d: dt.datetime(d.year, d.month, 1))),
    (Value("duration[us]"), st.timedeltas(dt.timedelta(-999), dt.timedelta(999))),
    (Value("decimal128(10, 2)"), st.decimals("-9999", "9999", places=2)),
    (ClassLabel(names=["x", "y"]), st.integers(-1, 1)),
    (Json(), json_values),
    (Array2D((None, 2), "int8"), pairs),
    (Array3D((1, 1, 2), "int8"), pairs.filter(lambda rows: len(rows) == 1).map(lambda rows: [rows])),
    (Translation(["en", "fr"]), st.fixed_dictionaries({"en": words, "fr": words})),
    (Image(decode=False), references),
    (Audio(decode=False), references),
    (Video(decode=False), references),
]


def wrapped(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists and structs around features that come with a strategy for their values."""

    def struct(fields: dict[str, Any]) -> Any:
        kinds = {name: kind for name, (kind, _) in fields.items()}
        return kinds, st.fixed_dictionaries({name: st.none() | values for name, (_, values) in fields.items()})

    return st.one_of(
        inner.map(lambda pair: (List(pair[0]), st.lists(st.none() | pair[1], max_size=3))),
        inner.map(lambda pair: (LargeList(pair[0]), st.lists(st.none() | pair[1], max_size=3))),
        inner.map(lambda pair: (List(pair[0], length=2), st.lists(st.none() | pair[1], min_size=2, max_size=2))),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3).map(struct),
    )


kinds = st.recursive(st.sampled_from(LEAVES), wrapped, max_leaves=5)
columns = kinds.flatmap(lambda pair: st.tuples(st.just(pair[0]), st.lists(st.none() | pair[1], max_size=5)))
features = st.dictionaries(words, kinds.map(lambda pair: pair[0]), max_size=3).map(Features)


def shown(column: pa.ChunkedArray, feature: Any) -> list[Any]:
    decode = decoder(feature)
    return [decode(value) for value in column.to_pylist()] if decode else column.to_pylist()


@quick
@given(columns)
def test_what_is_stored_is_read_back(case: tuple[Any, list[Any]]) -> None:
    feature, values = case
    column = column_of(values, feature)
    column.validate(full=True)
    assert column.type == storage_type(feature) == plain(column.type)
    assert shown(column, feature) == values


@quick
@given(columns)
def test_casting_to_its_own_feature_changes_nothing(case: tuple[Any, list[Any]]) -> None:
    feature, values = case
    column = column_of(values, feature)
    assert cast_column(column, feature).equals(column)


@quick
@given(columns, st.integers(0, 5), st.integers(0, 5))
def test_a_slice_casts_like_its_rows(case: tuple[Any, list[Any]], start: int, stop: int) -> None:
    feature, values = case
    column = column_of(values, feature)[start:stop]
    target = {"wrapped": feature, "new": Value("int8")}
    rows = pa.chunked_array([pa.StructArray.from_arrays([chunk], ["wrapped"]) for chunk in column.chunks] or [[]])
    if len(rows):
        cast = cast_column(rows, target)
        cast.validate(full=True)
        assert [row["wrapped"] for row in cast.to_pylist()] == column.to_pylist()


@quick
@given(columns)
def test_extension_types_and_back(case: tuple[Any, list[Any]]) -> None:
    feature, values = case
    column = column_of(values, feature)
    extended = to_extension(column, feature)
    extended.validate(full=True)
    assert extended.type == arrow_type(feature)
    assert to_storage(extended).equals(column)


@quick
@given(features)
def test_features_survive_every_form(given_features: Features) -> None:
    assert Features.from_dict(given_features.to_dict()) == given_features
    assert Features.from_dict(json.loads(json.dumps(given_features.to_dict()))) == given_features
    assert Features._from_yaml_list(given_features._to_yaml_list()) == given_features
    assert Features.from_arrow_schema(given_features.arrow_schema) == given_features
    assert pickle.loads(pickle.dumps(given_features)) == given_features
    assert type(copy.deepcopy(given_features)) is Features
    assert given_features.copy() == given_features
    assert Features(dict(given_features)) == given_features


@quick
@given(features)
def test_a_schema_of_storage_says_the_same(given_features: Features) -> None:
    schema = pa.schema([pa.field(field.name, plain(field.type)) for field in given_features.arrow_schema])
    assert Features.from_arrow_schema(schema.with_metadata(given_features.metadata())) == given_features


python_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), words, st.binary(max_size=3)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, min_size=1, max_size=2),
    max_leaves=5,
)


@quick
@given(st.lists(python_values, max_size=5))
def test_mixed_values_are_kept_exactly_as_json(values: list[Any]) -> None:
    def holds_bytes(value: Any) -> bool:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return isinstance(value, bytes) or any(holds_bytes(part) for part in parts)

    if not any(holds_bytes(value) for value in values):
        column, feature = infer_column(values, on_mixed_types="use_json")
        assert shown(column, feature) == values


def test_decimals_and_variable_languages_read_back() -> None:
    feature = TranslationVariableLanguages(["en", "fr"])
    column = column_of([{"fr": ["b", "a"], "en": "c"}, None], feature)
    assert column.to_pylist() == [{"language": ["en", "fr", "fr"], "translation": ["c", "a", "b"]}, None]
    column, kind = infer_column([decimal.Decimal("1.5"), decimal.Decimal("10.25")])
    assert kind == Value("decimal128(4, 2)")
