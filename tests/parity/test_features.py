"""The same expression on Hugging Face `datasets` and here: same value, or the same kind of error.

Each line of features_expressions.txt and features_columns.txt is one case. What differs on purpose stands in `DIFFERENT`, with the reason.
"""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets as hf
import numpy as np
import pandas as pd
import PIL.Image
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_datasets import features as ours
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.storage import chunked

pytestmark = pytest.mark.filterwarnings("ignore")  # the other library warns where it changes values

NAMES = [name for name in ours.__all__ if name != "register_feature"]
SHARED = {
    "np": np, "pa": pa, "pd": pd, "PIL": PIL, "pickle": pickle, "copy": copy, "json": json, "datetime": dt,
    "decimal": decimal, "D": decimal.Decimal, "dt": dt.datetime, "nan": float("nan"),
}  # fmt: skip


def evaluated(expression: str, library: Any) -> Any:
    return eval(expression, {**SHARED, **{name: getattr(library.features, name) for name in NAMES}})


class Here:
    features = ours


def outcome(call: Any, *arguments: Any) -> Any:
    try:
        return comparable(call(*arguments))
    except Exception as error:
        return error


def comparable(value: Any) -> Any:
    """A value in a form whose `==` sees types and NaN, but not which library it came from."""
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return "array", str(value.type), comparable(value.to_pylist())
    if isinstance(value, PIL.Image.Image):
        return "picture", value.mode, value.size, value.tobytes()
    if isinstance(value, dict):
        return "dict", {name: comparable(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    return repr(value)


def assert_same(theirs: Any, mine: Any) -> None:
    if isinstance(theirs, Exception):
        kind = next(kind for kind in type(theirs).__mro__ if kind.__module__ == "builtins")
        # An AttributeError is an accident inside of a function, and no type that callers catch.
        assert isinstance(mine, Exception if kind is AttributeError else kind), f"there: {theirs!r}, here: {mine!r}"
    elif isinstance(mine, Exception):
        raise mine
    else:
        assert mine == theirs


def cases(kind: str) -> list[str]:
    return Path(__file__).with_name(f"features_{kind}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("expression", cases("expressions"))
def test_an_expression_gives_the_same(expression: str) -> None:
    assert_same(outcome(evaluated, expression, hf), outcome(evaluated, expression, Here))


def theirs(values: str, feature: str, target: str, name: str, mixed: str) -> Any:
    schema = hf.Features({name: evaluated(feature, hf)}) if feature else None
    dataset = hf.Dataset.from_dict({name: evaluated(values, hf)}, features=schema, on_mixed_types=mixed or None)
    if target:
        dataset = dataset.cast(hf.Features({name: evaluated(target, hf)}))
    shown = dataset[:][name]
    return repr(dataset.features[name]), chunked(dataset.data.column(name)), shown


def mine(values: str, feature: str, target: str, name: str, mixed: str) -> Any:
    given = evaluated(values, Here)
    if feature:
        kind = ours.Features({name: evaluated(feature, Here)})[name]
        column = column_of(given, kind, name)
    else:
        column, kind = infer_column(given, name, mixed or None)
    if target:
        kind = ours.Features({name: evaluated(target, Here)})[name]
        column = cast_column(column, kind, name)
    column.validate(full=True)
    decode = decoder(kind)
    return repr(kind), column, [decode(value) for value in column.to_pylist()] if decode else column.to_pylist()


@pytest.mark.parametrize("case", cases("columns"))
def test_a_column_comes_out_the_same(case: str) -> None:
    """values | features= | cast to | column name | on_mixed_types"""
    values, feature, target, name, mixed = ([part.strip() for part in case.split(" | ")] + [""] * 4)[:5]
    arguments = (values, feature, target, name or "c", mixed)
    assert_same(outcome(theirs, *arguments), outcome(mine, *arguments))


DIFFERENT = [
    ("ClassLabel(names=['a']).cast_storage(pa.array([-5]))", "a label below -1 means nothing"),
    ("Features({'a': [Value('int8'), Value('int16')]})", "two features in a list were a mistake"),
    ("Features({'a': [Value('string')]}).encode_example({'a': 'abc'})", "a string is not a list of letters"),
    (
        'Features({"a.b": Value("int8"), "a": {"b": Value("int64")}}).flatten()',
        "no column takes the place of another",
    ),
    ('Features({1: Value("int64")})', "names of columns are texts"),
    ("Json().encode_example(1 / 3)", "floats keep all their digits"),
    ("Json().decode_example(str(2**70))", "integers may be of any size"),
    ("TranslationVariableLanguages().encode_example({'en': 'a'})", "without a list of languages all are welcome"),
    ("Image().encode_example(np.full((1, 1, 3), 300))", "a channel above 255 would wrap around"),
    ("Image().encode_example(np.full((1, 1), 2**40))", "so would a pixel above 32 bits"),
    ('Json().encode_example(float("nan"))', "JSON has no NaN and no infinities"),
    ('Value("int64").encode_example(3.7)', "fractions are not cut off"),
    ('Json().encode_example(float("inf"))', "JSON has no NaN and no infinities"),
    ('Value("bool").encode_example("False")', "only words for truth values are truth values"),
    ("Json().encode_example({1: 2})", "the key 1 is not the key '1'"),
    ('Value("string").encode_example(b"x")', "bytes are text if they are UTF-8"),
    ("Json().encode_example({1,2})", "what has no exact form in JSON is not stored as Json"),
    ('Value("decimal128(5, 2)").encode_example("3.1")', "decimals are made of text exactly"),
    ('Json().encode_example(b"x")', "what has no exact form in JSON is not stored as Json"),
    ("Json().encode_example(datetime.datetime(2020,1,1))", "what has no exact form in JSON is not stored as Json"),
    ("Json().encode_example(datetime.date(2020,1,1))", "what has no exact form in JSON is not stored as Json"),
    ('Json().encode_example(decimal.Decimal("1.5"))', "what has no exact form in JSON is not stored as Json"),
    ("Json(decode=False).encode_example('{\"a\":1}')", "text is stored as text, also if it looks like JSON"),
    ('Json().cast_storage(pa.array(["x", None]))', "whether text is parsed does not depend on the other rows"),
    ('Json().cast_storage(pa.array([b"1"]))', "what has no exact form in JSON is not stored as Json"),
    (
        "Json().cast_storage(pa.array([datetime.datetime(2020,1,1)]))",
        "what has no exact form in JSON is not stored as Json",
    ),
    (
        'Features({"a": {"b": Value("int64")}}).encode_example({"a": {"b":"1","c":2}})',
        "keys without a field are not dropped",
    ),
    ('Json().encode_example("1")', "text is stored as text, also if it looks like JSON"),
    ('Json().encode_example("null")', "text is stored as text, also if it looks like JSON"),
    ("Json().encode_example('\"a\"')", "text is stored as text, also if it looks like JSON"),
    ("Json().encode_example(' 1 ')", "text is stored as text, also if it looks like JSON"),
    ("Json().encode_example('true')", "text is stored as text, also if it looks like JSON"),
    ('Json().cast_storage(pa.array(["1", "x"]))', "whether text is parsed does not depend on the other rows"),
    ('Json().cast_storage(pa.array(["x", "1"]))', "whether text is parsed does not depend on the other rows"),
    ('Json().cast_storage(pa.array(["", "1"]))', "whether text is parsed does not depend on the other rows"),
    (
        'Json().cast_storage(pa.array([None, \'{"a":\', "2"]))',
        "whether text is parsed does not depend on the other rows",
    ),
    ('Json().cast_storage(pa.array([\'{"a": 1}\', "x"]))', "whether text is parsed does not depend on the other rows"),
    ('Json().cast_storage(pa.array([1.5, None, float("nan")]))', "JSON has no NaN and no infinities"),
    ('Json().cast_storage(pa.array([decimal.Decimal("1.5")]))', "what has no exact form in JSON is not stored as Json"),
    (
        "Json().cast_storage(pa.array([datetime.date(2020,1,1)]))",
        "what has no exact form in JSON is not stored as Json",
    ),
    ("Json().cast_storage(pa.array([datetime.timedelta(1)]))", "what has no exact form in JSON is not stored as Json"),
    ("Json().encode_example(datetime.timedelta(1))", "what has no exact form in JSON is not stored as Json"),
    ("Json().encode_example(datetime.time(1,2))", "what has no exact form in JSON is not stored as Json"),
    ('Json().encode_example(float("-inf"))', "JSON has no NaN and no infinities"),
    ('Json().encode_example([float("nan"), 1])', "JSON has no NaN and no infinities"),
    ('Json().encode_example(b"\\xff")', "what has no exact form in JSON is not stored as Json"),
    ('Json().encode_example({"a": b"x"})', "what has no exact form in JSON is not stored as Json"),
    ("Json().encode_example(frozenset([1]))", "what has no exact form in JSON is not stored as Json"),
    (
        "Json().encode_example(datetime.datetime(2020,1,1,tzinfo=datetime.timezone(datetime.timedelta(hours=2))))",
        "what has no exact form in JSON is not stored as Json",
    ),
    ("[f.update(b=[Value('int8')]) or f for f in [Features()]]", "[x] means List(x) wherever it is set"),
]


@pytest.mark.parametrize(("expression", "reason"), DIFFERENT)
def test_what_differs_on_purpose_still_differs(expression: str, reason: str) -> None:
    there, here = outcome(evaluated, expression, hf), outcome(evaluated, expression, Here)
    assert isinstance(there, Exception) != isinstance(here, Exception) or there != here, f"no longer: {reason}"


DIFFERENT_COLUMNS = [
    ('[pd.Timestamp("2020-01-01 00:00:00.000000001")]', "nanoseconds are kept"),
    ("[dt(2020,1,1),dt(2020,1,1,tzinfo=datetime.timezone.utc)]", "a time without a zone is no time in UTC"),
    ("[datetime.date(2020,1,1),dt(2020,1,1)]", "a date beside a time is its midnight"),
    ('[[b"x","a"]]', "text does not become bytes"),
    ('[["a",b"x"]]', "text does not become bytes"),
    ('["a",b"b"]', "text does not become bytes"),
    ('[{"a":"x"},{"a":b"x"}]', "text does not become bytes"),
    ("[2**63]", "integers of any size stay integers"),
    ("[2**63,-1]", "integers of any size stay integers"),
    ('[[{"role":"u"},{"content":"x"}]]', "objects whose keys differ, or that have none, are Json"),
    ('[{"a":1},{"b":2}]', "objects whose keys differ, or that have none, are Json"),
    ("[{}]", "objects whose keys differ, or that have none, are Json"),
    ('[{},{"a":1}]', "objects whose keys differ, or that have none, are Json"),
    ('[{"a":{}}]', "objects whose keys differ, or that have none, are Json"),
    ('[1.7] | Value("int64")', "fractions are not cut off"),
    ('pa.array(["x"]) | Json()', "whether text is parsed does not depend on the other rows"),
    ('[1,0,"",None] | Value("bool")', "only words for truth values are truth values"),
    ('["1"] | Json()', "text is stored as text, also if it looks like JSON"),
    ('["False"] | Value("bool")', "only words for truth values are truth values"),
    ("[nan] | Json()", "JSON has no NaN and no infinities"),
    ('["abc"] | [Value("string")]', "a string is not a list of letters"),
    ('[D("1.5")] | Value("int64")', "fractions are not cut off"),
    ('[{"a":1,"b":2}] | {"a":Value("int64")}', "keys without a field are not dropped"),
    ('np.array([1.5,2]) | Value("int8")', "fractions are not cut off"),
    ('[[[1.5,2],[3,4]]] | Array2D((2,2),"int32")', "fractions are not cut off"),
    ('[np.datetime64("2020-01-01")] | Value("timestamp[s]")', "days of numpy are times as well"),
    ('["x",None] |  | Json()', "whether text is parsed does not depend on the other rows"),
    ('["1","x"] | Json() | Value("string")', "text is stored as text, also if it looks like JSON"),
    ('["a",b"b"] |  |  | c | use_json', "text does not become bytes"),
    ("[2**64,1] |  |  | c | use_json", "integers of any size stay integers"),
    ("[1,None,2.5,True] |  |  | c | use_json", "True is no number"),
    ("[2**64] |  |  | c | use_json", "integers of any size stay integers"),
    ('[2**64,"a"] |  |  | c | use_json', "integers of any size stay integers"),
    ('[{"a":1},{"b":2}] |  |  | c', "objects whose keys differ, or that have none, are Json"),
    ('[{"a":{"b":1}},{"a":{"c":2}}] |  |  | c', "objects whose keys differ, or that have none, are Json"),
    ('[b"x","a"] |  |  | c | use_json', "text does not become bytes"),
    ("[dt(2020,1,1),1] |  |  | c | use_json", "times have no exact form in JSON"),
]


@pytest.mark.parametrize(("case", "reason"), DIFFERENT_COLUMNS)
def test_a_column_that_differs_on_purpose_still_differs(case: str, reason: str) -> None:
    values, feature, target, name, mixed = ([part.strip() for part in case.split(" | ")] + [""] * 4)[:5]
    arguments = (values, feature, target, name or "c", mixed)
    there, here = outcome(theirs, *arguments), outcome(mine, *arguments)
    assert isinstance(there, Exception) != isinstance(here, Exception) or there != here, f"no longer: {reason}"


@pytest.mark.parametrize("order", ["datasets, crucible_datasets.features", "crucible_datasets.features, datasets"])
def test_both_libraries_live_in_one_process(order: str, tmp_path: Any) -> None:
    program = f"""
import {order}
import pyarrow as pa, pyarrow.parquet as pq
from crucible_datasets.features import Features, Array2D
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.storage import to_extension, to_storage, chunked
feature = Array2D((2, 2), "int8")
schema = Features({{"a": feature}}).arrow_schema
column = to_extension(column_of([[[1, 2], [3, 4]], None], feature), feature)
path = {str(tmp_path / "t.parquet")!r}
for table in (pa.table([column], schema=schema), pa.table([column], names=["a"])):
    pq.write_table(table, path)
    read = pq.read_table(path)
    assert Features.from_arrow_schema(read.schema) == Features({{"a": feature}}), read.schema
    assert chunked(read["a"]).to_pylist() == [[[1, 2], [3, 4]], None]
    assert datasets.Dataset(read).features == datasets.Features({{"a": datasets.Array2D((2, 2), "int8")}})
import os
os._exit(0)  # packages that Hugging Face's imports may abort when the interpreter ends
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, env=dict(os.environ))


LEAVES = ["int8", "int64", "float64", "string", "binary", "bool", "timestamp[us]", "decimal128(10, 2)", "null"]
leaves = st.one_of(
    st.sampled_from([f"Value({name!r})" for name in LEAVES]),
    st.sampled_from(["ClassLabel(names=['x', 'y'])", "Json()", "Image(decode=False)", "Array2D((None, 2), 'float32')"]),
    st.sampled_from(["Translation(['en', 'fr'])", "TranslationVariableLanguages(['en'])", "Audio(8000)", "Video()"]),
)
nested = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda feature: f"List({feature})"),
        inner.map(lambda feature: f"List({feature}, length=2)"),
        inner.map(lambda feature: f"LargeList({feature})"),
        inner.map(lambda feature: f"[{feature}]"),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda fields: "{" + ", ".join(f"{name!r}: {feature}" for name, feature in fields.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(feature=nested)
def test_any_nested_feature_means_the_same(feature: str) -> None:
    for question in (
        "f",
        "f.to_dict()",
        "f.type",
        "f.arrow_schema.metadata",
        "f._to_yaml_list()",
        "Features.from_dict(f.to_dict())",
        "Features._from_yaml_list(f._to_yaml_list())",
        "Features.from_arrow_schema(f.arrow_schema)",
        "Features.from_arrow_schema(f.arrow_schema.remove_metadata())",
        "f.flatten()",
        "(f == copy.deepcopy(f), pickle.loads(pickle.dumps(f)) == f)",
    ):
        expression = f"(lambda f: {question})(Features({{'c': {feature}}}))"
        assert_same(outcome(evaluated, expression, hf), outcome(evaluated, expression, Here))


scalars = [st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=3), st.just(b"x")]
# Values of one type each: where types or keys differ, Hugging Face changes values.
values_of_one_type = st.recursive(
    st.sampled_from(scalars),
    lambda inner: st.one_of(
        inner.map(lambda item: st.lists(st.none() | item, max_size=3)),
        st.tuples(inner, inner).map(lambda items: st.fixed_dictionaries({"a": items[0], "b": st.none() | items[1]})),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=values_of_one_type.flatmap(lambda value: st.lists(st.none() | value, max_size=4)))
def test_any_values_are_understood_the_same(rows: list[Any]) -> None:
    expression = repr(rows).replace("inf", "float('inf')")
    arguments = (expression, "", "", "c", "")
    assert_same(outcome(theirs, *arguments), outcome(mine, *arguments))
