"""Steps that leave rows as they are leave them as they are, in any order and number."""

from __future__ import annotations

from hypothesis import strategies as st

import crucible_datasets as ours
from laws import equality, values
from laws.law import law
from laws.ways import JSON_STEPS, MOVES, PROCESS_STEPS, STEPS

# On Arrow's own types; the constructors have laws of their own.
_LEAVES = [
    *values.JSON_LEAVES,
    "unsigned",
    "float",
    "bytes",
    "decimal",
    "date",
    "time",
    "timestamp",
    "instant",
    "duration",
]


def _is_keepable(rows):
    return equality.refusable(equality.facts_of(rows.list())) is None


def _rows(leaves, longest=101):
    return values.rows(leaves, longest=longest).map(values.Rows.number).filter(_is_keepable)


@law(
    examples=40,
    weight=3,
    rows=_rows(_LEAVES),
    steps=st.lists(st.tuples(st.sampled_from([*STEPS, *STEPS, *MOVES]), st.integers(0, 5)), min_size=1, max_size=4).map(
        tuple
    ),
)
def test_any_chain_keeps_the_rows(rows, steps, folder):
    _follow(ours.Dataset.from_list(rows.list()), steps, folder)


@law(
    examples=15,
    rows=_rows(values.JSON_LEAVES),
    steps=st.lists(
        st.tuples(st.sampled_from([*JSON_STEPS, *JSON_STEPS, *STEPS, *MOVES]), st.integers(0, 5)),
        min_size=1,
        max_size=4,
    ).map(tuple),
)
def test_any_chain_through_json_keeps_the_rows(rows, steps, folder):
    _follow(ours.Dataset.from_list(rows.list()), steps, folder)


@law(
    examples=4,
    rows=_rows(_LEAVES),
    steps=st.lists(
        st.tuples(st.sampled_from([*PROCESS_STEPS, *PROCESS_STEPS, *MOVES]), st.integers(0, 5)), min_size=1, max_size=3
    ).map(tuple),
)
def test_any_chain_with_processes_keeps_the_rows(rows, steps, folder):
    _follow(ours.Dataset.from_list(rows.list()), steps, folder)


def _follow(data, steps, folder):
    source = data.to_list()
    facts, features = equality.facts_of(source), data.features
    numbers = list(range(len(source)))
    for name, parameter in steps:
        if name in MOVES:
            move, model = MOVES[name]
            data = move(data, parameter)
            expected = model(numbers, parameter)
            if expected is None:
                expected = data["row"][:]
                assert sorted(expected) == sorted(numbers), f"{name}: rows {expected}, not {numbers} in another order"
            numbers = expected
        else:
            data = {**STEPS, **PROCESS_STEPS, **JSON_STEPS}[name](data, folder)
        try:
            equality.same([source[number] for number in numbers], data.to_list(), facts)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        if "parquet" in name:  # which has no type for seconds, nor for dates of 64 bits
            features = data.features
        if numbers:
            assert list(data.features.items()) == list(features.items()), f"{name}: {data.features}, not {features}"
