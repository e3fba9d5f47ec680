"""A stream gives the values that a dataset of the same files gives, or says which row has another type."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import CastError, FileCastError, SchemaConflictError, StreamTypeError
from crucible_datasets.formats import streams as blocks
from crucible_datasets.reading import blockshards


def stream(format: str, paths: Any, **options: Any) -> ours.IterableDataset:
    return ours.load_dataset(format, data_files=[str(path) for path in paths], split="train", streaming=True, **options)


def loaded(format: str, paths: Any, **options: Any) -> ours.Dataset:
    return ours.load_dataset(format, data_files=[str(path) for path in paths], split="train", **options)


def up_to_error(rows: Any) -> tuple[list[Any], Exception | None]:
    found: list[Any] = []
    try:
        found.extend(rows)
    except Exception as error:
        return found, error
    return found, None


def shown(value: Any) -> str:
    """A text that differs for values of different types, and for 0.0 and -0.0."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{shown(item)}" for key, item in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(shown, value)) + "]"
    return f"{type(value).__name__} {value!r}"


ZONED = dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC)
COLUMNS: dict[str, pa.Array] = {
    "null": pa.nulls(3),
    "bool": pa.array([True, None, False]),
    "int8": pa.array([1, None, -8], pa.int8()),
    "uint8": pa.array([1, None, 200], pa.uint8()),
    "int32": pa.array([1, None, 1 << 20], pa.int32()),
    "int64": pa.array([1, None, (1 << 53) + 1]),
    "uint64": pa.array([1, None, (1 << 64) - 1], pa.uint64()),
    "float32": pa.array([0.5, None, float("nan")], pa.float32()),
    "float64": pa.array([0.5, -0.0, 0.1]),
    "whole": pa.array([1.0, 2.0, None]),
    "decimal": pa.array([Decimal("1.50"), None, Decimal("0.55")]),
    "finer": pa.array([Decimal("1.500"), None, Decimal("0.555")]),
    "text": pa.array(["008", None, "é漢🎈"]),
    "large": pa.array(["x", "null", "[1]"], pa.large_string()),
    "bytes": pa.array([b"\x00\xff", None, b""]),
    "date": pa.array([dt.date(2024, 2, 29), None, dt.date(1970, 1, 1)]),
    "seconds": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None, dt.datetime(1, 1, 1)], pa.timestamp("s")),
    "micros": pa.array([dt.datetime(2024, 2, 29), None, dt.datetime(2024, 2, 29, 1, 2, 3, 4)], pa.timestamp("us")),
    "zoned": pa.array([ZONED, None, ZONED], pa.timestamp("us", "UTC")),
    "time": pa.array([dt.time(1, 2, 3), None, dt.time(1, 2, 3, 4)]),
    "duration": pa.array([dt.timedelta(milliseconds=1), None, dt.timedelta(microseconds=1500)]),
    "ints": pa.array([[1, None], None, []]),
    "texts": pa.array([["a"], [], [None, "2020-01-01"]]),
    "struct": pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}]),
    "turned": pa.array([{"y": "a", "x": 1}, {"y": None, "x": 2}, None]),
    "wider": pa.array([{"x": 1.5, "y": "a"}, None, {"x": None, "y": "b"}]),
    "other": pa.array([None, {"x": 1}, {"x": 2}]),
    "structs": pa.array([[{"x": 1, "y": "a"}], None, [{"x": 2, "y": None}]]),
}


@pytest.mark.parametrize("first", COLUMNS)
def test_files_of_two_types_give_the_values_of_a_dataset_or_an_error(first, tmp_path):
    for second in COLUMNS:
        paths = [tmp_path / f"{first}.parquet", tmp_path / f"{second} after {first}.parquet"]
        for name, path in zip((first, second), paths, strict=True):
            pq.write_table(pa.table({"a": COLUMNS[name], "b": [1, 2, 3]}), path)
        made = stream("parquet", paths)
        rows, error = up_to_error(made)
        try:
            whole = loaded("parquet", paths).to_list()
        except (SchemaConflictError, CastError, ValueError):
            assert error is not None or first == "null" == second, (first, second)
        else:
            expected = list(map(shown, whole))
            same = COLUMNS[first].type == COLUMNS[second].type or first in ("null", second)
            assert error is None or not same, (first, second, error)
            if error is None:
                assert list(map(shown, rows)) == expected, (first, second)
        if error is not None:
            assert isinstance(error, StreamTypeError), (first, second, error)
            assert (error.column, error.path, error.row) == ("a", str(paths[1]), len(rows) - 3)
            assert [row["a"] for row in rows[3:]] == COLUMNS[second].to_pylist()[: len(rows) - 3]
        out = tmp_path / "out.parquet"
        for write in (lambda to=made: to.to_parquet(out), lambda to=made: to.batch(2).to_parquet(out)):
            _, refusal = up_to_error([0] for _ in [write()]) if error is None else up_to_error(iter(write, None))
            assert (refusal is None) == (error is None), (first, second, refusal)
            if error is None:
                assert len(ours.Dataset.from_parquet(str(out))) in (6, 3)
        if error is None:
            made.to_parquet(out)
            assert list(map(shown, ours.Dataset.from_parquet(str(out)).to_list())) == expected
            assert list(
                map(shown, (row for table in made.with_format("arrow").iter(4) for row in table.to_pylist()))
            ) == (list(map(shown, rows)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([2.5, "é", "008", "2020-01-01", "null", 1 << 60]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)
ALIKE = st.sampled_from([1, 2, 1 << 60, None]) | st.sampled_from(["a", "漢"]) | st.fixed_dictionaries({"x": VALUES})


@given(
    rows=st.lists(st.fixed_dictionaries({"a": VALUES | ALIKE, "b": st.just(1)}), min_size=1, max_size=30),
    block=st.sampled_from([16, 64, 1 << 20]),
    end=st.sampled_from(["", "\n"]),
    cut=st.integers(0, 30),
)
def test_json_in_blocks_and_files_gives_the_values_of_a_dataset_or_an_error(tmp_path_factory, rows, block, end, cut):
    folder = tmp_path_factory.mktemp("json")
    paths, parts = [folder / "1.jsonl", folder / "2.jsonl"], [rows[:cut], rows[cut:]]
    for path, part in zip(paths, parts, strict=True):
        path.write_text("\n".join(map(json.dumps, part)) + (end if part else ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        patch.setattr(blockshards, "BLOCK", block)
        made = stream("json", paths)
        found, error = up_to_error(made)
        _, same_error = up_to_error(row for table in made.with_format("arrow").iter(3) for row in table.to_pylist())
    try:
        whole = loaded("json", paths).to_list()
    except ValueError:
        assert error is not None
        return
    if error is None:
        assert list(map(shown, found)) == list(map(shown, whole))
    else:
        assert isinstance(error, StreamTypeError)
        assert error.path == str(paths[len(found) >= cut]) and error.row == len(found) - (
            cut if len(found) >= cut else 0
        )
        as_dates = "datetime datetime.datetime(2020, 1, 1, 0, 0)"  # what all texts of a column look like
        texts = [shown(row).replace(as_dates, "str '2020-01-01'") for row in found]
        assert texts == [shown(row) for row in rows[: len(found)]]
        assert isinstance(same_error, StreamTypeError)


@pytest.mark.parametrize("block", [None, 500, 100])
def test_rows_before_one_of_another_type_than_requested_are_given(block, tmp_path, monkeypatch):
    if block is not None:
        monkeypatch.setattr(blockshards, "BLOCK", block)
    path = tmp_path / "rows.jsonl"
    rows = [{"x": True, "text": "é" * 9}] * 100 + [{"x": 7, "text": ""}] + [{"x": False, "text": ""}] * 20
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    features = ours.Features({"x": ours.Value("bool"), "text": ours.Value("string")})
    stream = ours.load_dataset("json", data_files=str(path), split="train", streaming=True, features=features)
    count = 0
    with pytest.raises(FileCastError, match=r"rows.jsonl failed: Cannot cast column 'x', row 100, from 7"):
        for count, _ in enumerate(stream, 1):
            if count == 60:
                state = stream.state_dict()
    assert count == 100
    stream.load_state_dict(state)
    with pytest.raises(FileCastError, match="row 100"):
        list(stream)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_field_that_the_schema_of_a_later_file_lacks_is_null(format, tmp_path):
    tables = [pa.table({"s": [{"a": 1, "b": [{"c": 2, "d": 3}]}]}), pa.table({"s": [{"b": [{"d": 4}]}, None]})]
    paths = [str(tmp_path / f"{index}.{format}") for index in range(2)]
    for table, path in zip(tables, paths, strict=True):
        if format == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    stream = ours.load_dataset(format, data_files=paths, split="train", streaming=True)
    assert list(stream) == ours.load_dataset(format, data_files=paths, split="train").to_list()
    assert list(stream)[1:] == [{"s": {"a": None, "b": [{"c": None, "d": 4}]}}, {"s": None}]
    later = ours.load_dataset(format, data_files=paths[::-1], split="train", streaming=True)
    with pytest.raises(StreamTypeError, match=r"Read all rows as one type: .*'a': Value\('int64'\)"):
        list(later)


def test_an_integer_that_a_float_cannot_hold_is_not_rounded(tmp_path):
    for name, row in [("0", {"x": 0.8414709848078965}), ("1", {"x": 3}), ("2", {"x": 2**53 + 1})]:
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
    rows = iter(ours.load_dataset("json", data_files=str(tmp_path / "*.jsonl"), split="train", streaming=True))
    assert [next(rows), next(rows)] == [{"x": 0.8414709848078965}, {"x": 3.0}]
    with pytest.raises(StreamTypeError, match="9007199254740993 would change"):
        next(rows)
