"""Row groups that a second thread decodes: the same rows, positions and errors, and no thread outlives its stream."""

from __future__ import annotations

import os
import threading
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crucible_datasets import load_dataset
from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.reading import fileshards
from crucible_datasets.streams import prefetched

ROWS, GROUP = 200, 20


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(fileshards, "_WORTH_A_THREAD", 0)
    path = str(tmp_path / "rows.parquet")
    pq.write_table(pa.table({"n": range(ROWS), "text": [f"text {n}" for n in range(ROWS)]}), path, row_group_size=GROUP)
    return path


@pytest.fixture
def helpers(monkeypatch):
    """The numbers of items that helping threads were asked for."""
    started, begun = [], prefetched.begun

    def counted(items, most):
        started.append(most)
        return begun(items, most)

    monkeypatch.setattr(prefetched, "begun", counted)
    return started


def stream(path, **options):
    return load_dataset("parquet", data_files=path, split="train", streaming=True, batch_size=7, **options)


def reading_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith(("crucible-ahead", "crucible-pre"))]


def test_rows_come_in_order(file, helpers):
    assert [row["n"] for row in stream(file)] == list(range(ROWS))
    assert helpers  # or nothing was tested


def test_filters_leave_out_row_groups(file):
    rows = stream(file, filters=[("n", ">=", 150)])
    assert [row["n"] for row in rows] == list(range(150, ROWS))


def test_a_stream_resumes_at_any_row(file):
    rows = stream(file)
    for stop in range(1, ROWS, 13):
        begun = [row["n"] for row in islice(rows, stop)]
        rows.load_state_dict(rows.state_dict())
        assert begun + [row["n"] for row in rows] == list(range(ROWS))
        rows = stream(file)


def test_threads_end_with_the_reader(file):
    rows = iter(stream(file))
    assert [next(rows)["n"] for _ in range(50)] == list(range(50))
    assert reading_threads()
    rows.close()
    assert not reading_threads()
    assert prefetched._HELPERS._value == prefetched._MOST_HELPERS


def test_few_streams_have_helpers(file, helpers, monkeypatch):
    monkeypatch.setattr(prefetched, "_HELPERS", threading.BoundedSemaphore(1))
    several = [iter(stream(file)) for _ in range(5)]
    assert [[next(rows)["n"] for rows in several] for _ in range(ROWS)] == [[n] * 5 for n in range(ROWS)]
    assert [next(rows, None) for rows in several] == [None] * 5
    assert not reading_threads()


def test_without_prefetching_there_are_no_threads(file, helpers, monkeypatch):
    monkeypatch.setattr(prefetched.config, "STREAMING_PREFETCH_BATCHES", 0)
    assert [row["n"] for row in stream(file)] == list(range(ROWS))
    assert not helpers


def test_rows_before_a_broken_group_are_given(file):
    metadata = pq.read_metadata(file)
    at = metadata.row_group(5).column(0).data_page_offset
    with open(file, "r+b") as raw:
        raw.seek(at)
        raw.write(os.urandom(40))
    given = []
    with pytest.raises(FileFormatError, match=r"rows\.parquet"):
        for row in stream(file):
            given.append(row["n"])
    assert given == list(range(5 * GROUP))
    assert not reading_threads()


def test_there_are_no_helpers_where_the_bytes_are_used_up(file, helpers, monkeypatch):
    monkeypatch.setattr(prefetched.config, "STREAMING_PREFETCH_BYTES", 0)
    assert [row["n"] for row in stream(file)] == list(range(ROWS))
    assert not helpers
