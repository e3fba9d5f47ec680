"""Equal values are one group in every operation on keys, as in Python, where -0.0 == 0.0; NaN is one group as well."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import Dataset, Features, Json, List, Value

NUMBERS = st.sampled_from([0.0, -0.0, 1.5, math.nan, -math.nan, math.inf, None])
COLUMNS: dict[str, tuple[Any, Any]] = {
    "float64": (NUMBERS, Value("float64")),
    "float32": (NUMBERS, Value("float32")),
    "float16": (NUMBERS, Value("float16")),
    "lists": (st.none() | st.lists(NUMBERS, max_size=2), List(Value("float32"))),
    "structs": (
        st.none() | st.fixed_dictionaries({"x": NUMBERS, "y": st.lists(NUMBERS, max_size=1)}),
        {"x": Value("float64"), "y": List(Value("float64"))},
    ),
    "json": (
        st.recursive(
            st.sampled_from([0, 0.0, -0.0, 1, 1.0, "1", True, None, 2**60]),
            lambda values: st.lists(values, max_size=2) | st.dictionaries(st.sampled_from("ab"), values, max_size=2),
            max_leaves=4,
        ),
        Json(),
    ),
    "texts": (st.sampled_from(["é", "e\u0301", "日", "0.0", "-0.0", None]), Value("string")),
}


def key_of(value: Any) -> Any:
    """A hashable value, equal for values of one group."""
    if isinstance(value, dict):
        return "object", frozenset((name, key_of(item)) for name, item in value.items())
    if isinstance(value, list):
        return "list", tuple(map(key_of, value))
    if isinstance(value, float) and value != value:
        return "NaN"
    return type(value) is bool, value


def shown(values: list[Any]) -> str:
    return json.dumps(values)


@st.composite
def key_columns(draw):
    values, feature = COLUMNS[draw(st.sampled_from(sorted(COLUMNS)))]
    keys = draw(st.lists(values, min_size=1, max_size=12))
    return Dataset.from_dict({"k": keys}, features=Features({"k": feature})), keys


@settings(deadline=None)
@given(key_columns())
def test_values_are_grouped_as_python_compares_them(column):
    dataset, keys = column
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(map(key_of, keys)):
        rows.setdefault(key, []).append(row)
    stored = dataset["k"][:]
    assert shown(dataset.unique("k")) == shown([stored[group[0]] for group in rows.values()])
    numbered = dataset.add_column("row", list(range(len(keys))))
    grouped = numbered.group_by("k").agg(rows=("row", "list"))
    assert grouped["rows"][:] == list(rows.values())
    joined = numbered.join(numbered.rename_column("row", "other"), on="k")
    pairs = [(row, other) for row, key in enumerate(keys) if key is not None for other in rows[key_of(key)]]
    assert list(zip(joined["row"][:], joined["other"][:], strict=True)) == pairs


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=12))
def test_zeros_share_their_place_in_an_order_and_their_label(keys):
    dataset = Dataset.from_dict(
        {"k": keys, "row": list(range(len(keys)))}, features=Features({"k": Value("float64"), "row": Value("int64")})
    )
    ranks = [(2, 0.0) if key is None else (1, 0.0) if key != key else (0, key) for key in keys]
    assert dataset.sort("k")["row"][:] == sorted(range(len(keys)), key=ranks.__getitem__)
    labels = dataset.class_encode_column("k")["k"][:]
    for left, right in zip(range(len(keys)), range(1, len(keys)), strict=False):
        assert (labels[left] == labels[right]) == (key_of(keys[left]) == key_of(keys[right]))


def test_zeros_are_one_class_when_splits_are_stratified():
    dataset = Dataset.from_dict({"k": [0.0, -0.0, 1.0, 1.0]})
    parts = dataset.train_test_split(2, stratify_by_column="k", seed=1)
    assert sorted(map(abs, parts["test"]["k"])) == [0.0, 1.0]
