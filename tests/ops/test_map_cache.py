"""What maps and filters leave in the cache: later runs find it, by content, and what was not finished is finished."""

import glob
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import crucible_datasets
from crucible_datasets import Dataset, config
from crucible_datasets.cache import default_cache
from crucible_datasets.ops.mapping import result_cache, shards


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def notes(tmp_path):
    return Noted(str(tmp_path / "notes"))


class Noted:
    """Functions that note every row or batch they are called for, in this process or another."""

    def __init__(self, path):
        self.path = path

    def __call__(self, work, stop_at=None):
        path, calls_so_far = self.path, self.calls

        def noting(row):
            with open(path, "a") as file:
                file.write("x\n")
            if stop_at is not None and calls_so_far() > stop_at:
                raise KeyError("stopped")
            return work(row)

        return noting

    def calls(self):
        return Path(self.path).read_text().count("x") if os.path.exists(self.path) else 0

    def new(self):
        """The calls since the last time."""
        calls = self.calls()
        if calls:
            os.unlink(self.path)
        return calls


OPERATIONS = {
    "map": lambda dataset, function, **options: dataset.map(lambda row: {"m": function(row["n"])}, **options),
    "batched map": lambda dataset, function, **options: dataset.map(
        lambda batch: {"m": [function(n) for n in batch["n"]]}, batched=True, batch_size=7, **options
    ),
    "filter": lambda dataset, function, **options: dataset.filter(lambda row: function(row["n"]) % 3 == 0, **options),
}
SIZE = 50


def double(n):
    return n * 2


def in_memory(tmp_path, size=SIZE):
    return Dataset.from_dict({"n": range(size)})


def of_parquet(tmp_path, size=SIZE):
    path = tmp_path / "rows.parquet"
    if not path.exists():
        Dataset.from_dict({"n": range(size)}).to_parquet(path)
    return Dataset.from_parquet(str(path))


def of_csv(tmp_path, size=SIZE):
    path = tmp_path / "rows.csv"
    if not path.exists():
        path.write_text("n\n" + "".join(f"{n}\n" for n in range(size)))
    return Dataset.from_csv(str(path))


def shuffled(tmp_path):
    return of_parquet(tmp_path).shuffle(seed=3).select(range(SIZE))


SOURCES = {source.__name__: source for source in (in_memory, of_parquet, of_csv, shuffled)}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_result_is_found_again(tmp_path, notes, operation, source):
    function = notes(double)
    first = operation(source(tmp_path), function)
    assert notes.new() == SIZE
    again = operation(source(tmp_path), function)
    assert notes.new() == 0
    assert again.to_list() == first.to_list() and again.features == first.features
    assert again._fingerprint == first._fingerprint


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("size", [SIZE, 7 * 40])
def test_num_proc_does_not_matter_for_what_is_found_unless_batches_begin_elsewhere(tmp_path, notes, operation, size):
    function = notes(double)
    first = operation(in_memory(tmp_path, size), function, num_proc=2)
    assert notes.new() == size
    assert operation(in_memory(tmp_path, size), function).to_list() == first.to_list()
    assert notes.new() == (SIZE if operation is OPERATIONS["batched map"] and size == SIZE else 0)


def test_in_memory_datasets_go_by_content(tmp_path, notes):
    function = notes(double)
    OPERATIONS["map"](Dataset.from_dict({"n": [1, 2, 3]}), function)
    OPERATIONS["map"](Dataset.from_list([{"n": n} for n in (1, 2, 3)]), function)
    assert notes.new() == 3
    assert OPERATIONS["map"](Dataset.from_dict({"n": [1, 2, 4]}), function)["m"][:] == [2, 4, 8]
    assert notes.new() == 3


@pytest.mark.parametrize(
    ("given", "chosen", "change"),
    [
        (lambda: np.array([5, 3, 1]), Dataset.select, lambda rows: rows.__imul__(0)),
        (lambda: {"n": 1, "l": [1]}, Dataset.add_item, lambda item: item["l"].append(2)),
    ],
)
def test_arguments_that_are_changed_afterwards_do_not_mix_up_results(given, chosen, change):
    dataset, argument = Dataset.from_dict({"n": list(range(9)), "l": [[0]] * 9}), given()
    before = chosen(dataset, argument)
    change(argument)
    after = chosen(dataset, argument)
    assert before.map(lambda row: {"m": str(row)})["m"][:] == [str(row) for row in before]
    assert after.map(lambda row: {"m": str(row)})["m"][:] == [str(row) for row in after] != [str(row) for row in before]


PROGRAM = """
import sys
from crucible_datasets import Dataset

def work(row):
    with open(sys.argv[1], "a") as file:
        file.write("x\\n")
    return {"m": row["n"] * FACTOR}

FACTOR = 2
data = Dataset.from_parquet(sys.argv[2]) if len(sys.argv) > 2 else Dataset.from_dict({"n": range(50)})
print(data.map(work).filter(lambda row: row["m"] > 4)["m"][:3])
"""


def ran(cache, notes, *arguments, program=PROGRAM, seed="1"):
    environment = {**os.environ, "HF_DATASETS_CACHE": str(cache), "PYTHONHASHSEED": seed}
    run = [sys.executable, "-c", program, notes.path, *arguments]
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout


def test_other_processes_find_it(tmp_path, cache, notes):
    of_parquet(tmp_path)
    for arguments in ([], [str(tmp_path / "rows.parquet")]):
        assert ran(cache, notes, *arguments) == "[6, 8, 10]\n" and notes.new() == SIZE
        looks_else = PROGRAM.replace(
            "def work(row):", "# more\n\ndef unused(): pass\n\ndef work(row):\n    'It works.'"
        )
        assert ran(cache, notes, *arguments, program=looks_else, seed="2") == "[6, 8, 10]\n" and notes.new() == 0
    other = PROGRAM.replace("FACTOR = 2", "FACTOR = 3")
    assert ran(cache, notes, program=other) == "[6, 9, 12]\n" and notes.new() == SIZE


@pytest.mark.parametrize("source", [of_parquet, of_csv])
def test_a_changed_file_is_noticed(tmp_path, notes, source):
    function = notes(double)
    OPERATIONS["map"](source(tmp_path), function)
    for path in (*tmp_path.glob("rows.*"),):
        path.unlink()
    time.sleep(0.01)
    assert OPERATIONS["map"](source(tmp_path, SIZE - 1), function)["m"][-1] == 2 * (SIZE - 2)
    assert notes.new() == 2 * SIZE - 1


def test_a_moved_file_gives_the_same_rows(tmp_path, notes):
    function = notes(double)
    first = OPERATIONS["map"](of_parquet(tmp_path), function).to_list()
    (tmp_path / "rows.parquet").rename(tmp_path / "moved.parquet")
    assert OPERATIONS["map"](Dataset.from_parquet(str(tmp_path / "moved.parquet")), function).to_list() == first


# What the user may ask for


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}, {"load_from_cache_file": False}])
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_without_caching_nothing_is_written(tmp_path, cache, notes, operation, options):
    crucible_datasets.disable_caching()
    try:
        found = [operation(in_memory(tmp_path), notes(double), **options).to_list() for _ in range(2)]
    finally:
        crucible_datasets.enable_caching()
    assert found[0] == found[1] and notes.new() == 2 * SIZE
    assert not cache.exists()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_in_memory_results_are_not_kept(tmp_path, cache, notes, operation):
    operation(in_memory(tmp_path), notes(double), keep_in_memory=True)
    assert not cache.exists()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_result_that_must_be_fresh_is_worked_out_again(tmp_path, notes, operation):
    function = notes(double)
    first = operation(in_memory(tmp_path), function).to_list()
    assert operation(in_memory(tmp_path), function, load_from_cache_file=False).to_list() == first
    assert notes.new() == 2 * SIZE
    operation(in_memory(tmp_path), function)
    assert notes.new() == 0 and len(list(default_cache().entries())) == 1


def test_the_dataset_in_use_outlives_a_fresh_result(tmp_path, notes):
    first = OPERATIONS["map"](in_memory(tmp_path), notes(double))
    OPERATIONS["map"](in_memory(tmp_path), notes(double), load_from_cache_file=False)
    assert first["m"][:] == [2 * n for n in range(SIZE)]


def test_arguments_count_as_the_function_sees_them():
    dataset = Dataset.from_dict({"n": [0]})

    def first(row, names):
        return {"m": next(iter(names))}

    one, other = ({"names": dict.fromkeys(order, 1)} for order in ("ab", "ba"))
    assert dataset.map(first, fn_kwargs=one)["m"][0] == "a"
    assert dataset.map(first, fn_kwargs=other)["m"][0] == "b"


def test_a_chosen_key_stands_for_the_function(notes):
    dataset = Dataset.from_dict({"n": [1, 2]})
    lock = threading.Lock()

    def work(row):
        with lock:
            return {"m": row["n"] * 2}

    assert dataset.map(notes(work), cache_key="doubled")["m"][:] == [2, 4] and notes.new() == 2
    assert dataset.map(notes(lambda row: {"m": 0}), cache_key="doubled")["m"][:] == [2, 4] and notes.new() == 0
    assert dataset.map(notes(lambda row: {"m": 0}), cache_key="other")["m"][:] == [0, 0] and notes.new() == 2


def test_what_cannot_be_hashed_is_named_once_and_not_kept(cache, notes, monkeypatch):
    warnings = []
    monkeypatch.setattr(result_cache, "_warned", set())
    monkeypatch.setattr(result_cache.logger, "warning", lambda text, *rest: warnings.append(text))
    lock = threading.Lock()

    def work(row):
        with lock:
            return {"m": row["n"] * 2}

    dataset = Dataset.from_dict({"n": [1, 2]})
    for _ in range(2):
        assert dataset.map(work)["m"][:] == [2, 4]
    (warning,) = warnings
    assert "closure variable 'lock' of function work" in warning and "cache_key" in warning
    assert not cache.exists()


def test_the_limit_is_kept(tmp_path, cache, monkeypatch):
    """What earlier programs left goes when there is no room; what this one uses stays."""
    program = "from crucible_datasets import Dataset\nfor k in range(3):\n"
    program += "    Dataset.from_dict({'n': range(2000)}).map(lambda row: {'m': row['n'] + k}, cache_key=str(k))"
    ran(cache, Noted(""), program=program)
    assert len(list(default_cache().entries())) == 3
    size = max(entry.size for entry in default_cache().entries())
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", str(2 * size + 10))
    made = Dataset.from_dict({"n": range(2000)}).map(lambda row: {"m": -row["n"]})
    assert default_cache().size() <= 2 * size + 10 and made["m"][5] == -5
    assert len(list(default_cache().entries())) == 2


def test_entries_say_what_they_are(tmp_path):
    OPERATIONS["map"](in_memory(tmp_path), double)
    OPERATIONS["filter"](in_memory(tmp_path), double)
    facts = sorted((entry.facts["kind"], entry.facts["rows"]) for entry in default_cache().entries())
    assert facts == [("filter", 17), ("map", SIZE)]


def test_only_new_columns_are_written(tmp_path):
    wide = Dataset.from_dict({"n": range(20_000), "text": ["a text that is not touched"] * 20_000})
    wide.map(lambda row: {"m": row["n"]})
    wide.filter(lambda row: row["n"] % 2 == 0)
    sizes = {entry.facts["kind"]: entry.size for entry in default_cache().entries()}
    assert sizes["map"] < 1.1 * 8 * 20_000 and sizes["filter"] < 1.1 * 8 * 10_000


# What was not finished


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(shards, "_PART_ROWS", 1)
    monkeypatch.setattr(shards, "_BLOCK_ROWS", 10)
    return 10


@pytest.mark.parametrize("error", [KeyError("stopped"), KeyboardInterrupt()], ids=type)
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_was_done_before_an_error_is_not_done_again(tmp_path, notes, small_parts, name, error):
    stop = [True]

    class Switch:
        def __getstate__(self):
            return {}

        def check(self, n):
            if stop[0] and n == 35:
                raise error
            return n * 2

    # The switch is no part of what the function means.
    switch = Switch()
    options = {"cache_key": "switch"}
    with pytest.raises(type(error)):
        OPERATIONS[name](in_memory(tmp_path), notes(lambda n: switch.check(n)), **options)
    (entry,) = default_cache().entries()
    assert not entry.is_whole and notes.new() == 36
    stop[0] = False
    found = OPERATIONS[name](in_memory(tmp_path), notes(lambda n: switch.check(n)), **options)
    assert notes.new() == SIZE - (35 if name == "batched map" else 30)
    assert found.to_list() == OPERATIONS[name](in_memory(tmp_path), double, keep_in_memory=True).to_list()
    assert [entry.is_whole for entry in default_cache().entries()] == [True]


def test_batches_of_another_number_of_workers_are_not_mixed_in(tmp_path, cache, small_parts):
    """A batch begins where a shard begins, and a function may see that."""
    marker = tmp_path / "fail"
    path, finished = str(marker), str(cache / "crucible" / ".work" / "*" / "rows-14.part.json")

    def lengths(batch):
        if os.path.exists(path) and 48 in batch["n"]:
            patience = time.monotonic() + 30
            while not glob.glob(finished) and time.monotonic() < patience:
                time.sleep(0.01)
            raise KeyError("stopped")
        return {"m": [len(batch["n"])] * len(batch["n"])}

    options = {"batched": True, "batch_size": 7}
    marker.touch()
    with pytest.raises(KeyError):
        in_memory(tmp_path).map(lengths, num_proc=3, **options)
    assert [entry.is_whole for entry in default_cache().entries()] == [False]
    marker.unlink()
    assert in_memory(tmp_path).map(lengths, **options)["m"][:] == [7] * 49 + [1]


def only_a_result_is_left():
    (entry,) = default_cache().entries()
    facts = json.loads(Path(entry.folder, "result.json").read_text())
    return set(entry.files) == {"plan.json", "result.json", "result.part.json", *facts["files"]}


def test_rows_of_another_number_of_workers_may_be_used(tmp_path, notes, small_parts):
    marker = tmp_path / "fail"
    path = str(marker)

    def work(n):
        if os.path.exists(path) and n == 45:
            raise KeyError("stopped")
        return n * 2

    function = notes(work)
    marker.touch()
    with pytest.raises(KeyError):
        OPERATIONS["map"](in_memory(tmp_path), function)
    marker.unlink()
    notes.new()
    assert OPERATIONS["map"](in_memory(tmp_path), function, num_proc=2)["m"][:] == [2 * n for n in range(SIZE)]
    assert notes.new() < SIZE and only_a_result_is_left()


UNCACHED = """
import os, sys
from crucible_datasets import Dataset, config, disable_caching
disable_caching()
config.TEMP_CACHE_DIR_PREFIX = sys.argv[1]
data = Dataset.from_dict({"n": [1, 2]})
assert data.map(lambda row: {"m": row["n"]})["m"][:] == [1, 2]
assert os.listdir(os.path.dirname(sys.argv[1]))
if not os.fork():
    assert data.map(lambda row: {"m": -row["n"]})["m"][:] == [-1, -2]
    sys.exit()
assert os.wait()[1] == 0
assert data.map(lambda row: {"m": 2 * row["n"]})["m"][:] == [2, 4], "a fork has removed our folder"
"""


def test_results_that_are_not_cached_go_silently_when_the_program_ends(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-W", "always", "-c", UNCACHED, f"{folder}{os.sep}"]
    ran = subprocess.run(command, env={**os.environ, "TMPDIR": str(folder)}, capture_output=True, text=True, check=True)
    assert "Warning" not in ran.stderr
    assert os.listdir(folder) == []


def test_what_a_dataset_does_not_use_of_its_results_can_be_removed(tmp_path):
    def loaded(name):
        Dataset.from_dict({"n": list(range(SIZE))}).save_to_disk(tmp_path / name)
        return crucible_datasets.load_from_disk(tmp_path / name)

    first, other = loaded("first"), loaded("other")
    kept = first.map(lambda row: {"a": row["n"]}).map(lambda row: {"b": row["a"]})
    first.map(lambda row: {"c": row["n"]})
    kept.filter(lambda row: row["n"] % 2)
    stranger = other.map(lambda row: {"d": -row["n"]})
    before = {entry.key for entry in default_cache().entries()}
    assert kept.cleanup_cache_files() > 0
    after = {entry.key for entry in default_cache().entries()}
    assert (len(before), len(after)) == (5, 3)
    assert kept["b"][:] == first["n"][:] and stranger["d"][1] == -1
    assert kept.cleanup_cache_files() == 0
    assert first.cleanup_cache_files() > 0
    assert len(list(default_cache().entries())) == 1
    assert Dataset.from_dict({"n": [1]}).cleanup_cache_files() == 0
