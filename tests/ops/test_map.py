"""`map` means what it means on a list of dicts, whatever the function does to its rows and however blocks are cut."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import pickle
from collections.abc import Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import (
    Dataset,
    DatasetDict,
    Features,
    Image,
    List,
    Value,
    config,
    disable_caching,
    enable_caching,
)
from crucible_datasets.exceptions import FunctionResultError, RowCountError
from crucible_datasets.ops.mapping import shards

FEATURES = Features(
    {"n": Value("int64"), "s": Value("string"), "l": List(Value("int64")), "d": List({"r": Value("string")})}
)


def row_of(place: int) -> dict[str, Any]:
    return {
        "n": place,
        "s": None if place % 5 == 3 else f"text {place}",
        "l": None if place % 7 == 2 else list(range(place % 4)),
        "d": [{"r": str(place)} for _ in range(place % 3)],
    }


def set_number(row):
    row["n"] = row["n"] * 2


def set_text(row):
    row["s"] = "new"


def set_new(row):
    row["new"] = row.get("n", 0)


def append(row):
    if row.get("l") is not None:
        row["l"].append(7)


def change_inside(row):
    for message in row.get("d") or []:
        message["r"] = message["r"] + "!"


def same_again(row):
    row["s"] = row.get("s")


def look(row):
    return str(row)


def delete(row):
    row.pop("l", None)


def update(row):
    row.update(n=-1, other="x")


STEPS = [set_number, set_text, set_new, append, change_inside, same_again, look, delete, update]
RETURNS = {
    "row": lambda row: row,
    "nothing": lambda row: None,
    "dict": lambda row: {"made": len(row)},
    "all": lambda row: {**row},
    "empty": lambda row: {},
    "old": lambda row: {"n": 5, "made": 1},
    "copy": lambda row: row.copy(),
}


class Program:
    """A function of rows, made of steps that some rows take and of what is returned for each."""

    def __init__(self, steps, returns):
        self.steps, self.returns = steps, returns

    def apply(self, row, place):
        for step, every in self.steps:
            if place % every == 0:
                step(row)
        return RETURNS[self.returns[place % len(self.returns)]]

    def __call__(self, row, place):
        return self.apply(row, place)(row)


programs = st.builds(
    Program,
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(1, 3)), max_size=3),
    st.lists(st.sampled_from(sorted(RETURNS)), min_size=1, max_size=3),
)


def expected(rows: list[dict], program: Program, removed: list[str]) -> list[dict]:
    """What HF documents, on lists: what is returned is laid over the row as the function left it."""
    results: list[dict | None] = []
    for place, row in enumerate(rows):
        work = copy.deepcopy(row)
        returned = program(work, place)
        left = {name: value for name, value in work.items() if name not in removed}
        if returned is None:
            results.append(None)
        elif program.returns[place % len(program.returns)] in ("row", "copy"):
            results.append(left)
        else:
            results.append({**left, **returned})
    if all(result is None for result in results):
        return rows
    loud = [result for result in results if result is not None]
    there = dict.fromkeys(name for result in loud for name in result)
    order = [name for name in FEATURES if name in there] + [name for name in there if name not in FEATURES]
    return [
        {name: (row if result is None and name not in removed else result or {}).get(name) for name in order}
        for row, result in zip(rows, results, strict=True)
    ]


@contextmanager
def small_blocks():
    """Blocks and parts of a few rows, so that short datasets have many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "_BLOCK_ROWS", 3)
        patch.setattr(shards, "_GATHERED_ROWS", 4)
        patch.setattr(shards, "_PART_ROWS", 7)
        yield


@given(
    program=programs,
    size=st.integers(1, 20),
    removed=st.lists(st.sampled_from(["n", "s", "l"]), max_size=2, unique=True),
    seed=st.none() | st.integers(0, 9),
    in_memory=st.booleans(),
)
def test_sharing_never_changes_values(program, size, removed, seed, in_memory):
    with small_blocks():
        rows = [row_of(place) for place in range(size)]
        dataset = Dataset.from_list(rows, features=FEATURES)
        if seed is not None:
            dataset = dataset.shuffle(seed=seed)
            rows = list(dataset)
        before = copy.deepcopy(rows)
        made = dataset.map(program, with_indices=True, remove_columns=removed, keep_in_memory=in_memory)
        assert made.to_list() == expected(rows, program, removed)
        assert dataset.to_list() == before
        assert made.filter(lambda row: True).to_list() == made.to_list()


# Batches


def batch_of(rows: list[dict]) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in rows[0]}


BATCH_FUNCTIONS = {
    "add": lambda batch: {"size": [len(batch["n"])] * len(batch["n"])},
    "array": lambda batch: {"double": np.array(batch["n"]) * 2},
    "set": lambda batch: {"n": [-value for value in batch["n"]]},
    "same": lambda batch: {"l": batch["l"], "s": list(batch["s"])},
    "repeat": lambda batch: {name: values * 2 for name, values in batch.items()},
    "fewer": lambda batch: {name: values[::2] for name, values in batch.items()},
    "none": lambda batch: None,
    "sometimes": lambda batch: {"m": batch["n"]} if batch["n"][0] % 4 else None,
}


@given(
    kind=st.sampled_from(sorted(BATCH_FUNCTIONS)),
    size=st.integers(1, 15),
    batch_size=st.integers(1, 6) | st.none(),
    drop_last=st.booleans(),
)
def test_batches_mean_what_they_mean_on_lists(kind, size, batch_size, drop_last):
    function, rows = BATCH_FUNCTIONS[kind], [row_of(place) for place in range(size)]
    step = batch_size or size
    pieces = [rows[at : at + step] for at in range(0, size, step)]
    pieces = [piece for piece in pieces if len(piece) == step or not drop_last]
    wanted: list[dict] = []
    for piece in pieces:
        columns = {**batch_of(copy.deepcopy(piece)), **(function(batch_of(copy.deepcopy(piece))) or {})}
        wanted += [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    with small_blocks():
        made = Dataset.from_list(rows, features=FEATURES).map(
            function, batched=True, batch_size=batch_size, drop_last_batch=drop_last
        )
    names = dict.fromkeys(name for row in wanted for name in row)
    assert made.to_list() == [{name: row[name] if name in row else None for name in names} for row in wanted]


def test_a_batch_whose_columns_differ_in_length_is_refused():
    dataset = Dataset.from_dict({"a": [1, 2, 3]})
    with pytest.raises(ValueError, match="'b' has 1 values, but 3"):
        dataset.map(lambda batch: {"b": [1]}, batched=True)


# Rows that are dicts


def of_row(use):
    """What a use of the row gives, as text; the row itself and a plain dict must not be told apart."""
    dataset = Dataset.from_list([row_of(place) for place in range(6)], features=FEATURES)
    seen = []

    def look(row):
        seen.append(use(row))

    dataset.map(look, load_from_cache_file=False, cache_key=os.urandom(4).hex())
    return seen


def unknown_key(row):
    with pytest.raises(KeyError) as caught:
        row["x"]
    return caught.value.args


USES = {
    "star": lambda row: {**row},
    "keywords": lambda row: (lambda **given: given)(**row),
    "dict": lambda row: dict(row),
    "json": lambda row: json.loads(json.dumps(row)),
    "json indented": lambda row: json.loads(json.dumps(row, indent=1, sort_keys=True)),
    "pickle": lambda row: pickle.loads(pickle.dumps(row)),
    "copy": lambda row: dict(copy.copy(row)),
    "deepcopy": lambda row: copy.deepcopy(row),
    "items": lambda row: dict(row.items()),
    "values": lambda row: list(row.values()),
    "keys": lambda row: list(row.keys()),
    "iter": lambda row: list(row),
    "reversed": lambda row: list(reversed(row)),
    "len": lambda row: len(row),
    "in": lambda row: ("n" in row, "x" in row, bool(row)),
    "get": lambda row: (row.get("n"), row.get("x"), row.get("x", 3)),
    "or": lambda row: row | {"n": 1, "z": 2},
    "ror": lambda row: {"n": 1, "z": 2} | row,
    "equal": lambda row: (row == dict(row), dict(row) == row, row != dict(row), row == {}),
    "repr": lambda row: (repr(row), str(row), f"{row}"),
    "format": lambda row: ("{n} {s}".format(**row), "{n}".format_map(row), "%(n)s" % row),  # noqa: UP031
    "update": lambda row: (lambda other: other.update(row) or other)({"z": 1}),
    "match": lambda row: next(n for n in [row] if isinstance(n, dict))["n"],
    "types": lambda row: [isinstance(row, kind) for kind in (dict, Mapping, MutableMapping)],
    "set": lambda row: (row.__setitem__("n", 5), row["n"], dict(row))[1:],
    "setdefault": lambda row: (row.setdefault("n", 9), row.setdefault("z", 9), dict(row)),
    "pop": lambda row: (row.pop("n"), row.pop("x", 7), dict(row)),
    "popitem": lambda row: (row.popitem(), dict(row)),
    "delete": lambda row: (row.__delitem__("s"), dict(row))[1:],
    "clear": lambda row: (row.clear(), dict(row))[1:],
    "ior": lambda row: (row.__ior__({"n": 8}), dict(row))[1],
    "map": lambda row: sorted(map(str, row.items())),
    "unknown": lambda row: unknown_key(row),
}


@pytest.mark.parametrize("use", sorted(USES))
def test_a_row_is_a_dict(use):
    assert of_row(USES[use]) == [USES[use](row_of(place)) for place in range(6)]


@pytest.mark.parametrize("use", ["star", "dict", "json", "pickle", "items", "in", "get", "or", "equal", "repr", "pop"])
def test_a_batch_is_a_dict(use):
    rows = [row_of(place) for place in range(4)]
    seen = []
    Dataset.from_list(rows, features=FEATURES).map(
        lambda batch: seen.append(USES[use](batch)), batched=True, cache_key=os.urandom(4).hex()
    )
    assert seen == [USES[use](batch_of(rows))]


def test_rows_that_are_kept_stay_what_they_were():
    kept = []
    dataset = Dataset.from_list([row_of(place) for place in range(50)], features=FEATURES)
    with small_blocks():
        dataset.map(lambda row: kept.append(row), cache_key=os.urandom(4).hex())
    assert [dict(row) for row in kept] == [row_of(place) for place in range(50)]


# Files


def files_of(folder: object) -> int:
    return sum(
        os.path.getsize(os.path.join(home, name))
        for home, _, names in os.walk(folder)
        for name in names
        if name.endswith((".run", ".arrow"))
    )


def test_only_new_columns_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path)
    rows = 20_000
    dataset = Dataset.from_dict({"text": [f"text number {place} " * 20 for place in range(rows)]})
    made = dataset.map(lambda row: {"size": len(row["text"])})
    assert made["size"][:3] == [len(row) for row in dataset["text"][:3]]
    assert files_of(tmp_path) <= 1.1 * 8 * rows
    again = made.map(lambda row: {**row, "more": row["size"] + 1})
    assert again.column_names == ["text", "size", "more"]
    assert files_of(tmp_path) <= 2 * 1.1 * 8 * rows


def test_a_hit_equals_what_is_worked_out_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path)
    calls = []

    def function(row):
        calls.append(row["n"])
        return {"m": row["n"] + 1, "l": [1]}

    dataset = Dataset.from_list([row_of(place) for place in range(9)], features=FEATURES).shuffle(seed=1)
    first = dataset.map(function, cache_key="one")
    assert len(calls) == 9
    second = dataset.map(function, cache_key="one")
    assert len(calls) == 9
    assert second.to_list() == first.to_list()
    assert second.features == first.features
    assert second._fingerprint == first._fingerprint
    third = dataset.map(function, cache_key="one", load_from_cache_file=False)
    assert len(calls) == 18
    assert third.to_list() == first.to_list()
    dataset.filter(lambda row: calls.append(0) or True, cache_key="two")
    dataset.filter(lambda row: calls.append(0) or True, cache_key="two")
    assert len(calls) == 27


def test_nothing_is_cached_when_caching_is_disabled(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path)
    disable_caching()
    try:
        made = Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"]})
        assert made.filter(lambda row: row["b"] > 1).to_list() == [{"a": 2, "b": 2}]
    finally:
        enable_caching()
    assert not list(tmp_path.rglob("*.run"))
    assert Dataset.from_dict({"a": [1]}).map(lambda row: {"b": 1}, keep_in_memory=True).cache_files == []


def test_results_in_memory_leave_no_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"]}, keep_in_memory=True)
    assert made["b"][:] == [1, 2]
    assert not list(tmp_path.rglob("*.run"))


# Types


def test_types_are_those_of_all_rows():
    with small_blocks():
        dataset = Dataset.from_dict({"n": list(range(12))})
        late = dataset.map(lambda row: {"b": None if row["n"] < 8 else "x"})
        assert late.features["b"] == Value("string")
        wide = dataset.map(lambda row: {"b": row["n"] if row["n"] < 8 else 0.5, "n": row["n"]})
        assert wide.features["b"] == Value("float64")
        mixed = dataset.map(lambda row: {"b": row["n"] if row["n"] < 8 else "x"})
        assert mixed["b"][:] == [*range(8), *"xxxx"]
        wide = dataset.map(lambda row: {"n": float(row["n"])})
        assert wide.features["n"] == Value("int64")
        text = dataset.map(lambda row: {"n": str(row["n"])})
        assert text["n"][:] == [str(n) for n in range(12)]
        words = dataset.map(lambda row: {"n": str(row["n"]) if row["n"] < 8 else "x"})
        assert words["n"][:] == [*map(str, range(8)), *"xxxx"]


def test_the_sign_of_zero_is_a_change():
    dataset = Dataset.from_dict({"x": [0.0, 1.0], "l": [[0.0], [1.0]]})

    def negated(row):
        row["l"][0] = -row["l"][0]
        return {"x": -row["x"], "l": row["l"]}

    made = dataset.map(negated)
    assert [str(value) for value in made["x"]] == ["-0.0", "-1.0"]
    assert str(made["l"][0]) == "[-0.0]"


# Errors


def failing(row, place):
    if place % 3 == 1:
        raise ValueError(f"bad {place}")
    return {"ok": place}


def test_an_error_says_where_it_came_from():
    dataset = Dataset.from_dict({"a": list(range(2000))})
    with pytest.raises(ZeroDivisionError) as caught:
        dataset.map(lambda row: {"b": 1 / (row["a"] - 1500)})
    assert any("row 1500" in note for note in caught.value.__notes__)
    with pytest.raises(KeyError) as caught:
        dataset.map(lambda batch: batch["b"], batched=True, batch_size=500)
    assert any("rows 0 to 499" in note for note in caught.value.__notes__)
    with pytest.raises(FunctionResultError):
        dataset.map(lambda row: 3)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("operation", ["map", "filter"])
def test_asking_for_a_column_that_is_not_there_tells_which_are(stream, batched, operation):
    dataset = Dataset.from_dict({"text": ["a", "b"], "label": [0, 1]})
    dataset = dataset.to_iterable_dataset() if stream else dataset
    with pytest.raises(KeyError) as caught:
        list(getattr(dataset, operation)(lambda row: row["lable"], batched=batched))
    assert any("row" in note for note in caught.value.__notes__)
    assert any("Did you mean 'label'? Available: text, label." in note for note in caught.value.__notes__)


def test_other_errors_of_a_dict_are_left_alone():
    with pytest.raises(KeyError) as caught:
        Dataset.from_dict({"a": [1]}).map(lambda row: {"b": {}[row["a"]]})
    assert len(caught.value.__notes__) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_rows_that_do_not_fit_beside_the_old_ones_say_what_to_remove(stream):
    dataset = Dataset.from_dict({"a": [1, 2], "b": [3, 4]})
    dataset = dataset.to_iterable_dataset() if stream else dataset
    with pytest.raises(RowCountError, match=r"remove_columns=\['a', 'b'\]"):
        list(dataset.map(lambda batch: {"c": [0] * 5}, batched=True))


@pytest.mark.parametrize("batched", [False, True])
def test_types_are_kept_only_when_asked_to(batched):
    dataset = Dataset.from_dict({"a": [1, 2]}, features=Features({"a": Value("int32")}))

    def as_float(row):
        return {"a": [float(value) for value in row["a"]] if batched else float(row["a"])}

    assert dataset.map(as_float, batched=batched).features["a"] == Value("int32")
    changed = dataset.map(as_float, batched=batched, try_original_type=False)
    assert changed.features["a"] == Value("float64")
    assert changed["a"][:] == [1.0, 2.0]
    assert dataset.map(lambda row: row, batched=batched, try_original_type=False).features == dataset.features


@pytest.mark.parametrize("num_proc", [None, 2])
@pytest.mark.parametrize("on_error", ["skip", "collect"])
def test_rows_that_fail_are_left_out(on_error, num_proc, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path)
    dataset = Dataset.from_dict({"a": list(range(10)), "l": [[place] for place in range(10)]}).shuffle(seed=3)
    for _ in range(2):
        made = dataset.map(failing, with_indices=True, on_error=on_error, num_proc=num_proc)
        kept = [place for place in range(10) if place % 3 != 1]
        assert made["ok"][:] == kept
        assert made["a"][:] == [dataset[place]["a"] for place in kept]
        assert (made.errors is None) == (on_error == "skip")
        if made.errors is not None:
            assert made.errors["index"][:] == [1, 4, 7]
            assert made.errors["exception"][0] == "ValueError: bad 1"
            assert "in failing" in made.errors["traceback"][2]
    few = dataset.filter(lambda row, place: failing(row, place)["ok"] > 2, with_indices=True, on_error=on_error)
    assert few["a"][:] == [dataset[place]["a"] for place in kept if place > 2]


def test_batches_that_fail_are_left_out():
    dataset = Dataset.from_dict({"a": list(range(7))})
    made = dataset.map(
        lambda batch: {"b": [1 // (value != 3) for value in batch["a"]]}, batched=True, batch_size=2, on_error="collect"
    )
    few = dataset.filter(
        lambda batch: [1 // (value != 3) > 0 for value in batch["a"]], batched=True, batch_size=2, on_error="collect"
    )
    assert made["a"][:] == few["a"][:] == [0, 1, 4, 5, 6]
    assert made.errors["index"][:] == few.errors["index"][:] == [2, 3]


@pytest.mark.parametrize("options", [{}, {"input_columns": "a"}, {"input_columns": []}], ids=str)
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("call", ["map", "filter"])
def test_a_transform_that_fails_on_a_row_loses_that_row_alone(call, batched, options):
    def halved(batch):
        return {"a": [6 // (value != 3) for value in batch["a"]]}

    def function(*given):
        return {"b": given[-1]} if call == "map" else [True] * len(given[-1]) if batched else True

    dataset = Dataset.from_dict({"a": list(range(6))}).with_transform(halved)
    made = getattr(dataset, call)(
        function, with_indices=True, batched=batched, batch_size=1, on_error="skip", **options
    ).with_format(None)
    is_transformed = options.get("input_columns") != [] or batched
    assert made["a"][:] == [place for place in range(6) if place != 3 or not is_transformed]
    if call == "map":
        assert made["b"][:] == made["a"][:]


# Coroutines


async def cancelled_at_3(row):
    """A function that waits for something that is cancelled, once."""
    if row["a"] == 3:
        raise asyncio.CancelledError
    return {"b": row["a"]}


@pytest.mark.parametrize("call", ["map", "filter"])
@pytest.mark.parametrize("made", [lambda dataset: dataset, lambda dataset: dataset.to_iterable_dataset()])
def test_a_coroutine_that_is_cancelled_loses_no_row_silently(call, made):
    with pytest.raises(asyncio.CancelledError):
        list(getattr(made(Dataset.from_dict({"a": list(range(6))})), call)(cancelled_at_3))


def test_a_coroutine_that_is_cancelled_can_be_left_out():
    dataset = Dataset.from_dict({"a": list(range(6))})
    made = dataset.map(cancelled_at_3, on_error="collect")
    assert made["b"][:] == dataset.filter(cancelled_at_3, on_error="skip")["a"][:] == [0, 1, 2, 4, 5]
    assert made.errors["index"][:] == [3]


def test_coroutines_run_at_once_and_stay_in_order(monkeypatch):
    monkeypatch.setattr(config, "MAX_NUM_RUNNING_ASYNC_MAP_FUNCTIONS_IN_PARALLEL", 5)
    running, most = 0, 0

    async def function(row):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (row["a"] % 4))
        running -= 1
        return {"b": row["a"] + 1}

    dataset = Dataset.from_dict({"a": list(range(40))})
    made = dataset.map(function, cache_key=os.urandom(4).hex())
    assert made["b"][:] == list(range(1, 41))
    assert most == 5

    async def inside() -> list[int]:
        async def even(row):
            await asyncio.sleep(0)
            return row["a"] % 2 == 0

        return dataset.filter(even, cache_key=os.urandom(4).hex())["a"][:]

    assert asyncio.run(inside()) == list(range(0, 40, 2))


def test_an_error_stops_other_coroutines():
    finished = []

    async def function(row):
        if row["a"] == 3:
            raise ValueError("no")
        await asyncio.sleep(30)
        finished.append(row["a"])

    with pytest.raises(ValueError, match="no") as caught:
        Dataset.from_dict({"a": list(range(10))}).map(function, cache_key=os.urandom(4).hex())
    assert any("row 3" in note for note in caught.value.__notes__)
    assert not finished


# Splits


def test_splits_are_mapped_each_with_its_name():
    splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 2]}), "test": Dataset.from_dict({"a": [3]})})
    named = splits.map(lambda row, place, split: {"b": f"{split} {place}"}, with_indices=True, with_split=True)
    assert named["train"]["b"][:] == ["train 0", "train 1"]
    assert named["test"]["b"][:] == ["test 0"]
    assert splits.filter(lambda row: row["a"] > 1).num_rows == {"train": 1, "test": 1}
    assert splits.shuffle(seed=1).flatten_indices()["train"]._indices is None


def test_no_input_columns_are_no_arguments():
    data = Dataset.from_dict({"a": [1, 2]})
    assert data.map(lambda: {"b": 3}, input_columns=[])[:] == {"a": [1, 2], "b": [3, 3]}
    assert data.filter(lambda index: index, with_indices=True, input_columns=[])[:] == {"a": [2]}


def test_batched_lists_and_tables_come_back_as_arrow():
    dataset = Dataset.from_dict({"a": [1, 2, 3]}).with_format("arrow")
    made = dataset.map(lambda table: table.append_column("b", pa.array([1.5] * len(table))), batched=True)
    assert made.format["type"] == "arrow"
    assert made.with_format(None).to_dict() == {"a": [1, 2, 3], "b": [1.5] * 3}


def test_a_batch_reads_only_the_columns_that_its_function_looks_at():
    """Also by way of `values` and `items`, which many functions use to learn how many rows there are."""
    pictures = Dataset.from_dict({"n": [1, 2], "picture": [{"bytes": b"no picture", "path": None}] * 2})
    pictures = pictures.cast_column("picture", Image())
    sizes = [
        lambda batch: {"size": [len(next(iter(batch.values())))] * 2},
        lambda batch: {"size": [len(next(iter(batch.items()))[1])] * 2},
    ]
    for size in sizes:
        assert pictures.map(size, batched=True)["size"][:] == [2, 2]
        stream = pictures.to_iterable_dataset().map(size, batched=True, remove_columns=["picture"])
        assert [row["size"] for row in stream] == [2, 2]


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_function_changes_inside_of_a_removed_column_is_gone_with_it(stream):
    def emptied(batch):
        sizes = [len(tags) for tags in batch["tags"]]
        for tags in batch["tags"]:
            tags.clear()
        for names in batch["names"]:
            names.append("new")
        return {"size": sizes}

    data = Dataset.from_dict({"tags": [[1], [2, 3]], "names": [["a"], []]})
    rows = (data.to_iterable_dataset() if stream else data).map(emptied, batched=True, remove_columns=["tags"])
    assert list(rows) == [{"names": ["a", "new"], "size": 1}, {"names": ["new"], "size": 2}]
    assert data["tags"][:] == [[1], [2, 3]]
