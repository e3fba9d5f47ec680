"""Exported files hold the rows of the view, and appear whole or not at all."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import sqlite3
import tracemalloc
from contextlib import closing
from typing import ClassVar

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st
from support.tables import specs

import crucible_datasets
from crucible_datasets import Dataset, Features, Image
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.ops import blocks, export

KINDS = ["json", "csv", "parquet", "arrow", "text"]


def numbers(count: int = 10) -> Dataset:
    return Dataset.from_dict({"n": list(range(count)), "text": [f"text {number}" for number in range(count)]})


def written(dataset: Dataset, kind: str, target, **options) -> int:
    return getattr(dataset, f"to_{kind}")(target, **options)


def texts_in(kind: str, data: bytes) -> list[str]:
    """The column `text` of a file, read by something else."""
    if kind == "json":
        return [json.loads(line)["text"] for line in data.decode().splitlines()]
    if kind == "csv":
        return [row["text"] for row in csv.DictReader(io.StringIO(data.decode(), newline=""))]
    if kind == "parquet":
        return pq.read_table(io.BytesIO(data))["text"].to_pylist()
    if kind == "arrow":
        return pa.ipc.open_stream(data).read_all()["text"].to_pylist()
    return data.decode().splitlines()


@given(specs(), st.integers(1, 4), st.randoms())
def test_parquet_and_arrow_keep_rows_and_features(tmp_path_factory, spec, batch_size, random):
    folder = tmp_path_factory.mktemp("exported")
    dataset = spec.dataset(crucible_datasets)
    dataset = dataset.select(random.sample(range(len(dataset)), len(dataset)))
    dataset.to_arrow(folder / "it.arrow")
    dataset.to_parquet(folder / "it.parquet", batch_size=batch_size)
    parquet = Dataset(pq.read_table(folder / "it.parquet"))
    assert list(parquet.features) == list(dataset.features)
    # Parquet itself knows no seconds.
    for each in (Dataset.from_file(folder / "it.arrow"), parquet.cast(dataset.features)):
        assert each.features == dataset.features
        assert repr(each[:]) == repr(dataset[:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "view",
    [
        lambda dataset: dataset,
        lambda dataset: dataset.shuffle(seed=2),
        lambda dataset: dataset.select([7, 1, 1]),
        lambda dataset: dataset.select(range(3, 8)),
        lambda dataset: dataset.select([]),
        lambda dataset: dataset.with_format("numpy", columns=["n"]),
    ],
)
def test_a_file_holds_the_rows_of_the_view(kind, view, tmp_path):
    dataset = view(numbers())
    expected = list(dataset.with_format(None)["text"])
    written(dataset, kind, tmp_path / "it")
    assert texts_in(kind, (tmp_path / "it").read_bytes()) == expected
    stream = io.BytesIO()
    written(dataset, kind, stream)
    assert stream.getvalue() == (tmp_path / "it").read_bytes()
    assert not stream.closed


@pytest.mark.parametrize("kind", ["json", "csv", "text"])
def test_the_number_of_bytes_is_told(kind, tmp_path):
    assert written(numbers(), kind, tmp_path / "it") == (tmp_path / "it").stat().st_size


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
@pytest.mark.parametrize("batch_size", [1, 3, 10, 100])
def test_batches_do_not_show(kind, batch_size):
    stream = io.BytesIO()
    written(numbers(), kind, stream, batch_size=batch_size)
    assert texts_in(kind, stream.getvalue()) == list(numbers()["text"])
    with pytest.raises(ArgumentError, match="batch_size"):
        written(numbers(), kind, stream, batch_size=-1)


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("options", [{}, {"header": False}, {"index": True}, {"lines": False}, {"encoding": "utf-16"}])
def test_workers_do_not_show(kind, options):
    if (kind == "json") is not ("lines" in options) and options:
        return
    alone, together = io.BytesIO(), io.BytesIO()
    count = written(numbers(50), kind, alone, batch_size=3, **options)
    assert written(numbers(50), kind, together, batch_size=3, num_proc=4, **options) == count
    assert alone.getvalue() == together.getvalue()


def test_a_worker_that_fails_is_heard(monkeypatch, tmp_path):
    def fail(*args):
        raise MemoryError("no more")

    monkeypatch.setattr(export, "_piece", fail)
    with pytest.raises(MemoryError):
        numbers().to_csv(tmp_path / "it.csv", batch_size=1, num_proc=2)
    assert not os.listdir(tmp_path)


# Compression


@pytest.mark.parametrize("kind", ["json", "csv", "text"])
@pytest.mark.parametrize(
    ("extension", "name", "read"),
    [
        (".gz", "gzip", gzip.decompress),
        (".bz2", "bz2", bz2.decompress),
        (".xz", "xz", lzma.decompress),
        (".zst", "zstd", lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()),
        (".lz4", "lz4", lambda data: pa.CompressedInputStream(pa.BufferReader(data), "lz4").read()),
    ],
)
def test_files_are_compressed_as_their_names_or_options_say(kind, extension, name, read, tmp_path):
    plain, named = tmp_path / "it", tmp_path / f"it{extension}"
    count = written(numbers(), kind, plain)
    assert written(numbers(), kind, named) == count
    assert read(named.read_bytes()) == plain.read_bytes()
    if kind != "text":
        stream = io.BytesIO()
        written(numbers(), kind, stream, compression=name)
        assert read(stream.getvalue()) == plain.read_bytes()
        assert not stream.closed
        written(numbers(), kind, named, compression=None)
        assert named.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("place", ["{}/it{}", "memory://appended/it{}"])
@pytest.mark.parametrize("extension", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_rows_can_be_written_after_others(kind, extension, place, tmp_path):
    path = place.format(*([tmp_path] * (place.count("{}") - 1)), extension)
    for piece in (range(3), range(3, 4), range(4, 10)):
        written(numbers().select(piece), kind, path, mode="a")
    with fsspec.open(path, compression={"": None, ".gz": "gzip", ".zst": "zstd"}[extension]) as stream:
        assert texts_in(kind, stream.read()) == numbers()["text"][:]
    fsspec.core.url_to_fs(path)[0].rm(path)


def test_a_last_line_without_its_end_is_ended_first(tmp_path):
    (tmp_path / "it.jsonl").write_text('{"text":"before"}')
    numbers(1).select_columns("text").to_json(tmp_path / "it.jsonl", mode="a")
    assert texts_in("json", (tmp_path / "it.jsonl").read_bytes()) == ["before", "text 0"]


def test_a_stream_writes_what_a_dataset_of_its_rows_writes(tmp_path):
    of_lines = [{}, {"mode": "a"}, {"num_proc": 2}, {"batch_size": 3, "compression": "gzip"}]
    options = {
        "json": [*of_lines, {"lines": False}, {"orient": "table"}, {"orient": "split"}],
        "csv": [*of_lines, {"sep": ";"}, {"na_rep": "-", "index": True}],
        "parquet": [{}, {"batch_size": 4}, {"compression": "zstd"}],
    }
    known = numbers().to_iterable_dataset(num_shards=3)
    unknown = known.map(lambda row: row)  # whose features only the last row tells
    for kind, several in options.items():
        for place, chosen in enumerate(several):
            paths = [tmp_path / f"{place}-{who}.{kind}" for who in ("dataset", "known", "unknown")]
            for path, rows in [*zip(paths, (numbers(), known, unknown))] * 2:
                written(rows, kind, path, **chosen)
            assert len({path.read_bytes() for path in paths}) == 1, (kind, chosen)


@pytest.mark.parametrize("options", [{"lines": False}, {"orient": "split"}])
def test_only_lines_can_follow_others(options, tmp_path):
    with pytest.raises(ArgumentError, match="mode"):
        numbers().to_json(tmp_path / "it.json", mode="a", **options)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_unknown_modes_and_no_workers_are_refused(kind, tmp_path):
    for options in ({"mode": "x"}, {"num_proc": 0}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            written(numbers(), kind, tmp_path / "it", **options)
    assert not list(tmp_path.iterdir())


def test_unknown_compression_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="zip"):
        numbers().to_csv(tmp_path / "it.csv", compression="zip")
    assert not os.listdir(tmp_path)


def test_the_same_rows_are_the_same_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        numbers().to_json(tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


# Options


def test_options_that_only_pandas_knows_go_to_pandas(tmp_path):
    numbers(2).to_json(tmp_path / "it.json", double_precision=3, lines=False)
    assert json.loads((tmp_path / "it.json").read_text())[1] == {"n": 1, "text": "text 1"}
    numbers(4).to_json(tmp_path / "it.jsonl", date_format="iso", batch_size=1)
    assert texts_in("json", (tmp_path / "it.jsonl").read_bytes()) == list(numbers(4)["text"])
    numbers(4).to_csv(tmp_path / "it.csv", errors="strict", batch_size=1, num_proc=2)
    assert texts_in("csv", (tmp_path / "it.csv").read_bytes()) == list(numbers(4)["text"])
    for kind in ("json", "csv", "parquet"):
        with pytest.raises(TypeError, match="nonsense"):
            written(numbers(), kind, tmp_path / "other", nonsense=1)
    assert not (tmp_path / "other").exists()


def test_a_text_file_of_another_column(tmp_path):
    dataset = Dataset.from_dict({"title": ["a", "b"]})
    assert dataset.to_text(tmp_path / "it.txt", column="title") == 4
    assert (tmp_path / "it.txt").read_text() == "a\nb\n"
    with pytest.raises(ColumnNotFoundError, match="title"):
        dataset.to_text(tmp_path / "other.txt")
    assert os.listdir(tmp_path) == ["it.txt"]


def test_csv_is_data_and_stays_as_it_is():
    stream = io.BytesIO()
    Dataset.from_dict({"text": ["=1+1", "@x", "-2"]}).to_csv(stream)
    assert texts_in("csv", stream.getvalue()) == ["=1+1", "@x", "-2"]


def test_references_to_media_are_not_followed(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"secret")
    reference = {"bytes": None, "path": str(tmp_path / "secret.png")}
    dataset = Dataset.from_dict({"i": [reference]}, features=Features({"i": Image()}))
    for kind in ("json", "csv", "parquet", "arrow"):
        stream = io.BytesIO()
        written(dataset, kind, stream)
        assert b"secret.png" in stream.getvalue()
        assert stream.getvalue().count(b"secret") == stream.getvalue().count(b"secret.png")


# Where to


@pytest.mark.parametrize("kind", KINDS)
def test_paths_of_all_kinds(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    places = [tmp_path / "a", os.fsencode(tmp_path / "b"), f"file://{tmp_path}/c", "~/d", str(tmp_path / "new" / "e")]
    for place in places:
        written(numbers(), kind, place)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c", "d", "new"]
    assert len({(tmp_path / name).read_bytes() for name in ("a", "b", "c", "d", "new/e")}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_storage_options_reach_the_file_system(kind):
    class Store(MemoryFileSystem):
        protocol, cachable = "store", False
        told: ClassVar[list[dict]] = []

        def __init__(self, **options):
            super().__init__()
            self.told.append(options)

    fsspec.register_implementation("store", Store, clobber=True)
    written(numbers(), kind, "store://told/it", storage_options={"key": "value"})
    assert Store.told[0] == {"key": "value"}
    Store.store.clear()


@pytest.mark.parametrize("kind", KINDS)
def test_remote_files(kind):
    files = fsspec.filesystem("memory")
    written(numbers(), kind, f"memory://exported/it.{kind}")
    stream = io.BytesIO()
    written(numbers(), kind, stream)
    assert files.cat_file(f"/exported/it.{kind}") == stream.getvalue()
    files.rm("/exported", recursive=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["local", "remote"])
def test_a_failure_leaves_what_was_there(kind, place, tmp_path, monkeypatch):
    target = str(tmp_path / "it") if place == "local" else f"memory://failed/it.{kind}"
    written(numbers(), kind, target)
    with fsspec.open(target, "rb") as file:
        before = file.read()
    original, calls = export.blocks, []

    def failing(view, *args, **kwargs):
        for table in original(view, 2):
            calls.append(len(table))
            if len(calls) == 3:
                raise OSError("no more")
            yield table

    monkeypatch.setattr(export, "blocks", failing)
    with pytest.raises(OSError, match="no more"):
        written(numbers(), kind, target)
    with fsspec.open(target, "rb") as file:
        assert file.read() == before
    if place == "local":
        assert os.listdir(tmp_path) == ["it"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_may_be_written_over_the_one_it_was_read_from(kind, tmp_path):
    numbers().to_arrow(tmp_path / "source.arrow")
    dataset = Dataset.from_file(tmp_path / "source.arrow").select([4, 2])
    written(dataset, kind, tmp_path / "source.arrow")
    assert texts_in(kind, (tmp_path / "source.arrow").read_bytes()) == ["text 4", "text 2"]
    assert dataset["n"] == [4, 2]


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "arrow"])
def test_memory_is_bounded_by_the_block(kind, tmp_path, monkeypatch):
    """Neither Python nor Arrow holds more than a few blocks, however long the dataset is."""
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 1 << 18)
    monkeypatch.setattr("crucible_datasets.config.MAX_ROW_GROUP_SIZE", "1MB")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "warm")
    path = tmp_path / "source.arrow"
    rows = np.random.default_rng(0).random(4_000_000)
    Dataset(pa.table({"text": rows})).to_arrow(path)
    dataset = Dataset.from_file(path).select(range(len(rows) - 1, -1, -1))
    dataset = dataset.select(range(4_000_000 if kind in ("parquet", "arrow") else 200_000))
    held = pa.total_allocated_bytes()
    most = 0
    original = export.blocks

    def watching(view, *args, **kwargs):
        nonlocal most
        for table in original(view, *args, **kwargs):
            most = max(most, pa.total_allocated_bytes() - held)
            yield table

    monkeypatch.setattr(export, "blocks", watching)
    tracemalloc.start()
    written(dataset, kind, tmp_path / "it")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 << 20
    assert peak < 30 << 20


# Databases


def sql_rows(connection: sqlite3.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT n FROM rows")]


@pytest.fixture
def database(tmp_path):
    with closing(sqlite3.connect(tmp_path / "it.db")) as connection:
        yield connection


def test_tables_of_a_database(database, tmp_path):
    assert numbers(3).select([2, 0]).to_sql("rows", database) == 2
    assert sql_rows(database) == [2, 0]
    with pytest.raises(ValueError, match="already exists"):
        numbers(3).to_sql("rows", database)
    numbers(1).to_sql("rows", database, if_exists="append")
    assert sql_rows(database) == [2, 0, 0]
    numbers(1).to_sql("rows", f"sqlite:///{tmp_path}/it.db", if_exists="replace", batch_size=1)
    assert sql_rows(database) == [0]
    numbers(9).to_sql("rows", database, if_exists="replace", batch_size=2, num_proc=3)
    assert sql_rows(database) == list(range(9))
    numbers(2).to_sql("rows", database, if_exists="replace", chunksize=1)
    assert sql_rows(database) == [0, 1]
    with pytest.raises(TypeError, match="nonsense"):
        numbers(2).to_sql("rows", database, if_exists="append", nonsense=1)


@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_failure_leaves_the_table_as_it_was(database, if_exists, monkeypatch):
    numbers(5).to_sql("rows", database)
    original = export.blocks

    def failing(view, *args, **kwargs):
        yield from original(view, 2)
        raise OSError("no more")

    monkeypatch.setattr(export, "blocks", failing)
    with pytest.raises(OSError, match="no more"):
        numbers(3).to_sql("rows", database, if_exists=if_exists)
    assert sql_rows(database) == [0, 1, 2, 3, 4]
