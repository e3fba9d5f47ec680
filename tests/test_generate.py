"""Rows that a function yields: their types, their errors, and the cache that keeps them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crucible_datasets
from crucible_datasets import Dataset, Features, Json, List, Value, fingerprint
from crucible_datasets.exceptions import DatasetGenerationError
from crucible_datasets.ops import generate


@pytest.fixture(params=["file", "memory"])
def make(request, tmp_path):
    """`from_generator` over a list of rows, in both places where rows can go."""

    def made(rows, **arguments):
        place = {"cache_dir": str(tmp_path)} if request.param == "file" else {"keep_in_memory": True}
        return Dataset.from_generator(lambda: iter(rows), **place, **arguments)

    return made


@pytest.fixture
def small_batches(monkeypatch):
    """Batches of two rows, so that few rows are many batches."""
    monkeypatch.setattr(generate, "_ROWS_PER_BATCH", 2)


def files_under(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


# Types

GROWTH = {
    "int then float": ([1, 2, 3.5], Value("float64")),
    "float then int": ([1.5, 2.5, 3], Value("float64")),
    "null then string": ([None, None, "a"], Value("string")),
    "string then null": (["a", None, None], Value("string")),
    "null then list": ([None, None, [1]], List(Value("int64"))),
    "empty list then strings": ([[], [], ["a"]], List(Value("string"))),
    "struct with a new field": ([{"x": 1}, {"x": 2}, {"x": 3, "y": "a"}], Json()),
    "struct whose field grows": ([{"x": None}, {"x": 1}, {"x": 1.5}], {"x": Value("float64")}),
    "list of structs": ([[{"x": 1}], [], [{"x": 2.5}]], List({"x": Value("float64")})),
    "list of structs of other keys": ([[{"x": 1}], [], [{"y": 2}]], List(Json())),
    "only nulls": ([None, None, None], Value("null")),
    "number then text": ([1, 2, "a"], Json()),
    "struct then text": ([{"x": 1}, {"x": 2}, "a"], Json()),
}


def filled(value, feature):
    """The value with the fields that rows after it brought."""
    if isinstance(feature, dict) and value is not None:
        return {name: filled(value.get(name), kind) for name, kind in feature.items()}
    if isinstance(feature, List) and value is not None:
        return [filled(item, feature.feature) for item in value]
    return value


@pytest.mark.parametrize("name", GROWTH)
def test_types_grow_with_the_rows(make, small_batches, name):
    """A column's type holds all of its values, also those that came before it grew."""
    values, feature = GROWTH[name]
    dataset = make([{"a": value} for value in values])
    assert dataset.features == Features({"a": feature})
    assert dataset["a"][:] == [filled(value, feature) for value in values]


numbers = st.one_of(st.none(), st.integers(-9, 9), st.floats(-9, 9))
leaves = st.one_of(numbers, st.booleans(), st.text("ab1", max_size=2))


def nested(values):
    return st.lists(values, max_size=2) | st.dictionaries(st.sampled_from("xyz"), values, max_size=2)


columns = st.one_of(
    st.lists(numbers, min_size=1, max_size=9),
    st.lists(leaves, min_size=1, max_size=9),
    st.lists(st.fixed_dictionaries({"x": numbers, "y": nested(leaves)}), min_size=1, max_size=9),
    st.lists(st.recursive(leaves, nested, max_leaves=4), min_size=1, max_size=9),
)


@given(columns, st.integers(1, 4))
def test_types_do_not_depend_on_the_batches(values, size):
    rows = [{"a": value} for value in values]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "_ROWS_PER_BATCH", size)
        small = Dataset.from_generator(lambda: iter(rows), keep_in_memory=True)
    whole = Dataset.from_list(rows, on_mixed_types="use_json")
    assert small.features == whole.features
    assert small[:] == whole[:]


def test_later_keys_are_columns_too(make, small_batches):
    dataset = make([{"a": 1}, {"a": 2}, {"b": "x"}, {"a": 4, "c": []}])
    assert dataset[:] == {"a": [1, 2, None, 4], "b": [None, None, "x", None], "c": [None, None, None, []]}


def test_features_decide(make):
    features = Features({"a": Value("float32"), "c": Value("string")})
    assert make([{"a": 1}], features=features).to_list() == [{"a": 1.0, "c": None}]
    with pytest.raises(DatasetGenerationError, match=r"row 2001.*not in the features: b"):
        make([{"a": 1}] * 2001 + [{"a": 1, "b": 2}], features=features)
    assert make([], features=Features({"a": Value("int8")})).features == Features({"a": Value("int8")})


def test_many_rows_keep_their_order(make):
    rows = [{"n": n, "s": str(n), "v": np.arange(n % 3)} for n in range(5001)]
    dataset = make(rows)
    assert dataset["n"][:] == list(range(5001))
    assert dataset[4999] == {"n": 4999, "s": "4999", "v": [0]}
    assert str(dataset.split) == "train"


# Errors


def failing_at(row: int):
    def rows():
        yield from ({"a": n} for n in range(row))
        raise KeyError("boom")

    return rows


@pytest.mark.parametrize("row", [0, 1, 7])
def test_errors_name_the_row_and_keep_the_cause(tmp_path, row):
    with pytest.raises(DatasetGenerationError, match=rf"row {row}\b.*boom") as caught:
        Dataset.from_generator(failing_at(row), cache_dir=str(tmp_path))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.row == row


@pytest.mark.parametrize("value", [5, "text", None, [1], ("a", 1)])
def test_rows_are_dicts(make, value):
    with pytest.raises(DatasetGenerationError, match=rf"row 1\b.*{type(value).__name__}"):
        make([{"a": 1}, value])


def test_a_value_that_does_not_fit_its_feature(make):
    with pytest.raises((DatasetGenerationError, ValueError), match="'a'"):
        make([{"a": 1}, {"a": "x"}], features=Features({"a": Value("int64")}))


def test_no_rows_and_no_features(make):
    with pytest.raises(DatasetGenerationError, match="features"):
        make([])


def test_only_functions_generate():
    with pytest.raises(TypeError):
        Dataset.from_generator(5)


def test_interrupted_generation_leaves_nothing(tmp_path):
    """A failed or interrupted run is no cache entry: the next one starts over."""
    for stop in (KeyboardInterrupt, ValueError):

        def rows(stop=stop):
            yield from ({"a": n} for n in range(5000))
            raise stop

        with pytest.raises((KeyboardInterrupt, DatasetGenerationError)):
            Dataset.from_generator(rows, cache_dir=str(tmp_path), fingerprint="key")
        assert [name for name in files_under(tmp_path) if name.endswith(".arrow")] == []
    again = Dataset.from_generator(lambda: iter([{"a": 1}]), cache_dir=str(tmp_path), fingerprint="key")
    assert again[:] == {"a": [1]}


# The cache


def counted(log: str, start: int = 0):
    """Three rows, and a line in a file for each time they are made."""
    with open(log, "a", encoding="utf-8") as file:
        file.write("made\n")
    yield from ({"n": n} for n in range(start, start + 3))


@pytest.fixture
def log(tmp_path) -> str:
    path = tmp_path / "log.txt"
    path.touch()
    return str(path)


def times_made(log: str) -> int:
    return len(Path(log).read_text(encoding="utf-8").splitlines())


def test_a_second_call_finds_the_rows(tmp_path, log):
    first, second = (
        Dataset.from_generator(counted, gen_kwargs={"log": log}, cache_dir=str(tmp_path / "cache")) for _ in "ab"
    )
    assert times_made(log) == 1
    assert first[:] == second[:] == {"n": [0, 1, 2]}
    assert first._fingerprint == second._fingerprint
    assert first.cache_files == second.cache_files != []


def test_other_arguments_are_other_rows(tmp_path, log):
    def made(**arguments):
        given = {"log": log, "start": arguments.pop("start", 0)}
        return Dataset.from_generator(counted, gen_kwargs=given, cache_dir=str(tmp_path / "cache"), **arguments)

    assert made(start=5)["n"][:] == [5, 6, 7]
    assert made(start=6)["n"][:] == [6, 7, 8]
    assert made()["n"][:] == [0, 1, 2]
    assert made(features=Features({"n": Value("int8")})).features == Features({"n": Value("int8")})


SCRIPT = """
    import sys
    from crucible_datasets import Dataset

    def rows(size):
        print("called")
        for n in range(size):
            yield {"n": n}

    dataset = Dataset.from_generator(rows, gen_kwargs={"size": 4}, cache_dir=sys.argv[1])
    print(dataset["n"][:])
"""


def test_another_process_finds_the_rows(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(tmp_path / "cache")]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split("\n") for _ in "ab"
    ]
    assert runs[0][:2] == ["called", "[0, 1, 2, 3]"]
    assert runs[1][:1] == ["[0, 1, 2, 3]"]


def test_what_is_kept_in_memory_is_not_written(tmp_path, log):
    where = {"cache_dir": str(tmp_path / "cache"), "keep_in_memory": True}
    dataset = Dataset.from_generator(counted, gen_kwargs={"log": log}, **where)
    assert dataset["n"][:] == [0, 1, 2]
    assert (dataset.cache_files, files_under(tmp_path / "cache")) == ([], [])


def test_without_caching_nothing_is_written(tmp_path, log):
    crucible_datasets.disable_caching()
    try:
        for _ in range(2):
            dataset = Dataset.from_generator(counted, gen_kwargs={"log": log}, cache_dir=str(tmp_path / "cache"))
    finally:
        crucible_datasets.enable_caching()
    assert dataset["n"][:] == [0, 1, 2]
    assert (times_made(log), files_under(tmp_path / "cache")) == (2, [])


# Processes


def shard_rows(shards, factor):
    for shard in shards:
        yield from ({"shard": shard, "n": factor * n, "pid": os.getpid()} for n in range(3))


@pytest.mark.parametrize("num_proc", [1, 2])
def test_lists_are_dealt_out_to_processes(tmp_path, num_proc):
    shards = ["a", "b", "c"]
    dataset = Dataset.from_generator(
        shard_rows, gen_kwargs={"shards": shards, "factor": 2}, num_proc=num_proc, cache_dir=str(tmp_path)
    )
    assert dataset.remove_columns("pid").to_list() == [
        {"shard": shard, "n": 2 * n} for shard in shards for n in range(3)
    ]
    workers = set(dataset["pid"])
    assert workers == {os.getpid()} if num_proc == 1 else os.getpid() not in workers


def test_an_error_in_a_process_is_raised_here(tmp_path):
    def rows(shards):
        for shard in shards:
            yield {"n": 1 / shard}

    with pytest.raises(DatasetGenerationError, match="row 0.*ZeroDivisionError"):
        Dataset.from_generator(rows, gen_kwargs={"shards": [1, 0]}, num_proc=2, cache_dir=str(tmp_path))


def test_lists_of_unequal_length_cannot_be_dealt_out(tmp_path):
    with pytest.raises(ValueError, match="equally long"):
        Dataset.from_generator(
            lambda a, b: iter([{"n": 1}]), gen_kwargs={"a": [1], "b": [1, 2]}, num_proc=2, cache_dir=str(tmp_path)
        )


def test_what_cannot_be_hashed_is_named_as_the_caller_calls_it(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(fingerprint.logger, "warning", told.append)
    once = (number for number in [1])
    Dataset.from_generator(lambda: ({"a": number} for number in once), cache_dir=str(tmp_path))
    assert "in generator of from_generator" in told[0] and "The result of from_generator gets" in told[0]
