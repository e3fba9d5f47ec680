"""Sorting and joining move rows and change none; both go by the values as Python compares them."""

from __future__ import annotations

from hypothesis import strategies as st

import crucible_datasets as ours
from laws import equality, values
from laws.law import law

_SORTABLE = [
    "integer",
    "unsigned",
    "float",
    "text",
    "number text",
    "date text",
    "bytes",
    "decimal",
    "date",
    "time",
    "timestamp",
    "duration",
    "bool",
]
_KEYS = ["integer", "text", "number text", "date", "bool", "bytes"]


def _columns(leaves, number):
    """Two or more columns of values that often repeat."""
    leaf = st.sampled_from(leaves)

    def column(name):
        few = st.lists(st.one_of(values.LEAVES[name], values.LEAVES[name], st.none()), min_size=1, max_size=4)
        return few.flatmap(lambda some: st.lists(st.sampled_from(some), min_size=12, max_size=12))

    return st.lists(leaf.flatmap(column), min_size=number, max_size=number)


def _key(value):
    """What Python sorts by, as Arrow does: text by code points. NaN is beside null in both directions."""
    return value.encode() if isinstance(value, str) else value


@law(
    examples=30,
    columns=_columns(_SORTABLE, 2),
    size=st.integers(1, 12),
    reverse=st.lists(st.booleans(), min_size=2, max_size=2),
    null_placement=st.sampled_from(["at_end", "at_start"]),
    is_shuffled=st.booleans(),
)
def test_sort_orders_rows_as_python_does(columns, size, reverse, null_placement, is_shuffled, folder):
    rows = [{"a": columns[0][row], "b": columns[1][row], "row": row} for row in range(size)]
    data = ours.Dataset.from_list(rows)
    data = data.shuffle(seed=1) if is_shuffled else data
    expected = data.to_list()
    for name, down in [("b", reverse[1]), ("a", reverse[0])]:  # Python's sort is stable
        nulls = [row for row in expected if row[name] is None]
        nans = [row for row in expected if row[name] != row[name]]
        others = [row for row in expected if row[name] is not None and row[name] == row[name]]
        others.sort(key=lambda row: _key(row[name]), reverse=down)
        expected = nulls + nans + others if null_placement == "at_start" else others + nans + nulls
    result = data.sort(["a", "b"], reverse=reverse, null_placement=null_placement).to_list()
    equality.same(
        [{"a": row["a"], "b": row["b"]} for row in expected], [{"a": row["a"], "b": row["b"]} for row in result]
    )
    assert sorted(row["row"] for row in result) == list(range(size))


@law(
    examples=30,
    columns=_columns(_KEYS, 1),
    left=st.integers(1, 6),
    others=st.lists(st.integers(0, 11), min_size=1, max_size=8),
    how=st.sampled_from(["inner", "left"]),
)
def test_join_finds_the_rows_of_equal_keys(columns, left, others, how, folder):
    keys = columns[0]
    first = [{"key": keys[row], "a": row} for row in range(left)]
    second = [{"key": keys[row], "b": number} for number, row in enumerate(others)]
    expected = []
    for row in first:
        partners = [other for other in second if row["key"] is not None and _key(other["key"]) == _key(row["key"])]
        expected += [{**row, "b": other["b"]} for other in partners]
        if how == "left" and not partners:
            expected.append({**row, "b": None})
    result = ours.Dataset.from_list(first).join(ours.Dataset.from_list(second), on="key", how=how)
    equality.same(expected, result.to_list())
