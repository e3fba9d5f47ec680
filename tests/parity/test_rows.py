"""Choosing and ordering rows: the same rows in the same order, for any table and any argument."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.parity import same
from support.tables import NAMES, ORDERED, Spec, kinds, scalar, specs

places = st.integers(0, 8)
numbers = st.lists(places, max_size=6)
seeds = st.integers(0, 2**32)
selections = (
    numbers
    | numbers.map(tuple)
    | numbers.map(lambda each: np.array(each, dtype=np.int64))
    | numbers.map(lambda each: np.array(each, dtype=np.uint8))
    | numbers.map(lambda each: pa.array(each, pa.int64()))
    | st.builds(range, places, places)
    | st.builds(range, places, places, st.sampled_from([1, 2, -1]))
    | st.sampled_from([None, 3, ["a"], [[0]], [-1], range(-2, 2), np.array([-1]), object()])
)


def numbered(size: int) -> Spec:
    return Spec({"n": list(range(size))}, {"n": scalar("int64", st.none())})


@given(specs(min_rows=1), selections)
def test_select(spec, indices):
    assume(not isinstance(indices, range) or len(indices))  # where an empty range starts does not matter here
    same(spec, lambda library, dataset: dataset.select(indices))
    same(spec, lambda library, dataset: dataset.shuffle(seed=5).select(indices))


@given(specs(min_rows=1), numbers)
def test_select_from_an_iterator(spec, indices):
    same(spec, lambda library, dataset: dataset.select(index for index in indices))


@given(specs(), st.integers(-2, 9))
def test_take(spec, n):
    same(spec, lambda library, dataset: dataset.take(n))


@given(specs(), st.integers(0, 9))
def test_skip(spec, n):
    assume(n != len(spec))
    same(spec, lambda library, dataset: dataset.skip(n))


@given(specs(), st.integers(-1, 4))
def test_repeat(spec, times):
    same(spec, lambda library, dataset: dataset.repeat(times))
    same(spec, lambda library, dataset: dataset.shuffle(seed=2).repeat(times))


def test_repeat_without_end():
    same(numbered(3), lambda library, dataset: dataset.repeat(None))


@given(specs(), st.integers(-1, 9), st.integers(-1, 9), st.booleans())
def test_shard(spec, shards, index, contiguous):
    assume(shards <= len(spec))  # shards of no rows are a difference listed in test_dataset.py
    same(spec, lambda library, dataset: dataset.shard(shards, index, contiguous=contiguous))


@given(st.integers(0, 300), st.integers(1, 40), st.booleans())
def test_shards_of_long_datasets(size, shards, contiguous):
    assume(shards <= size)
    spec = numbered(size)
    same(spec, lambda library, dataset: [dataset.shard(shards, each, contiguous)["n"][:] for each in range(shards)])


@given(specs(), seeds)
def test_shuffle(spec, seed):
    same(spec, lambda library, dataset: dataset.shuffle(seed=seed))
    same(spec, lambda library, dataset: dataset.shuffle(generator=np.random.default_rng(seed)))


@given(st.integers(0, 3000), seeds)
def test_shuffles_of_long_datasets(size, seed):
    same(numbered(size), lambda library, dataset: dataset.shuffle(seed)["n"][:])


@given(st.integers(0, 2**32 - 1), st.integers(0, 700))
def test_shuffle_without_a_seed_follows_numpy_s_own(seed, draws):
    """Also at the end of the generator's block of 624 words."""

    def call(library, dataset):
        np.random.seed(seed)
        np.random.random(draws)
        return [dataset.shuffle()["n"][:] for _ in range(3)] + [np.random.random()]

    same(numbered(20), call)


@pytest.mark.parametrize(
    "arguments",
    [
        {"generator": 5},
        {"generator": np.random.RandomState},
        {"seed": "a"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": np.int64(3)},
        {"seed": [1, 2]},
    ],
)
def test_odd_seeds(arguments):
    same(numbered(5), lambda library, dataset: dataset.shuffle(**arguments)["n"][:])


def test_a_seed_or_a_generator():
    same(numbered(5), lambda library, dataset: dataset.shuffle(seed=1, generator=np.random.default_rng(1)))


@given(
    specs(st.sampled_from(ORDERED), max_columns=3, min_rows=1),
    st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
    st.booleans() | st.lists(st.booleans(), min_size=1, max_size=3),
    st.sampled_from(["at_end", "at_start", "first", "last"]),
)
def test_sort(spec, columns, reverse, nulls):
    names = [list(spec.columns)[place % len(spec.columns)] for place in columns]
    names = list(dict.fromkeys(names))
    same(spec, lambda library, dataset: dataset.sort(names, reverse=reverse, null_placement=nulls))
    same(spec, lambda library, dataset: dataset.shuffle(seed=1).sort(names[0], null_placement=nulls))


@given(specs(kinds.filter(lambda kind: "Json" not in kind.name), min_rows=1), st.booleans())
def test_sort_by_columns_of_any_type(spec, reverse):
    same(spec, lambda library, dataset: dataset.sort(next(iter(spec.columns)), reverse=reverse))


@pytest.mark.parametrize(
    "arguments",
    [
        {"column_names": "zz"},
        {"column_names": ["n", "zz"]},
        {"column_names": []},
        {"column_names": "n", "reverse": [True, False]},
        {"column_names": "n", "null_placement": "middle"},
        {"column_names": ("n",)},
        {"column_names": ["n"], "reverse": (True,)},
    ],
    ids=str,
)
def test_odd_sorts(arguments):
    same(numbered(5), lambda library, dataset: dataset.sort(**arguments))


@given(specs(), seeds, st.data())
def test_chains(spec, seed, data):
    """The rows and their order survive any chain of the calls above."""
    steps = data.draw(
        st.lists(
            st.sampled_from(
                [
                    lambda dataset: dataset.shuffle(seed=seed),
                    lambda dataset: dataset.select(range(len(dataset) // 2)),
                    lambda dataset: dataset.select(list(range(len(dataset)))[::-1]),
                    lambda dataset: dataset.shard(2, 0, contiguous=False),
                    lambda dataset: dataset.repeat(2),
                    lambda dataset: dataset.take(3),
                    lambda dataset: dataset.skip(min(1, len(dataset) - 1)) if len(dataset) else dataset,
                ]
            ),
            max_size=4,
        )
    )

    def call(library, dataset):
        for step in steps:
            dataset = step(dataset)
        return dataset

    same(spec, call)


@given(specs(min_rows=1), st.sampled_from(NAMES))
def test_search_for_a_missing_column(spec, name):
    if name not in spec.columns:
        same(spec, lambda library, dataset: dataset.sort(name))
        same(spec, lambda library, dataset: dataset[name])
