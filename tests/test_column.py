"""`Column`: a list that is read when it is looked at."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import BOOL, FLOATS, INTEGERS, specs

import crucible_datasets
from crucible_datasets import Column, Dataset

places = st.integers(-9, 9)
slices = st.builds(slice, st.none() | places, st.none() | places, st.none() | st.sampled_from([1, 2, -1, -3]))


def same_values(left: object, right: object) -> bool:
    """Equal, where nan equals nan."""
    return repr(left) == repr(right)


@given(specs(), slices, st.lists(places, max_size=4))
def test_it_is_the_list_of_its_values(spec, part, several):
    dataset = spec.dataset(crucible_datasets).shuffle(seed=1)
    for name in spec.columns:
        column, values = dataset[name], [row[name] for row in dataset]
        assert isinstance(column, Column)
        assert len(column) == len(values)
        assert same_values(list(column), values)
        assert same_values(column.tolist(), values)
        assert same_values(column[part], values[part])
        assert same_values(list(reversed(column)), values[::-1])
        within = [place % len(values) for place in several] if values else []
        assert same_values(column[within], [values[place] for place in within])
        assert same_values([column[place] for place in within], [values[place] for place in within])
        assert same_values(column + values, values * 2)
        assert same_values(values + column, values * 2)


def test_it_compares_as_a_list_does():
    column = Dataset.from_dict({"n": [1, 2, None]})["n"]
    assert column == [1, 2, None]
    assert column == Dataset.from_dict({"m": [1, 2, None]})["m"]
    assert column != [1, 2]
    assert column != 5
    assert 2 in column
    assert None in column
    assert 9 not in column
    assert (column.index(2), column.count(1)) == (1, 1)
    with pytest.raises(TypeError):
        hash(column)


@given(specs(st.sampled_from([*INTEGERS, *FLOATS, BOOL]), nulls=False), st.booleans())
def test_numpy_keeps_the_type_and_the_values(spec, shuffled):
    dataset = spec.dataset(crucible_datasets)
    dataset = dataset.shuffle(seed=1) if shuffled else dataset
    for name, kind in spec.kinds.items():
        array = dataset[name].to_numpy()
        assert array.dtype == np.dtype(kind.name)
        assert same_values(array.tolist(), list(dataset[name]))
        assert np.array_equal(np.asarray(dataset[name]), array, equal_nan=array.dtype.kind == "f")
        assert np.asarray(dataset[name], dtype=object).dtype == object


def test_numpy_shares_memory_where_arrow_allows():
    column = Dataset.from_dict({"n": np.arange(1000)})["n"]
    assert np.shares_memory(column.to_numpy(), column.to_numpy())


@given(specs())
def test_arrow_holds_the_values(spec):
    dataset = spec.dataset(crucible_datasets).shuffle(seed=1)
    for name in spec.columns:
        array = dataset[name].to_arrow()
        assert isinstance(array, pa.ChunkedArray)
        assert array.type == dataset.features.arrow_schema.field(name).type
        assert len(array) == len(dataset)
        assert same_values(pa.chunked_array(dataset[name]).to_pylist(), array.to_pylist())


def test_fields_of_structs_are_columns():
    rows = [{"x": 1, "y": {"z": "a"}}, None, {"x": None, "y": None}]
    column = Dataset.from_dict({"d": rows}).select([2, 0, 1])["d"]
    assert column["x"] == [None, 1, None]
    assert column["y"]["z"] == [None, "a", None]
    for missing in ("zz", "X"):
        with pytest.raises(KeyError, match=missing):
            column[missing]
    with pytest.raises(KeyError):
        column["x"]["deeper"]


def test_it_follows_the_format():
    dataset = Dataset.from_dict({"n": [1, 2], "s": ["a", "b"]})
    assert isinstance(dataset.with_format("numpy")["n"][:], np.ndarray)
    assert isinstance(dataset.with_format("numpy")["n"][0], np.int64)
    assert isinstance(dataset.with_format("arrow")["n"], pa.ChunkedArray)
    column = dataset["n"]
    dataset.set_format("numpy")
    assert isinstance(column[:], np.ndarray), "a column is shown as its dataset is shown now"


def test_repr_shows_the_first_values():
    assert repr(Dataset.from_dict({"n": range(9)})["n"]) == "Column([0, 1, 2, 3, 4, ...])"
    assert repr(Dataset.from_dict({"n": [0]})["n"]) == "Column([0])"
