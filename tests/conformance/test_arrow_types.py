"""Laws for the types of Arrow that others write: the values that pyarrow reads are the values that users read, however
the data enters, and whatever is done with it; a type that cannot be held is an error that names file and column."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.arrowtypes import COLUMNS, REFUSED

from crucible_datasets import Dataset, Features, Json, Value, concatenate_datasets, load_dataset, load_from_disk
from crucible_datasets.exceptions import (
    DatasetsError,
    FileFormatError,
    LimitExceededError,
    SchemaConflictError,
    UnknownTypeError,
)
from crucible_datasets.features.storage import feature_of, plain, storage_type, to_storage

SCATTERED = [15, 3, 3, 0, 7, 9, 1, 12]
# pyarrow ends the process when it writes some of these to Parquet.
VIEWS = [name for name in COLUMNS if "view" in name]


def table_of(array: pa.Array) -> pa.Table:
    """Sixteen rows, in columns of different chunks, of which some are slices or empty."""
    chunks = [array, array.slice(2, 3), array.slice(0, 0), array.slice(1)]
    return pa.table({"i": pa.array(range(16)), "x": pa.chunked_array(chunks)})


def values_of(name: str, array: pa.ChunkedArray) -> list[Any]:
    """The values as users read them: of JSON what it says, of a map its entries, of a UUID its bytes."""
    return [_value(value, json.loads if "json" in name else str) for value in array.to_pylist()]


def _value(value: Any, text: Any) -> Any:
    if isinstance(value, str) and text is not str:
        return _value(text(value), str)
    if isinstance(value, tuple) and len(value) == 2:
        return {"key": exact(value[0]), "value": exact(value[1])}
    if isinstance(value, list):
        return [_value(item, text) for item in value]
    if isinstance(value, dict):
        return {key: _value(item, text) for key, item in value.items()}
    return exact(value.bytes if isinstance(value, uuid.UUID) else value)


def exact(value: Any) -> Any:
    """A value whose `==` sees types, signs, NaN and the order of keys."""
    return repr(value)


def seen(values: Any) -> list[Any]:
    return [_value(value, str) for value in values]


@pytest.fixture(params=COLUMNS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("array", COLUMNS.values(), ids=COLUMNS)
def test_storage_has_the_values_of_every_slice(array):
    for start, length in itertools.product(range(0, 7, 2), range(0, 8, 3)):
        part = array.slice(start, length)
        column = to_storage(pa.chunked_array([part], type=array.type))
        column.validate(full=True)
        assert column.type == plain(array.type) == storage_type(feature_of(array.type))
        storage = part.storage if isinstance(part, pa.ExtensionArray) and part.type != pa.bool8() else part
        assert seen(column.to_pylist()) == seen(storage.to_pylist())
    assert plain(plain(array.type)) == plain(array.type)


def test_every_way_of_reading_gives_the_values(name):
    table = table_of(COLUMNS[name])
    expected, dataset = values_of(name, table["x"]), Dataset(table)
    assert seen(dataset["x"][:]) == seen(dataset[:]["x"]) == seen(row["x"] for row in dataset) == expected
    assert seen(dataset[row]["x"] for row in range(16)) == expected
    assert seen(dataset[3:12]["x"]) == seen(dataset.select(range(3, 12))["x"][:]) == expected[3:12]
    scattered = dataset.select(SCATTERED)
    wanted = [expected[row] for row in SCATTERED]
    assert seen(scattered["x"][:]) == seen(row["x"] for row in scattered) == wanted
    shuffled = {row["i"]: row["x"] for row in dataset.shuffle(seed=1)}
    assert seen(shuffled[row] for row in range(16)) == expected
    assert seen(row["x"] for row in dataset.to_iterable_dataset()) == expected
    assert seen(Dataset(table.slice(2, 9)).select([8, 0, 4])["x"][:]) == [expected[row] for row in (10, 2, 6)]
    assert len(Dataset(table.slice(0, 0))) == 0


def test_operations_keep_the_values(name, tmp_path):
    table = table_of(COLUMNS[name])
    expected, dataset = values_of(name, table["x"]), Dataset(table)
    assert seen(dataset.map(lambda row: {"n": 1})["x"][:]) == expected
    assert seen(dataset.filter(lambda row: row["i"] % 2 == 0)["x"][:]) == expected[::2]
    twice = concatenate_datasets([dataset, dataset])
    assert seen(twice.select([17, 2, 2, 31])["x"][:]) == [expected[row] for row in (1, 2, 2, 15)]
    dataset.save_to_disk(tmp_path / "saved", num_shards=2)
    assert load_from_disk(tmp_path / "saved").features == dataset.features
    assert seen(load_from_disk(tmp_path / "saved")["x"][:]) == expected
    dataset.select(SCATTERED).save_to_disk(tmp_path / "scattered", num_shards=3)
    assert seen(load_from_disk(tmp_path / "scattered")["x"][:]) == [expected[row] for row in SCATTERED]
    try:
        dataset.to_parquet(tmp_path / "x.parquet")
    except DatasetsError as error:
        assert "'x'" in str(error)
    else:
        again = Dataset.from_parquet(str(tmp_path / "x.parquet"))
        assert seen(again["x"][:]) == expected


def written(folder: Path, kind: str, table: pa.Table, name: str = "x") -> str:
    path = str(folder / f"{name}.{'parquet' if kind == 'parquet' else 'arrow'}")
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=5)
        return path
    make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with make(path, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("kind", ["parquet", "stream", "file"])
def test_files_have_the_values(name, kind, tmp_path):
    if kind == "parquet" and name in VIEWS:
        pytest.skip("others write views to Parquet, see below")
    table = table_of(COLUMNS[name])
    try:
        path = written(tmp_path, kind, table)
        # What Parquet lacks, pyarrow writes as another type.
        source = pq.read_table(path)["x"] if kind == "parquet" else table["x"]
    except (pa.ArrowException, OSError) as error:
        pytest.skip(f"pyarrow itself cannot write or read it: {error}")
    format = "parquet" if kind == "parquet" else "arrow"
    dataset = load_dataset(format, data_files=path, split="train", cache_dir=str(tmp_path / "cache"))
    expected = values_of(name, source)
    assert seen(dataset["x"][:]) == expected
    assert seen(dataset.select(SCATTERED)["x"][:]) == [expected[row] for row in SCATTERED]
    stream = load_dataset(format, data_files=path, split="train", streaming=True)
    assert seen(row["x"] for row in stream) == expected
    if kind != "parquet":
        assert seen(Dataset.from_file(path)["x"][:]) == expected


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("kind", ["stream", "file"])
def test_a_type_that_no_column_can_hold_is_refused_with_file_and_column(name, kind, tmp_path):
    table = pa.table({"i": pa.array(range(7)), "x": REFUSED[name]})
    with pytest.raises(UnknownTypeError, match="'x'"):
        Dataset(table)
    path = written(tmp_path, kind, table)
    with pytest.raises(FileFormatError, match="'x'") as caught:
        load_dataset("arrow", data_files=path, split="train", cache_dir=str(tmp_path / "cache"))
    assert path in str(caught.value)
    with pytest.raises(FileFormatError, match="'x'"):
        list(load_dataset("arrow", data_files=path, split="train", streaming=True))
    with pytest.raises(FileFormatError, match="'x'"):
        Dataset.from_file(path)


def test_other_libraries_write_their_types(tmp_path):
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    texts = ["é日本", None, "", "🙂 a text longer than twelve bytes"]
    frame = polars.DataFrame({"x": texts, "c": polars.Series(["a", "b", None, "a"], dtype=polars.Categorical)})
    frame = frame.with_columns(s=polars.struct("x", "c"), l=polars.concat_list("x"))
    rows = frame.to_dicts()
    frame.write_parquet(tmp_path / "polars.parquet")
    frame.write_ipc(tmp_path / "polars.arrow")
    assert list(Dataset.from_polars(frame)) == rows
    assert list(load_dataset("parquet", data_files=str(tmp_path / "polars.parquet"), split="train")) == rows
    assert list(load_dataset("arrow", data_files=str(tmp_path / "polars.arrow"), split="train")) == rows
    path = str(tmp_path / "duckdb.parquet")
    duckdb.sql(f"""copy (select map(['a', 'b'], [1, null]) as m, uuid '00000000-0000-0000-0000-000000000007' as u,
        1.50::decimal(4, 2) as d, time '01:02:03.000004' as t, 'x'::enum('x', 'y') as e,
        {{'a': [1, null], 'b': null::varchar}} as s) to '{path}' (format parquet)""")
    (row,) = load_dataset("parquet", data_files=path, split="train")
    assert row["m"] == [{"key": "a", "value": 1}, {"key": "b", "value": None}]
    assert row["u"] == uuid.UUID(int=7).bytes
    assert (str(row["d"]), row["t"].isoformat(), row["e"]) == ("1.50", "01:02:03.000004", "x")
    assert row["s"] == {"a": [1, None], "b": None}


def test_outputs_hold_the_values_or_name_the_column(name):
    table = table_of(COLUMNS[name])
    expected, dataset = values_of(name, table["x"]), Dataset(table)
    shown = dataset.with_format("arrow")
    assert values_of(name, shown[:]["x"]) == values_of(name, shown["x"][:]) == expected
    assert values_of(name, shown.select(SCATTERED)[:]["x"]) == [expected[row] for row in SCATTERED]
    for library in ("numpy", "pandas", "polars"):
        pytest.importorskip(library)
        formatted = dataset.with_format(library)
        for part in (formatted, formatted.select(SCATTERED)):
            try:
                column, first = part[:]["x"], part[0]["x"]
            except DatasetsError:
                continue
            assert len(column) == len(part)
            assert first is not None or library == "numpy"
            if library == "polars" and not name.startswith(("time", "duration", "date64", "float16")):
                wanted = part.with_format(None)[:]["x"]
                assert seen(column.to_list()) == seen(wanted), library


def test_to_webdataset_gives_back_the_values_or_refuses_them(name, tmp_path):
    pytest.importorskip("xxhash")
    dataset = Dataset(table_of(COLUMNS[name]))
    try:
        paths = dataset.to_webdataset(tmp_path / "x-%d.tar", max_shard_size=3000)
    except DatasetsError as error:
        assert "'x'" in str(error)
        assert not list(tmp_path.glob("x-0.tar")) or "row" in str(error)
        return
    again = load_dataset("webdataset", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    column = next((column for column in again.column_names if column.split(".")[0] in ("x", "txt", "bin")), None)
    found = again[column][:] if column else [None] * 16
    assert seen(found) == seen(dataset["x"][:])


CASES = {
    "fields in another order": ([{"chosen": "good", "rejected": "bad"}], [{"rejected": "bad", "chosen": "good"}]),
    "fields of one file": ([[{"x": 1}], [], None], [[{"y": "é", "x": 2}], None, []]),
    "fields deep inside": ([{"a": [{"p": "1"}]}, None], [{"a": [{"q": 2.5, "p": "2"}, None]}]),
    "wider numbers": (pa.array([{"n": 1}], pa.struct({"n": pa.int8()})), [{"n": 2**40}]),
    "units": (pa.array([1, None], pa.timestamp("s")), pa.array([1500, None], pa.timestamp("us"))),
    "dates beside timestamps": (pa.array([20_000], pa.date32()), pa.array([1_500_000], pa.timestamp("us"))),
    "times of day": (pa.array([1], pa.time32("s")), pa.array([1500], pa.time64("us"))),
    "decimals": (pa.array([1], pa.decimal128(5, 2)), pa.array([2], pa.decimal128(10, 4))),
    "lists": (pa.array([["a"]], pa.large_list(pa.string())), pa.array([["b"]])),
    "views": (pa.array(["a", None], pa.string_view()), ["b"]),
    "dictionaries": (pa.array(["a", None]).dictionary_encode(), ["b"]),
    "nulls": (pa.nulls(2), [{"a": None}, {"a": 1}]),
    "text beside Json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['"42"', "1"])), ["42", None]),
}


@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize("case", CASES)
def test_files_of_different_schemas_unite_by_name(case, turned, tmp_path):
    parts = list(reversed(CASES[case])) if turned else list(CASES[case])
    tables = [pa.table({"i": pa.array(range(len(part))), "x": part}) for part in parts]
    tables[1] = tables[1].select(["x", "i"])
    rows = {}
    for kind in ("parquet", "stream"):
        paths = [written(tmp_path, kind, table, name) for table, name in zip(tables, "ab", strict=True)]
        format = "parquet" if kind == "parquet" else "arrow"
        dataset = load_dataset(format, data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
        rows[kind] = (str(dataset.features["x"]), list(dataset))
        shuffled = dataset.shuffle(seed=2)
        assert sorted(map(repr, shuffled)) == sorted(map(repr, dataset))
    assert rows["parquet"][1] == rows["stream"][1]
    if case != "units":  # Parquet has no seconds
        assert rows["parquet"] == rows["stream"]
    expected = [value for part in parts for value in (part.to_pylist() if isinstance(part, pa.Array) else part)]
    for row, value in zip(rows["stream"][1], expected, strict=True):
        assert _agree(row["x"], json.loads(value) if case == "text beside Json" and value in ('"42"', "1") else value)


def _agree(read: Any, value: Any) -> bool:
    """Whether a value is the same, apart from null fields that its file did not have, and the unit of a time."""
    if isinstance(value, dict):
        absent = [read[key] for key in read if key not in value]
        return all(field is None for field in absent) and all(_agree(read[key], value[key]) for key in value)
    if isinstance(value, list):
        return len(read) == len(value) and all(map(_agree, read, value))
    return read == value or str(read).startswith(str(value))


def test_files_whose_types_share_no_values_are_an_error_that_names_both(tmp_path):
    parts = ["42"], [42], [b"42"], [True], [[42]], [{"a": 42}]
    for kind in ("parquet", "stream"):
        paths = [written(tmp_path, kind, pa.table({"x": part}), str(number)) for number, part in enumerate(parts)]
        for pair in itertools.permutations(paths, 2):
            with pytest.raises(SchemaConflictError) as caught:
                load_dataset("parquet" if kind == "parquet" else "arrow", data_files=list(pair), split="train")
            assert all(path in str(caught.value) for path in pair)


def test_a_json_column_comes_back_equal_from_every_file(tmp_path):
    values = ["42", "null", "[1]", "", None, {"a": 1}, {"b": [1, {"c": None}]}, 2**63, 1.5, True, [], {}, 'é🙂\n"\\']
    features = Features({"j": Json(), "s": {"j": Json()}, "l": [Json()]})
    rows = [{"j": value, "s": {"j": value}, "l": [value, None, "1"]} for value in values]
    dataset = Dataset.from_list(rows, features=features)
    for format in ("parquet", "arrow", "json"):
        path = str(tmp_path / f"x.{format}")
        getattr(dataset, f"to_{format}")(path)
        for options in ({}, {"features": features}):
            cache = str(tmp_path / f"cache{len(options)}")
            assert list(load_dataset(format, data_files=path, split="train", cache_dir=cache, **options)) == rows
            assert list(load_dataset(format, data_files=path, split="train", streaming=True, **options)) == rows
    dataset.shuffle(seed=1).save_to_disk(tmp_path / "saved", num_shards=3)
    assert list(load_from_disk(tmp_path / "saved")) == list(dataset.shuffle(seed=1))
    top, only = dataset.select_columns(["j"]), Features({"j": Json()})
    top.to_csv(tmp_path / "x.csv")
    assert list(load_dataset("csv", data_files=str(tmp_path / "x.csv"), split="train", features=only)) == list(top)
    top.to_sql("x", f"sqlite:///{tmp_path}/x.db")
    assert list(Dataset.from_sql("x", f"sqlite:///{tmp_path}/x.db", features=only)) == list(top)
    present = top.filter(lambda row: row["j"] is not None)
    paths = present.to_webdataset(tmp_path / "x.tar")
    again = load_dataset("webdataset", data_files=paths, split="train", cache_dir=str(tmp_path / "tar"))
    assert again["json"][:] == present["j"][:]
    # Other readers find the JSON texts.
    stored = pq.read_table(tmp_path / "x.parquet")["j"].to_pylist()
    assert [None if text is None else json.loads(text) for text in stored] == values


def test_views_with_nulls_below_nulls_are_written_without_ending_the_process(tmp_path):
    program = """
    import sys
    import pyarrow as pa
    from support.arrowtypes import COLUMNS
    from crucible_datasets import Dataset
    for name, array in COLUMNS.items():
        if "view" in name:
            many = pa.chunked_array([array.slice(1, 5)] * 500)
            Dataset(pa.table({"x": many})).to_parquet(f"{sys.argv[1]}/x.parquet")
            assert Dataset.from_parquet(f"{sys.argv[1]}/x.parquet")["x"][:5] == Dataset(pa.table({"x": many}))["x"][:5]
    """
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_declared_views_are_stored_as_text_and_bytes():
    features = Features({"s": Value("string_view"), "b": Value("binary_view")})
    dataset = Dataset.from_dict({"s": ["é", None], "b": [b"\xff", None]}, features=features)
    assert dataset.data.schema == pa.schema({"s": pa.string(), "b": pa.binary()})
    assert list(dataset.select([1, 0])) == [{"s": None, "b": None}, {"s": "é", "b": b"\xff"}]


def _repeating() -> dict[str, pa.Array]:
    """A few hundred kilobytes that would be gigabytes in their storage type."""
    rows, text = 20_000, pa.array(["x" * 200_000])
    zeros = pa.array([0] * rows, pa.int32())
    view = np.zeros((rows, 4), np.int32)
    view[:, 0], view[:, 1] = 200_000, int.from_bytes(b"xxxx", "little")
    categories = pa.DictionaryArray.from_arrays(zeros, text)
    return {
        "dictionary": categories,
        "dictionary in a struct": pa.StructArray.from_arrays([categories], ["a"]),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1], pa.int64()), pa.array([1])),
        "runs of text": pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int32()), text),
        "list view": pa.ListViewArray.from_arrays(zeros, pa.array([rows] * rows, pa.int32()), pa.array(range(rows))),
        "view": pa.Array.from_buffers(pa.string_view(), rows, [None, pa.py_buffer(view.tobytes()), text.buffers()[2]]),
    }


@pytest.mark.parametrize("name", _repeating())
def test_values_repeated_without_end_are_refused_before_they_take_memory(name, tmp_path):
    path = written(tmp_path, "stream", pa.table({"x": _repeating()[name]}))
    with pytest.raises(LimitExceededError, match="x.arrow"):
        load_dataset("arrow", data_files=path, split="train", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(LimitExceededError):
        next(iter(load_dataset("arrow", data_files=path, split="train", streaming=True)))
    with pytest.raises(LimitExceededError):
        Dataset.from_file(path)
