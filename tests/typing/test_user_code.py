"""The code that a type checker approves of runs, and gives what its types say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import crucible_datasets
from crucible_datasets import Column, Dataset, DatasetDict, IterableDataset


def user_code():
    spec = importlib.util.spec_from_file_location("user_code", Path(__file__).with_name("user_code.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_runs(tmp_path):
    code = user_code()
    code.reading()
    code.changing()
    code.streaming()
    code.files(str(tmp_path))


def test_values_have_the_types_that_editors_show(tmp_path):
    rows = user_code().rows()
    assert type(rows[0]) is dict and type(rows["text"]) is Column and type(rows[:2]) is dict
    rows.to_json(tmp_path / "x.jsonl")
    load = crucible_datasets.load_dataset
    path = str(tmp_path / "x.jsonl")
    assert isinstance(load("json", data_files=path, split="train"), Dataset)
    assert isinstance(load("json", data_files=path), DatasetDict)
    assert isinstance(load("json", data_files=path, split="train", streaming=True), IterableDataset)


def test_type_checkers_are_told_that_there_are_types():
    assert (Path(crucible_datasets.__file__).parent / "py.typed").exists()
