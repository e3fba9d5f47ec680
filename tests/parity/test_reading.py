"""Every way to look at rows and columns shows the same in both libraries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.parity import same
from support.tables import BOOL, FLOATS, INTEGERS, SCALARS, TEXTS, Kind, Spec, scalar, specs, texts

places = st.integers(-9, 9)
slices = st.builds(slice, st.none() | places, st.none() | places, st.none() | st.sampled_from([1, 2, 3, -1, -2]))
lists = st.lists(places, max_size=4)
ranges = st.builds(range, places, places, st.sampled_from([1, 2, -1]))
keys = (
    places
    | slices
    | lists
    | ranges
    | lists.map(tuple)
    | places.map(np.int32)
    | st.lists(places, min_size=1, max_size=4).map(np.array)
    | st.sampled_from([True, False, None, 1.0, "no such column", ["a"], [[0]], {"a"}, object(), [None]])
)

FORMATS = [None, "python", "numpy", "arrow", "pandas", "polars", "torch"]

FEW = Spec(
    {
        "n": [1, 2, 3, 4],
        "s": ["x", "y", None, ""],
        "d": [{"p": p, "q": {"r": r}} for p, r in ((1, "u"), (2, None), (None, "v"), (4, ""))],
    },
    {
        "n": scalar("int64", st.integers()),
        "s": scalar("string", texts),
        "d": Kind("d", lambda lib: {"p": lib.Value("int64"), "q": {"r": lib.Value("string")}}, st.none()),
    },
)


@given(specs(), keys)
def test_rows_by_any_key(spec, key):
    same(spec, lambda library, dataset: dataset[key])


def counts_from_the_end(key):
    return isinstance(key, (list, tuple, range, np.ndarray)) and any(
        isinstance(place, (int, np.integer)) and place < 0 for place in key
    )


@given(specs(), keys, st.integers(0, 99))
def test_rows_by_any_key_after_a_shuffle(spec, key, seed):
    assume(not counts_from_the_end(key))  # a difference listed in test_dataset.py
    same(spec, lambda library, dataset: dataset.shuffle(seed=seed)[key])


@given(specs())
def test_iteration(spec):
    same(spec, lambda library, dataset: list(dataset))
    same(spec, lambda library, dataset: [dataset.num_rows, dataset.num_columns, dataset.shape, dataset.column_names])


@given(specs(), st.integers(1, 9), st.booleans())
def test_batches(spec, size, drop):
    same(spec, lambda library, dataset: list(dataset.iter(size, drop_last_batch=drop)))
    same(spec, lambda library, dataset: list(dataset.shuffle(seed=1).iter(size, drop)))


@given(specs(), st.lists(places, max_size=4))
def test_several_rows_each_by_itself(spec, several):
    same(spec, lambda library, dataset: dataset.__getitems__(several))


@given(specs())
def test_repr(spec):
    same(spec, lambda library, dataset: repr(dataset))


@given(specs(), keys)
def test_columns_by_any_key(spec, key):
    name = next(iter(spec.columns))
    if not isinstance(key, str):
        same(spec, lambda library, dataset: dataset[name][key])
    if not isinstance(key, str) and not counts_from_the_end(key):
        same(spec, lambda library, dataset: dataset.shuffle(seed=3)[name][key])


@given(specs())
def test_columns_behave_as_lists(spec):
    for name in spec.columns:
        same(spec, lambda library, dataset, name=name: dataset[name])
        same(spec, lambda library, dataset, name=name: len(dataset[name]))
        same(spec, lambda library, dataset, name=name: repr(dataset[name]))
        same(spec, lambda library, dataset, name=name: list(reversed(dataset[name])))
        same(spec, lambda library, dataset, name=name: dataset[name] == dataset[name])
        same(spec, lambda library, dataset, name=name: dataset[name] == list(dataset[name]))
        same(spec, lambda library, dataset, name=name: dataset[name] == [object()])


@given(specs(st.sampled_from(SCALARS), min_rows=1))
def test_values_are_found_in_columns(spec):
    name = next(iter(spec.columns))
    value = spec.columns[name][0]
    same(spec, lambda library, dataset: value in dataset[name])
    same(spec, lambda library, dataset: object() in dataset[name])
    same(spec, lambda library, dataset: dataset[name].count(dataset[name][0]))
    same(spec, lambda library, dataset: dataset[name].index(dataset[name][0]))


def test_fields_of_structs():
    for path in (
        ["d"],
        ["d", "p"],
        ["d", "q"],
        ["d", "q", "r"],
        ["d", "zz"],
        ["n", "zz"],
        ["zz"],
        ["d", "q", "r", "s"],
    ):

        def walk(dataset, path=path):
            for name in path:
                dataset = dataset[name]
            return dataset

        same(FEW, lambda library, dataset, walk=walk: walk(dataset))
        same(FEW, lambda library, dataset, walk=walk: walk(dataset.select([3, 1]))[:1])
        same(FEW, lambda library, dataset, walk=walk: walk(dataset)[0])


@pytest.mark.parametrize("format", FORMATS)
@given(spec=specs(st.sampled_from([*INTEGERS, FLOATS[0], *TEXTS, BOOL]), nulls=False), key=places | slices | lists)
def test_rows_in_any_format(format, spec, key):
    same(spec, lambda library, dataset: dataset.with_format(format)[key])
    same(spec, lambda library, dataset: list(dataset.with_format(format).iter(2)))


def test_columns_as_keys():
    same(FEW, lambda library, dataset: dataset[dataset["n"][:2]])
    same(FEW, lambda library, dataset: dataset[library.Dataset.from_dict({"k": [1, 0]})["k"]])
