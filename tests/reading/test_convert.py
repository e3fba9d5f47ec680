"""Files are shared out so that processes have equally much to do, and may differ in their columns."""

from functools import partial

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import Dataset, load_dataset
from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.reading.convert import shared_out
from crucible_datasets.reading.files import DataFile


@given(sizes=st.lists(st.integers(0, 100), min_size=1, max_size=12), parts=st.integers(1, 6))
def test_every_file_goes_to_one_process_in_order(sizes, parts):
    files = [DataFile(str(number), size, (number,)) for number, size in enumerate(sizes)]
    runs = shared_out(files, parts)
    assert [file for run in runs for file in run] == files
    assert len(runs) <= parts
    assert all(runs)


def test_large_files_stand_alone():
    files = [DataFile(str(size), size, (size,)) for size in (100, 3, 3, 3, 91)]
    assert [[file.size for file in run] for run in shared_out(files, 2)] == [[100], [3, 3, 3, 91]]


def test_columns_that_some_files_lack_are_chosen_and_filtered_as_if_they_were_null(tmp_path):
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": None}]
    some, others = Dataset.from_list(rows[:2]), Dataset.from_dict({"a": [3]})
    for kind in ("parquet", "json", "csv", "arrow"):
        for number, part in enumerate((some, others)):
            (tmp_path / kind).mkdir(exist_ok=True)
            getattr(part, f"to_{kind}")(str(tmp_path / kind / f"{number}.{kind}"))
        load = partial(load_dataset, str(tmp_path / kind), split="train", cache_dir=str(tmp_path / "cache"))
        for more in ({}, {"keep_in_memory": True}):
            assert load(columns=["b"], **more).to_list() == [{"b": row["b"]} for row in rows]
            assert load(filters=[("b", "!=", "x")], **more).to_list() == rows[1:2]
            assert load(filters=pc.field("b").is_null(), columns=["a"], **more).to_list() == [{"a": 3}]
        with pytest.raises(ColumnNotFoundError, match="'zz' does not exist"):
            load(columns=["zz"])
