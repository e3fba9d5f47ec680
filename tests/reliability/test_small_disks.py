"""Where nothing more may be written, or nothing at all: a typed error, nothing left, no space held, and a retry succeeds."""

import errno
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from crucible_datasets import Dataset, ResultStore, config, load_dataset
from crucible_datasets.atomic.owners import taken_apart
from crucible_datasets.evaluation import EvaluationResult, RunInfo, SampleResult
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import NotWritableError, StorageError

ROWS = Dataset.from_dict({"n": range(4000), "text": [f"{n * n} " * 20 for n in range(4000)]})
LIMIT = 50_000


def rows():
    for row in range(4000):
        yield {"text": str(row * row) * 20}


def run_of_many():
    chance = Random(1)
    samples = [SampleResult(str(n), chance.randbytes(100).hex(), "t", {"own@1": Outcome(1.0)}) for n in range(2000)]
    return EvaluationResult(RunInfo(run_id="run", model="m", dataset="d", metrics=["own@1"]), samples, {})


OPERATIONS = {
    "csv": lambda place: ROWS.to_csv(place / "x.csv"),
    "csv by workers": lambda place: ROWS.to_csv(place / "x.csv", num_proc=2),
    "json": lambda place: ROWS.to_json(place / "x.jsonl"),
    "parquet": lambda place: ROWS.to_parquet(place / "x.parquet", compression="none"),
    "saved": lambda place: ROWS.save_to_disk(place / "saved"),
    "mapped": lambda place: Dataset.from_parquet(str(place / "rows.parquet")).map(lambda row: {"m": row["text"] + "!"}),
    "generated": lambda place: Dataset.from_generator(rows),
    "converted": lambda place: load_dataset("csv", data_files=str(place / "rows.csv")),
    "a run": lambda place: ResultStore(place / "store").save(run_of_many()),
}


@contextmanager
def files_end_early():
    """Python passes over the signal, and a write past the limit fails."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def open_in(place):
    """The files that this process holds, also those whose names are gone: their space is taken."""
    held = []
    for number in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{number}"
        held += [os.readlink(path)] if os.path.islink(path) else []
    return [path for path in held if path.startswith(str(place)) and "rows." not in path]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    ROWS.to_csv(tmp_path / "rows.csv")
    ROWS.to_parquet(tmp_path / "rows.parquet")
    return tmp_path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files are listed in /proc")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_file_that_may_not_grow_is_a_storage_error(operation, place):
    before = {path for path in place.rglob("*") if path.is_file()}
    with files_end_early(), pytest.raises(StorageError) as caught:
        OPERATIONS[operation](place)
    assert str(place) in str(caught.value) and caught.value.errno == errno.EFBIG
    left = {path for path in place.rglob("*") if path.is_file()} - before
    assert [path.name for path in left if not taken_apart(path.name)] == []
    del caught
    assert open_in(place) == []
    OPERATIONS[operation](place)


def test_a_place_that_may_not_be_written_to_is_named(place, monkeypatch):
    def refuse(path, *arguments, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    def of_a_user(row):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/elsewhere")

    monkeypatch.setattr(os, "mkdir", refuse)
    for operation in ("mapped", "generated", "converted", "saved"):
        with pytest.raises(NotWritableError, match=str(place)):
            OPERATIONS[operation](place)
    monkeypatch.undo()
    with pytest.raises(PermissionError, match="elsewhere") as caught:
        Dataset.from_parquet(str(Path(place, "rows.parquet"))).map(of_a_user)
    assert not isinstance(caught.value, StorageError)
