"""Every way into a feature gives the same values, none of which is another number or has lost a part, or all refuse."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import ClassLabel, Features, Json, List, Value
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law

_TYPES = [
    *("bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "string", "binary"),
    *("date32", "date64", "timestamp[s]", "timestamp[us]", "timestamp[us, tz=UTC]", "time32[s]", "time64[us]"),
    *("duration[s]", "duration[us]", "decimal128(5, 2)", "decimal256(50, 5)"),
]
_LEAVES = [Value(name) for name in _TYPES] + [ClassLabel(names=["1", "0", "a"])]
_FEATURES = st.sampled_from([*_LEAVES, *map(List, _LEAVES), *({"x": leaf} for leaf in _LEAVES), Json(), List(Json())])
_VALUES = st.one_of(
    st.sampled_from(values.PYTHON_LEAVES).flatmap(values.LEAVES.__getitem__),
    st.sampled_from([*range(-3, 3), 128, 2047, 2049, 70000, 2**24 + 1, 86_400_000, 86_399_999_999, 86_400_000_000]),
)
_CELLS = st.one_of(
    _VALUES,
    st.lists(_VALUES, max_size=2),
    st.dictionaries(st.sampled_from(["x", "y"]), _VALUES, max_size=2),
)
_EMPTY = ours.Dataset.from_dict({"n": [0]})

_WAYS = {
    "from_list": lambda cell, features: ours.Dataset.from_list([{"a": cell}], features=features),
    "from_dict": lambda cell, features: ours.Dataset.from_dict({"a": [cell]}, features=features),
    "from_generator": lambda cell, features: ours.Dataset.from_generator(
        lambda: iter([{"a": cell}]), features=features
    ),
    "stream": lambda cell, features: ours.IterableDataset.from_generator(
        lambda: iter([{"a": cell}]), features=features
    ),
    "map": lambda cell, features: _EMPTY.map(lambda row: {"a": cell}, remove_columns="n", features=features),
    "batch": lambda cell, features: _EMPTY.map(
        lambda rows: {"a": [cell]}, batched=True, remove_columns="n", features=features
    ),
    "add_column": lambda cell, features: _EMPTY.add_column("a", [cell], feature=features["a"]).remove_columns("n"),
}


def _outcome(build):
    try:
        return next(iter(build()))["a"]
    except (DatasetsError, OverflowError) as error:  # Python's own calendar ends with the year 9999
        return error


@law(examples=120, cell=_CELLS, feature=_FEATURES)
def test_every_way_into_a_feature_gives_the_same(cell, feature, folder):
    outcomes = {name: _outcome(lambda way=way: way(cell, Features(a=feature))) for name, way in _WAYS.items()}
    first = outcomes["from_list"]
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Exception) == isinstance(first, Exception), f"{name}: {outcome!r}, not {first!r}"
        if not isinstance(first, Exception):
            equality.same([{"a": first}], [{"a": outcome}])
    if not isinstance(first, Exception):
        _require_whole(cell, first, feature)


def _require_whole(before, after, feature):
    """Raise if a value is another number, if a number is no day or time, or if one is no container of the other."""
    if isinstance(before, dict):
        assert isinstance(after, (dict, str, bytes)), f"{after!r} from {before!r}"
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            _require_whole(value, after[key], feature["x"] if isinstance(feature, dict) else feature)
    elif isinstance(before, list) and isinstance(after, list):
        for value, result in zip(before, after, strict=True):
            _require_whole(value, result, getattr(feature, "feature", feature))
    elif isinstance(before, int) and isinstance(after, (int, float)):
        assert before == after
    elif isinstance(before, int) and type(after) is dt.date:
        assert (after - dt.date(1970, 1, 1)) // dt.timedelta(milliseconds=1) == before
    elif isinstance(before, int) and isinstance(after, dt.time):
        moment = dt.datetime.combine(dt.date(1970, 1, 1), after) - dt.datetime(1970, 1, 1)
        unit = dt.timedelta(seconds=1) if "[s]" in feature.dtype else dt.timedelta(microseconds=1)
        assert moment // unit == before


@law(examples=80, cell=_CELLS, feature=_FEATURES)
def test_every_cast_to_a_feature_gives_the_same(cell, feature, folder):
    try:
        data = ours.Dataset.from_list([{"a": cell}])
    except DatasetsError:
        return
    features = Features(a=feature)
    casts = {
        "cast": lambda: data.cast(features),
        "cast_column": lambda: data.cast_column("a", feature),
        "shuffled": lambda: ours.concatenate_datasets([data, data]).shuffle(seed=1).cast(features),
        "stream": lambda: data.to_iterable_dataset().cast(features),
        "map of tables": lambda: data.with_format("arrow").map(lambda table: table, batched=True).with_format(None).cast(features),
    }  # fmt: skip
    outcomes = {name: _outcome(cast) for name, cast in casts.items()}
    first = outcomes["cast"]
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Exception) == isinstance(first, Exception), f"{name}: {outcome!r}, not {first!r}"
        if not isinstance(first, Exception):
            equality.same([{"a": first}], [{"a": outcome}])
    if not isinstance(first, Exception) and not isinstance(data.features["a"], Json):
        _require_whole(cell, first, feature)
