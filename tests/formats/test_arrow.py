"""Arrow IPC as bytes: streams, files and Feather; what is not valid is never looked into."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from crucible_datasets import ClassLabel, Features, List, Value, load_dataset
from crucible_datasets.exceptions import ArrowFileError, FileFormatError, LimitExceededError
from crucible_datasets.formats.arrow import FORMAT
from crucible_datasets.tables import files
from crucible_datasets.tables.files import open_table

FEATURES = Features({"text": Value("string"), "label": ClassLabel(names=["a", "b"]), "items": List(Value("int32"))})
TABLE = pa.table(
    {"text": ["é", None, "c"], "label": [0, 1, None], "items": pa.array([[1], [], None], pa.list_(pa.int32()))}
)


def stream_of(table: pa.Table, kind: str = "stream") -> io.BytesIO:
    sink = io.BytesIO()
    if kind == "feather":
        import pyarrow.feather as feather

        feather.write_feather(table, sink)
    else:
        with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    sink.seek(0)
    return sink


@pytest.mark.parametrize("kind", ["stream", "file", "feather"])
def test_every_kind_is_read(tmp_path, kind):
    source = stream_of(TABLE, kind)
    assert [row for table in FORMAT.rows(source) for row in table.to_pylist()] == TABLE.to_pylist()
    path = tmp_path / f"data.{kind}"
    path.write_bytes(source.getvalue())
    assert open_table(path).equals(TABLE)
    assert open_table(path, in_memory=True).equals(TABLE)


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_no_rows_still_have_a_schema(kind):
    [table] = FORMAT.rows(stream_of(TABLE.slice(0, 0), kind))
    assert (table.num_rows, table.schema) == (0, TABLE.schema)


def test_what_is_written_is_read_back_with_its_features():
    sink = io.BytesIO()
    assert FORMAT.write([TABLE, TABLE], FEATURES, sink) == 2 * TABLE.nbytes
    sink.seek(0)
    tables = list(FORMAT.rows(sink))
    assert Features.from_arrow_schema(tables[0].schema) == FEATURES
    assert pa.concat_tables(tables).to_pylist() == TABLE.to_pylist() * 2


def test_columns_and_filters():
    rows = [
        row
        for table in FORMAT.rows(stream_of(TABLE), columns=["text"], filters=pc.field("label") == 0)
        for row in table.to_pylist()
    ]
    assert rows == [{"text": "é"}]


def test_feather_1_is_named():
    with pytest.raises(FileFormatError, match="Feather version 1"):
        list(FORMAT.rows(io.BytesIO(b"FEA1" + bytes(100))))


def wild_offsets() -> bytes:
    """A stream whose first string ends far outside of its buffer."""
    offsets = pa.py_buffer(pa.array([0, 1 << 30, 2], pa.int32()).buffers()[1])
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    return stream_of(pa.table({"text": broken})).getvalue()


def test_offsets_are_checked_before_they_are_followed(tmp_path):
    with pytest.raises(FileFormatError):
        list(FORMAT.rows(io.BytesIO(wild_offsets())))
    path = tmp_path / "wild.arrow"
    path.write_bytes(wild_offsets())
    for _ in range(2):
        with pytest.raises(ArrowFileError, match="wild.arrow"):
            open_table(path)


def test_a_file_is_validated_once_until_it_changes(tmp_path, monkeypatch):
    validated = []
    batches = files.batches
    monkeypatch.setattr(files, "batches", lambda source, path: validated.append(path) or batches(source, path))
    path = tmp_path / "data.arrow"
    path.write_bytes(stream_of(TABLE).getvalue())
    open_table(path), open_table(path)
    assert len(validated) == 1
    path.write_bytes(stream_of(TABLE.slice(1)).getvalue())
    open_table(path)
    assert len(validated) == 2


FUZZ = """
    import io, random, sys, time
    from crucible_datasets.exceptions import DatasetsError
    from crucible_datasets.formats.arrow import FORMAT
    seed, paths, seconds = int(sys.argv[1]), sys.argv[3:], float(sys.argv[2])
    draw, end, tried = random.Random(seed), time.monotonic() + seconds, 0
    sources = [open(path, "rb").read() for path in paths]
    while time.monotonic() < end:
        data = bytearray(draw.choice(sources))
        if draw.random() < 0.2:
            del data[draw.randrange(len(data)):]
        else:
            for _ in range(draw.randrange(1, 5)):
                data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            for table in FORMAT.rows(io.BytesIO(data)):
                table.to_pylist()
        except DatasetsError:
            pass
        tried += 1
    print("tried", tried)
"""


def test_broken_data_raises_typed_errors_and_nothing_else(tmp_path):
    paths = []
    for kind in ("stream", "file", "feather"):
        paths.append(str(tmp_path / kind))
        (tmp_path / kind).write_bytes(stream_of(TABLE.replace_schema_metadata(FEATURES.metadata()), kind).getvalue())
    seed = int(os.environ.get("CRUCIBLE_SEED", 20261115))
    print("seed", seed)  # noqa: T201
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(FUZZ), str(seed), "4", *paths]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, f"seed {seed}: {ran.stderr[-3000:]}"


def test_rows_that_take_no_bytes_are_not_believed():
    """A mutant of seed 302245321 claimed four billion rows without columns."""
    batch = pa.RecordBatch.from_arrays([pa.nulls(5_000_000)], names=["nothing"])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(LimitExceededError, match="rows without bytes"):
        list(FORMAT.rows(io.BytesIO(sink.getvalue())))


def test_two_columns_of_one_name_are_refused_and_none_is_lost(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    path = str(tmp_path / "it.arrow")
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(FileFormatError, match="same name"):
        load_dataset("arrow", data_files=path)
    with pytest.raises(FileFormatError, match="same name"):
        list(load_dataset("arrow", data_files=path, split="train", streaming=True))


def test_a_stream_has_no_batch_whose_rows_are_all_left_out(tmp_path):
    path = str(tmp_path / "it.arrow")
    with pa.ipc.new_stream(path, pa.schema({"a": pa.int64()})) as writer:
        for number in range(4):
            writer.write_batch(pa.record_batch({"a": [number] * 3}))
    stream = load_dataset("arrow", data_files=path, split="train", streaming=True, filters=[("a", "=", 2)])
    assert [row["a"] for row in stream] == [2, 2, 2]
    assert [table.num_rows for table in stream.with_format("arrow").iter(10)] == [3]
    (shard,) = stream._stream.stage.shards
    assert [len(batch) for _, batch in shard.batches()] == [3]


@pytest.mark.parametrize(
    ("wrap", "values"),
    [
        (lambda inner: inner, [None]),
        (lambda inner: inner, [None, {"x": None}]),
        (lambda inner: pa.struct([("y", inner)]), [None, {"y": None}]),
        (lambda inner: pa.list_(inner), [[None], None]),
    ],
)
def test_dictionaries_without_values_below_null_structs(tmp_path, wrap, values):
    inner = pa.struct([("x", pa.dictionary(pa.int8(), pa.string()))])
    table = pa.table({"a": pa.array(values, wrap(inner))})
    path = str(tmp_path / "a.arrow")
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    for streaming in (False, True):
        rows = load_dataset("arrow", data_files=path, split="train", streaming=streaming)
        assert [row["a"] for row in rows] == values
