"""Parquet as bytes: what is written is read back, and only what is asked for is read."""

from __future__ import annotations

import io
import json
import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import ParquetFragmentScanOptions

from crucible_datasets import ClassLabel, Features, Image, IterableDataset, Json, List, Value, config, load_dataset
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    ColumnNotFoundError,
    FileFormatError,
    UnavailableError,
)
from crucible_datasets.formats import scan_options
from crucible_datasets.formats.base import fitting
from crucible_datasets.formats.parquet import FORMAT, byte_count

FEATURES = Features(
    {
        "n": Value("int64"),
        "label": ClassLabel(names=["a", "b"]),
        "turns": List({"role": Value("string")}),
        "any": Json(),
    }
)
TABLE = pa.table(
    {
        "n": [1, None, 3],
        "label": [0, 1, None],
        "turns": [[{"role": "user"}], [], None],
        "any": ['{"a": 1}', None, "[2]"],
    }
)


def written(tables=(TABLE,), features=FEATURES, **options) -> io.BytesIO:
    stream = io.BytesIO()
    FORMAT.write(tables, features, stream, **options)
    stream.seek(0)
    return stream


def test_what_is_written_is_read_back_with_its_features():
    [table] = FORMAT.rows(written())
    assert table.to_pylist() == TABLE.to_pylist()
    assert Features.from_arrow_schema(table.schema) == FEATURES


def test_no_rows():
    stream = written(())
    assert list(FORMAT.rows(stream)) == []
    assert Features.from_arrow_schema(pq.read_schema(stream)) == FEATURES


def test_hugging_face_reads_it_and_the_other_way_round(tmp_path):
    hf = pytest.importorskip("datasets")
    path = tmp_path / "ours.parquet"
    path.write_bytes(written().getvalue())
    theirs = hf.Dataset.from_parquet(str(path), cache_dir=str(tmp_path / "cache"))
    assert theirs.features.to_dict() == FEATURES.to_dict()
    assert theirs.remove_columns("any").to_list() == TABLE.drop_columns("any").to_pylist()
    theirs.to_parquet(str(tmp_path / "theirs.parquet"))
    with open(tmp_path / "theirs.parquet", "rb") as stream:
        [table] = FORMAT.rows(stream)
    assert Features.from_arrow_schema(table.schema) == FEATURES
    assert table.drop_columns("any").to_pylist() == TABLE.drop_columns("any").to_pylist()


def sizes(stream: io.BytesIO) -> list[int]:
    metadata = pq.ParquetFile(stream).metadata
    return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]


def test_row_groups_are_cut_and_joined(monkeypatch):
    numbers = Features({"n": Value("int64")})
    tables = [pa.table({"n": range(start, start + 10)}) for start in range(0, 50, 10)]
    assert sizes(written(tables, numbers)) == [50]
    assert sizes(written(tables, numbers, batch_size=20)) == [20, 20, 10]
    assert sizes(written(tables, numbers, batch_size=4)) == [4] * 12 + [2]
    monkeypatch.setattr(config, "MAX_ROW_GROUP_SIZE", "200KB")
    long = [pa.table({"n": range(30_000)})] * 2
    assert sizes(written(long, numbers)) == [25_000, 25_000, 10_000]


def test_it_is_written_as_hugging_face_does():
    metadata = pq.ParquetFile(written()).metadata
    assert json.loads(metadata.metadata[b"content_defined_chunking"]) == config.DEFAULT_CDC_OPTIONS
    column = metadata.row_group(0).column(0)
    assert column.compression == "SNAPPY"
    assert column.has_offset_index
    assert pq.ParquetFile(written(compression="zstd")).metadata.row_group(0).column(0).compression == "ZSTD"
    pictures = Features({"image": Image()})
    picture = pa.table({"image": pa.array([{"bytes": b"x" * 100, "path": None}], pictures["image"].pa_type)})
    column = pq.ParquetFile(written([picture], pictures)).metadata.row_group(0).column(0)
    assert (column.compression, "RLE_DICTIONARY" in column.encodings) == ("UNCOMPRESSED", False)


def test_columns_and_filters():
    tables = [pa.table({"n": range(start, start + 10), "t": [str(n) for n in range(10)]}) for start in range(0, 50, 10)]
    features = Features({"n": Value("int64"), "t": Value("string")})
    stream = written(tables, features, batch_size=10)

    def read(**asked):
        return [row for table in FORMAT.rows(stream, **asked) for row in table.to_pylist()]

    assert read(columns=["t"], filters=[("n", ">", 47)]) == [{"t": "8"}, {"t": "9"}]
    assert read(filters=pc.field("n") == 12) == [{"n": 12, "t": "2"}]
    assert len(list(FORMAT.read(stream, filters=pc.field("n") == 12))) == 1
    assert sum(map(len, FORMAT.read(stream, batch_size=3))) == 50
    with pytest.raises(ColumnNotFoundError):
        read(columns=["x"])
    with pytest.raises(ColumnNotFoundError, match="'x' does not exist.*Available: n, t"):
        read(filters=[("x", "==", 1)])
    with pytest.raises(ArgumentError, match="filters"):
        read(filters=[("n", "==", "text")])


@pytest.mark.parametrize("length", [0, 3, 100, 500])
def test_what_breaks_off_is_an_error(length):
    broken = io.BytesIO(written().getvalue()[:length])
    with pytest.raises(FileFormatError):
        list(FORMAT.rows(broken))


def test_options_of_pyarrow_that_decide_on_rows_are_refused_and_those_of_pace_told(tmp_path, caplog):
    """All of them, so that one of a later pyarrow is not passed over in silence."""
    path = str(tmp_path / "it.parquet")
    pq.write_table(pa.table({"a": [1, 2]}), path)

    def rows(options):
        given = {"data_files": path, "split": "train", "fragment_scan_options": options}
        (flowing, held) = (list(load_dataset("parquet", streaming=flows, **given)) for flows in (True, False))
        assert flowing == held == list(IterableDataset.from_parquet(path, fragment_scan_options=options))
        return flowing

    assert rows(None) == rows({}) == rows({"pre_buffer": False}) == [{"a": 1}, {"a": 2}]
    assert "pre_buffer" in caplog.text
    known = {name for name in dir(ParquetFragmentScanOptions()) if not name.startswith("_")}
    assert known == {*scan_options._OF_PACE, *scan_options._OF_ROWS, "arrow_extensions_enabled", "equals", "type_name"}
    for name, value in {"page_checksum_verification": True, "thrift_string_size_limit": 9}.items():
        with pytest.raises(UnavailableError, match=name):
            rows(ParquetFragmentScanOptions(**{name: value}))
    for wrong in ("x", {"no_such": 1}):
        with pytest.raises(ArgumentTypeError, match="ParquetFragmentScanOptions"):
            rows(wrong)


def test_sizes():
    assert [byte_count(size) for size in (5, "100MB", "2 GiB", "1kb")] == [5, 10**8, 2**31, 1000]
    with pytest.raises(ArgumentError):
        byte_count("many")


def test_columns_whose_names_have_dots_in_a_file_whose_name_is_no_text(tmp_path):
    rows = [
        {"a.b": {"c": 1, "d": {"e.f": "x"}}, "a": 1, "a.b.c": 0.5, "b": [{"a.b": 2}]},
        {"a.b": None, "a": None, "a.b.c": 1.5, "b": []},
    ]
    path = os.path.join(tmp_path, os.fsdecode(b"\xff.parquet"))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "text")
    os.rename(tmp_path / "text", path)
    for names in [*([name] for name in rows[0]), ["b", "a"]]:
        asked = {"data_files": path, "split": "train", "columns": names}
        expected = [{name: row[name] for name in names} for row in rows]
        assert load_dataset("parquet", **asked).to_list() == expected
        assert list(load_dataset("parquet", **asked, streaming=True)) == expected


@pytest.mark.parametrize("kind", [pa.ArrowMemoryError, pa.ArrowCancelled])
def test_what_is_no_fault_of_filters_is_not_said_to_be_one(kind):
    with pytest.raises(kind), fitting(pc.field("a") == 1, ["a"]):
        raise kind("none is left")


@pytest.mark.parametrize("kind", [pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, pa.ArrowKeyError])
def test_filters_that_do_not_fit_are_told(kind):
    with pytest.raises(ArgumentError, match="do not fit"), fitting(pc.field("a") == 1, ["a"]):
        raise kind("no such kernel")


@pytest.mark.parametrize("value", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("streaming", [False, True])
def test_filters_on_integers_beyond_int64(tmp_path, value, streaming):
    values = [0, 1, 2**63, 2**64 - 1]
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": pa.array(values, pa.uint64())}), path)
    for operator, matches in {"=": value.__eq__, "!=": value.__ne__, "<": value.__gt__, ">=": value.__le__}.items():
        filters = [("a", operator, value)]
        rows = load_dataset("parquet", data_files=path, split="train", filters=filters, streaming=streaming)
        assert [row["a"] for row in rows] == [*filter(matches, values)]
    filters = [("a", "in", [value, 5])]
    rows = load_dataset("parquet", data_files=path, split="train", filters=filters, streaming=streaming)
    assert [row["a"] for row in rows] == [value]


def test_filters_on_integers_that_no_column_holds(tmp_path):
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": [1]}), path)
    for streaming in (False, True):
        with pytest.raises(ArgumentError, match="64 bits"):
            list(
                load_dataset(
                    "parquet", data_files=path, split="train", filters=[("a", "<", 2**64)], streaming=streaming
                )
            )
