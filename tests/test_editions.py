"""Files that earlier editions of the library left on disk are read, or refused with a reason."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import shutil
from pathlib import Path

import pytest

from crucible_datasets import Dataset, load_dataset, load_from_disk
from crucible_datasets.benchmarks import FieldMapping, check_lock, load_samples
from crucible_datasets.cache import Cache
from crucible_datasets.evaluation import Outcome, ResultStore, SampleResult, compare
from crucible_datasets.exceptions import DatasetsError

EDITIONS = sorted(path for path in (Path(__file__).parent / "data" / "editions").iterdir() if path.is_dir())


@pytest.fixture(params=EDITIONS, ids=lambda path: path.name)
def edition(request, tmp_path, monkeypatch):
    """A copy of an edition's files, as the current folder."""
    folder = tmp_path / "edition"
    shutil.copytree(request.param, folder)
    monkeypatch.chdir(folder)
    return folder


def _row(number, text, tags, key):
    return {
        "id": number,
        "question": text,
        "label": number % 2,
        "tags": tags,
        "message": {"role": "user", "content": text},
        "call": {"name": "f", "arguments": {key: number}},
        "price": decimal.Decimal("12.30"),
        "day": datetime.date(2024, 2, 29),
        "at": datetime.datetime(2024, 2, 29, 12, 30, 15, 250),
        "blob": bytes([0, 255, number]),
    }


ROWS = [
    _row(0, "2 + 2?", [], "x"),
    _row(1, "né 🎉", ["é"], "y"),
    _row(2, "", ["é", None], "x"),
    _row(3, "漢字", ["é", None, "日本"], "z"),
    _row(4, "null", [], "y"),
]


@pytest.mark.parametrize("name", ["dataset", "selected", "dict"])
def test_saved_folders_load(edition, name):
    rows = load_from_disk(name)
    if name == "dict":
        assert list(rows) == ["train", "test"]
        assert [*rows["train"], *rows["test"]] == ROWS
    else:
        assert list(rows) == (ROWS if name == "dataset" else [ROWS[4], ROWS[0], ROWS[2]])
    assert (rows["train"] if name == "dict" else rows).features["label"].names == ["no", "yes"]


def test_exported_files_load(edition):
    assert list(Dataset.from_parquet("rows.parquet")) == ROWS
    for name in ["id", "question", "tags", "message", "call"]:
        assert Dataset.from_json("rows.jsonl")[name][:] == [row[name] for row in ROWS]
    tars = load_dataset("webdataset", data_files="rows-000.tar", split="train")
    assert tars["txt"][:] == [row["question"] for row in ROWS]
    assert tars["json"][:] == [row["message"] for row in ROWS]


def test_states_of_streams_resume_or_are_refused(edition):
    for name, state in json.loads(Path("states.json").read_text()).items():
        loader = "parquet" if name.endswith("parquet") else "json"
        stream = load_dataset(loader, data_files=name, split="train", streaming=True)
        try:
            stream.load_state_dict(state)
        except DatasetsError as error:
            assert "state" in str(error)
        else:
            assert [row["id"] for row in stream] == [2, 3, 4]


def test_stored_runs_load_compare_and_rescore(edition):
    store = ResultStore("runs")
    runs = {run.info.model: run for run in store.list()}
    assert len(runs) == 10
    small = runs["org/small"].load()
    assert small.value() == 0.5
    assert [sample.prediction for sample in small.samples] == ["1", "so 2", "3", "é 🎉"]
    assert store.rescore(small.info.run_id, extract="gsm8k/lm-eval-flexible").result.value() == 0.75
    large = runs["org/large"]
    again = store.rescore(large.info.run_id)
    assert again.result.info.rules == large.info.rules
    assert again.result.value() == large.load().value()
    assert not again.moved
    assert compare(runs["org/copy-0"], runs["org/copy-1"]) is not None


def test_unfinished_runs_go_on(edition):
    store = ResultStore("runs")
    [run] = store.unfinished()
    assert (run.info.run_id, run.info.num_samples) == ("unfinished-run", 1)
    with store.open_run(
        model="org/killed", dataset="adding", metrics=["graded@1"], run_id="unfinished-run", resume=True
    ) as joined:
        joined.append(SampleResult("1", "two", "2", {"graded@1": Outcome(0.4)}))
        result = joined.finish()
    assert sorted((sample.id, sample.outcomes["graded@1"].value) for sample in result.samples) == [
        ("0", 0.8),
        ("1", 0.4),
    ]


def test_locks_hold(edition):
    assert [moves for _, moves in check_lock(path="crucible.lock")] == [[], []]
    samples = load_samples("rows.jsonl", FieldMapping(input="id", target="label"), lock="crucible.lock")
    assert len(samples) == len(ROWS)


def test_entries_of_caches_are_read_and_verified(edition):
    cache = Cache(edition / "cache" / "crucible")
    assert sorted(os.path.basename(entry.folder).rpartition("-")[0] for entry in cache.entries()) == [
        "",
        "map",
        "map",
        "tar",
    ]
    assert cache.verify() == []
