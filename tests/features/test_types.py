"""Feature types by themselves."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.exceptions import (
    ArgumentError,
    DatasetsError,
    FeaturesMismatchError,
    UnknownEntryError,
    UnknownTypeError,
)
from crucible_datasets.features import (
    Array2D,
    ClassLabel,
    Features,
    Json,
    LargeList,
    List,
    Sequence,
    Translation,
    Value,
    register_feature,
)
from crucible_datasets.features.dtypes import arrow_of, name_of

UNITS = ["s", "ms", "us", "ns"]
names = st.one_of(
    st.sampled_from(["bool", "int8", "uint64", "float16", "string", "large_binary", "date32", "string_view", "null"]),
    st.sampled_from(UNITS).map("timestamp[{}]".format),
    st.tuples(st.sampled_from(UNITS), st.sampled_from(["UTC", "+07:30", "Europe/Paris"])).map(
        lambda pair: "timestamp[{}, tz={}]".format(*pair)
    ),
    st.sampled_from(UNITS).map("duration[{}]".format),
    st.integers(1, 64).map("fixed_size_binary[{}]".format),
    st.tuples(st.integers(1, 38), st.integers(-5, 5)).map(lambda pair: "decimal128({}, {})".format(*pair)),
)


@given(names)
def test_a_dtype_name_is_the_name_of_its_arrow_type(name: str) -> None:
    assert name_of(arrow_of(name)) == name
    assert Value(name).pa_type == arrow_of(name)


@pytest.mark.parametrize("name", ["int65", "timestamp", "timestamp[h]", "time32[us]", "list", "", None, 1])
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(UnknownTypeError):
        Value(name)


def test_labels_and_names_are_inverse() -> None:
    label = ClassLabel(names=["neg", "pos"])
    assert label.int2str(label.str2int(["pos", "neg"])) == ["pos", "neg"]
    assert label.int2str(np.array([1, 0])) == ["pos", "neg"]
    assert (label.str2int("1"), label.str2int("-1"), label.num_classes) == (1, -1, 2)
    with pytest.raises(UnknownEntryError, match="pos"):
        label.str2int("poss")
    with pytest.raises(ArgumentError):
        label.int2str(-1)


def test_labels_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("a\n\nb\n")
    assert ClassLabel(names_file=str(tmp_path / "names")).names == ["a", "b"]


def test_sequence_is_a_list_or_a_dict_of_lists() -> None:
    assert Sequence(Value("int8"), 3) == List(Value("int8"), 3)
    assert Sequence({"a": Value("int8")}) == {"a": List(Value("int8"))}
    assert isinstance(List(Value("int8")), Sequence)
    assert not isinstance(LargeList(Value("int8")), Sequence)


def test_features_stay_normal_however_they_are_changed() -> None:
    features = Features(a=[Value("int8")])
    features["b"] = [Value("int8")]
    features.update(c=[Value("int8")])
    features.setdefault("d", [Value("int8")])
    assert set(map(str, features.values())) == {"List(Value('int8'))"}
    assert type(pickle.loads(pickle.dumps(features))) is Features


def test_reordering_follows_the_other_to_any_depth() -> None:
    mine = Features({"a": [{"x": Value("int8"), "y": Value("int8")}], "b": Value("string")})
    other = Features({"b": Value("string"), "a": [{"y": Value("int8"), "x": Value("int8")}]})
    assert str(mine.reorder_fields_as(other)) == str(other)
    with pytest.raises(FeaturesMismatchError):
        mine.reorder_fields_as(Features({"b": Value("string")}))


@pytest.mark.parametrize("value", ["x", "", "é\u2028😀", {"a": [None, "1"]}, [1, [2.5]], True, 10**30, 1 / 3, 5e-324])
def test_json_values_read_back(value: Any) -> None:
    assert Json().decode_example(Json().encode_example(value)) == value


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_json_has_no_words_for_what_is_no_number(number: float) -> None:
    with pytest.raises(ValueError, match="NaN and infinities have no form in JSON"):
        Json().encode_example([1, {"a": number}])


def test_what_other_programs_write_for_it_is_read() -> None:
    assert Json().decode_example("[NaN, -Infinity]") == [None, -math.inf]


def test_text_that_looks_like_json_stays_text() -> None:
    text = '{"not": "an object"}'
    assert Json().decode_example(Json().encode_example(text)) == text


def test_a_type_of_ones_own_is_read_back() -> None:
    from dataclasses import dataclass, field

    @dataclass
    class Molecule:
        unit: str = "mol"
        _type: str = field(init=False, repr=False, default="Molecule")

        def __call__(self) -> pa.DataType:
            return pa.string()

    register_feature(Molecule, "Molecule")
    features = Features({"m": Molecule("g")})
    assert Features.from_dict(features.to_dict()) == features
    assert Features.from_arrow_schema(features.arrow_schema) == features


NONSENSE = [None, True, -1, 2**70, "x", "\ud800", [], [None], [[]], {}, {"_type": "List"}, {"_type": ["x"]}]
PLACES = [("v", "dtype"), ("c", "names"), ("l", "feature"), ("l",), ("q", "shape"), ("t", "languages"), ("v", "_type")]


def test_nonsense_about_features_is_an_error_of_this_library_wherever_it_stands():
    kinds = {"v": Value("int8"), "c": ClassLabel(names=["x"]), "l": List(Value("bool"))}
    features = Features({**kinds, "q": Array2D((2, 2), "int8"), "t": Translation(["de"])})
    for place, nonsense in itertools.product(PLACES, NONSENSE):
        told = features.to_dict()
        (told if len(place) == 1 else told[place[0]])[place[-1]] = nonsense
        with suppress(DatasetsError):
            Features.from_dict(told)
        with suppress(DatasetsError):
            _of_schema(features, {"huggingface": json.dumps({"info": {"features": told}})})
    for text in (b"{", b"\xff", b"[]", b'{"info": 1}'):
        with pytest.raises(UnknownTypeError):
            _of_schema(features, {"huggingface": text})


def _of_schema(features: Features, metadata: dict[str, Any]) -> Features:
    return Features.from_arrow_schema(features.arrow_schema.with_metadata(metadata))
