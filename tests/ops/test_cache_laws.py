"""Two calls that differ in anything that a result depends on never share a cache entry; two that do not, do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_datasets import (
    ClassLabel,
    Dataset,
    Features,
    Json,
    Value,
    config,
    disable_caching,
    enable_caching,
    load_dataset,
)
from crucible_datasets.cache import default_cache

ROWS = 40
DATA: dict[str, tuple[list[Any], Any]] = {
    "integers": (list(range(ROWS)), Value("int64")),
    "small integers": (list(range(ROWS)), Value("int8")),
    "floats": ([float(row) for row in range(ROWS)], Value("float64")),
    "negative zero": ([-0.0, *map(float, range(1, ROWS))], Value("float64")),
    "labels": ([row % 2 for row in range(ROWS)], ClassLabel(names=["no", "yes"])),
    "other labels": ([row % 2 for row in range(ROWS)], ClassLabel(names=["é", "日"])),
    "numbers of labels": ([row % 2 for row in range(ROWS)], Value("int64")),
    "texts": ([str(row) for row in range(ROWS)], Value("string")),
    "json": (list(range(ROWS)), Json()),
    "objects": ([{"x": row, "y": 0} for row in range(ROWS)], {"x": Value("int64"), "y": Value("int64")}),
    "other objects": ([{"y": row, "x": 0} for row in range(ROWS)], {"x": Value("int64"), "y": Value("int64")}),
}
VIEWS = {
    "all": lambda dataset: dataset,
    "fewer": lambda dataset: dataset.select(range(ROWS - 1)),
    "reversed": lambda dataset: dataset.select(range(ROWS - 1, -1, -1)),
    "shuffled": lambda dataset: dataset.shuffle(seed=1),
    "more columns": lambda dataset: dataset.add_column("z", [1] * ROWS),
    "numpy": lambda dataset: dataset.with_format("numpy"),
    "numpy, one column": lambda dataset: dataset.with_format("numpy", columns=["n"]),
}
CONSTANT = 1


def seen(rows: Any, *more: Any, **arguments: Any) -> str:
    """What a function can see of its arguments."""
    values = {name: [repr(value), type(value).__name__] for name, value in dict(rows).items() if name != "note"}
    return json.dumps([values, repr(more), repr(arguments), CONSTANT])


def of_row(row, *more, **arguments):
    return {"seen": seen(row, *more, **arguments)}


def of_row_twice(row, *more, **arguments):
    return {"seen": seen(row, *more, **arguments) * 2}


def of_batch(batch, *more, **arguments):
    size = len(batch["n"])
    return {"seen": [f"{size} {arguments} {more and len(more[0])}"] * size}


def is_seen(row, *more, **arguments):
    return len(seen(row, *more, **arguments)) % 2 == 0


def batch_is_even(batch, *more, **arguments):
    size = len(batch["n"])
    return [(size + len(repr(arguments))) % 2 == 0] * size


def adder(amount):
    return lambda row: {"seen": repr((amount, type(amount).__name__))}


ARGUMENTS: list[dict[str, Any] | None] = [
    *(None, {"a": 0}, {"a": 0.0}, {"a": -0.0}, {"a": False}, {"a": "0"}, {"a": [0]}, {"a": (0,)}, {"b": 0}),
    *({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}, {"a": [0] * 70}, {"a": [False] * 70}, {"a": [-0.0] * 70}),
    *({"a": np.zeros(2)}, {"a": np.zeros((1, 2))}, {"a": np.int8(0)}, {"a": float("nan")}),
]


@st.composite
def calls(draw):
    """A call of map or filter, as a function without arguments that runs it."""
    data, view = draw(st.sampled_from(sorted(DATA))), draw(st.sampled_from(sorted(VIEWS)))
    options: dict[str, Any] = {"fn_kwargs": draw(st.sampled_from(ARGUMENTS)), "with_indices": draw(st.booleans())}
    operation = draw(st.sampled_from(["map", "filter"]))
    if batched := draw(st.booleans()):
        function: Any = of_batch if operation == "map" else batch_is_even
        size = draw(st.sampled_from([1, 7, 10, None]))
        options |= {"batched": batched, "batch_size": size}
    elif operation == "map":
        function = draw(st.sampled_from([of_row, of_row_twice]))
        options |= {"remove_columns": draw(st.sampled_from([None, ["n"]]))}
    else:
        function = is_seen

    def run() -> Dataset:
        values, feature = DATA[data]
        dataset = VIEWS[view](Dataset.from_dict({"n": values}, features=Features({"n": feature})))
        return getattr(dataset, operation)(function, **options)

    return run


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    yield
    enable_caching()


def facts(dataset: Dataset) -> str:
    plain = dataset.with_format(None)
    return repr((list(plain.features.items()), plain.to_list()))


def uncached(run) -> str:
    disable_caching()
    try:
        return facts(run())
    finally:
        enable_caching()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(several=st.lists(calls(), min_size=2, max_size=4))
def test_no_call_gets_the_result_of_another(cache, several):
    results = [facts(run()) for run in several]
    assert results == [uncached(run) for run in several]
    num_entries = len(list(default_cache().entries()))
    assert [facts(run()) for run in several] == results
    assert len(list(default_cache().entries())) == num_entries


@pytest.mark.parametrize("operation", ["map", "filter"])
def test_workers_share_a_result_unless_the_function_can_see_them(cache, operation):
    dataset = Dataset.from_dict({"n": list(range(ROWS))})
    function = of_batch if operation == "map" else batch_is_even
    shards = [None, 1, 2, 3]
    for options in ({"batched": True, "batch_size": 9}, {"batched": True, "batch_size": None}):
        runs = [
            lambda num_proc=num_proc, options=options: getattr(dataset, operation)(
                function, num_proc=num_proc, **options
            )
            for num_proc in shards
        ]
        assert [facts(run()) for run in runs] == [uncached(run) for run in runs]


def test_what_a_function_refers_to_counts(cache, monkeypatch):
    dataset = Dataset.from_dict({"n": [1]})
    for constant in (1, True, 1.0, "1", None, [1], (1,)):
        monkeypatch.setitem(globals(), "CONSTANT", constant)
        assert json.loads(dataset.map(of_row)["seen"][0])[3] == json.loads(json.dumps(constant))
        assert dataset.map(adder(constant))["seen"][0] == repr((constant, type(constant).__name__))


def test_the_order_of_features_counts(cache):
    dataset = Dataset.from_dict({"a": [1], "b": [2]})
    types = {"a": Value("int8"), "b": Value("int16"), "c": Value("int64")}
    for names in ("abc", "cba", "bca"):
        features = Features({name: types[name] for name in names})
        assert dataset.map(lambda row: {"c": 3}, features=features).column_names == list(names)


def numbered(values):
    for position, value in enumerate(values):
        yield {"position": position, "value": repr(value)}


def test_generators_go_by_their_arguments(cache):
    values = [[1, 2, 3, 4], (1, 2, 3, 4), [1.0, 2, 3, 4], [True, 2, 3, 4], [4, 3, 2, 1]]
    small = Features({"position": Value("int8"), "value": Value("string")})
    runs = [
        lambda value=value, options=options: Dataset.from_generator(numbered, gen_kwargs={"values": value}, **options)
        for value in values
        for options in ({}, {"num_proc": 2}, {"features": small}, {"features": Features(dict(reversed(small.items())))})
    ]
    assert [facts(run()) for run in runs] == [uncached(run) for run in runs]


def test_a_chosen_fingerprint_does_not_stand_for_features(cache):
    small = Features({"position": Value("int8"), "value": Value("string")})
    for features in (None, small):
        dataset = Dataset.from_generator(numbered, features, gen_kwargs={"values": [1]}, fingerprint="chosen")
        assert dataset.features["position"] == Value("int8" if features else "int64")


FILES = {
    "a.csv": "n,m\n1,x\n,NA\n",
    "b.csv": "n,m\n2,y\n",
    "a.jsonl": '{"n": 1}\n{"n": null}\n',
    "b.jsonl": '{"n": 2}\n',
}
LOADS: list[tuple[str, Any, dict[str, Any]]] = [
    ("csv", ["a.csv"], {}),
    ("csv", ["a.csv", "b.csv"], {}),
    ("csv", ["b.csv", "a.csv"], {}),
    ("csv", ["a.csv"], {"keep_default_na": False}),
    ("csv", ["a.csv"], {"na_values": ["1"]}),
    ("csv", ["a.csv"], {"header": None}),
    ("csv", ["a.csv"], {"usecols": ["m"]}),
    ("csv", ["a.csv"], {"features": Features({"n": Value("int8"), "m": Value("string")})}),
    ("csv", ["a.csv"], {"features": Features({"n": Value("string"), "m": Value("string")})}),
    ("json", ["a.jsonl"], {}),
    ("json", ["a.jsonl", "b.jsonl"], {}),
    ("json", ["b.jsonl", "a.jsonl"], {}),
    ("json", ["a.jsonl"], {"features": Features({"n": Value("float64")})}),
    ("text", ["a.jsonl"], {}),
    ("text", ["a.jsonl"], {"sample_by": "document"}),
]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(several=st.lists(st.sampled_from(LOADS), min_size=2, max_size=5))
def test_files_are_prepared_for_each_way_to_read_them(cache, tmp_path, several):
    for name, content in FILES.items():
        if not (tmp_path / name).exists():
            Path(tmp_path, name).write_text(content)

    def load(call) -> Dataset:
        format, names, options = call
        return load_dataset(format, data_files=[str(tmp_path / name) for name in names], split="train", **options)

    results = [facts(load(call)) for call in several]
    assert results == [uncached(lambda call=call: load(call)) for call in several]
    num_entries = len(list(default_cache().entries()))
    assert [facts(load(call)) for call in several] == results
    assert len(list(default_cache().entries())) == num_entries
