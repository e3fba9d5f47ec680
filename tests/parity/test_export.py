"""Exported files say the same as those of Hugging Face `datasets`, and each library reads the other's."""

from __future__ import annotations

import csv
import datetime as dt
import io
import itertools
import json
import sqlite3
from functools import partial
from typing import Any

import datasets as hf
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tables
from support.parity import canonical, same_outcome
from support.tables import specs

import crucible_datasets as ours

# What both write as the same text: Hugging Face goes through pandas, which has its own words for the rest.
PLAIN = [tables.scalar("int64", st.integers(-(2**53), 2**53)), tables.TEXTS[0], tables.BOOL, tables.LABELS]
FLOATS = tables.scalar("float64", st.sampled_from([0.0, 0.5, -1.25, 3.0, 1e20]))
JSON_KINDS = [
    *PLAIN,
    FLOATS,
    tables.scalar("date32", tables._dates),
    tables.scalar("timestamp[us]", tables._moments),
]
json_kinds = (
    st.sampled_from(JSON_KINDS)
    | st.sampled_from(PLAIN).map(tables.listed)
    | st.builds(tables.struct, st.sampled_from(PLAIN), st.sampled_from(PLAIN))
)


def exported(library: Any, dataset: Any, kind: str, **options: Any) -> tuple[int, bytes]:
    stream = io.BytesIO()
    count = getattr(dataset, f"to_{kind}")(stream, **options)
    return count, stream.getvalue()


@pytest.mark.filterwarnings("ignore")  # pandas tells Hugging Face of its plans
@given(spec=specs(json_kinds, min_rows=1))
def test_json_lines_say_the_same(spec):
    found = [exported(library, spec.dataset(library), "json")[1] for library in (hf, ours)]
    theirs, own = ([json.loads(line) for line in text.decode().split("\n")[:-1]] for text in found)
    assert own == theirs


@given(spec=specs(st.sampled_from(PLAIN), min_rows=1, nulls=False))
def test_csv_says_the_same(spec):
    found = [exported(library, spec.dataset(library), "csv")[1].decode() for library in (hf, ours)]
    theirs, own = (list(csv.reader(io.StringIO(text.replace("\x00", "0"), newline=""))) for text in found)
    assert own == theirs


ROWS = {"n": [1, None, 3], "text": ['a,"b"', "line\nbreak", None], "x": [0.5, 1.0, None], "yes": [True, False, None]}
ASCII = pytest.mark.parametrize("batch_size", [None, 1, 2])


@ASCII
@pytest.mark.parametrize(
    "options",
    [{}, {"lines": False}, {"orient": "split"}, {"orient": "columns"}, {"orient": "index"}, {"orient": "values"}],
)
def test_json_is_the_same_to_the_byte(options, batch_size):
    if batch_size and options:
        return  # Hugging Face writes such documents from one batch only
    same_outcome(
        *(
            lambda library=library: exported(
                library, library.Dataset.from_dict(ROWS), "json", batch_size=batch_size, **options
            )
            for library in (hf, ours)
        )
    )


@ASCII
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sep": "\t"},
        {"header": False},
        {"na_rep": "NA"},
        {"columns": ["text", "n"]},
        {"quoting": csv.QUOTE_ALL},
        {"lineterminator": "\r\n"},
        {"float_format": "%.3f"},
        {"index": False},
    ],
)
def test_csv_is_the_same_to_the_byte(options, batch_size):
    rows = {"n": [1, 2, 3], "text": ROWS["text"], "x": [0.5, 1.0, None]}
    same_outcome(
        *(
            lambda library=library: exported(
                library, library.Dataset.from_dict(rows), "csv", batch_size=batch_size, **options
            )
            for library in (hf, ours)
        )
    )


DATED = {**ROWS, "when": [dt.datetime(2020, 1, 2, 3, 4, 5, 678000), None, dt.datetime(1999, 12, 31)]}
CSV_OPTIONS: list[dict[str, Any]] = [
    {"sep": "ab"}, {"sep": ""}, {"index": True}, {"index": True, "index_label": "id"},
    {"index": True, "index_label": False}, {"header": None}, {"header": 0}, {"header": ["p", "q"]}, {"columns": ["zz"]},
    {"na_rep": 5}, {"float_format": "{:.1f}"}, {"float_format": "{:.1f}".format}, {"decimal": ","}, {"quoting": 2},
    {"quoting": 3}, {"quoting": 3, "escapechar": "\\"}, {"quoting": 9}, {"quotechar": "'"}, {"quotechar": "''"},
    {"date_format": "%d/%m/%Y %H"}, {"escapechar": "\\"}, {"chunksize": 1}, {"errors": "ignore"},
]  # fmt: skip
JSON_OPTIONS: list[dict[str, Any]] = [
    {"orient": "table"}, {"orient": "table", "index": True}, {"orient": "zz"}, {"orient": "split", "lines": True},
    {"index": True}, {"orient": "columns", "index": True}, {"orient": "columns", "index": False},
    {"orient": "index", "index": True}, {"date_format": "iso"}, {"date_unit": "s"}, {"double_precision": 2},
    {"default_handler": str}, {"force_ascii": True}, {"lines": False, "force_ascii": False},
]  # fmt: skip


def test_options_of_pandas_mean_the_same():
    def csv_of(library: Any, options: Any) -> Any:
        return exported(library, library.Dataset.from_dict(DATED), "csv", **options)

    def json_of(library: Any, options: Any) -> Any:
        text = exported(library, library.Dataset.from_dict(DATED), "json", **options)[1].decode()
        return [json.loads(line) for line in text.splitlines()]

    for write, options in [*((csv_of, each) for each in CSV_OPTIONS), *((json_of, each) for each in JSON_OPTIONS)]:
        try:
            same_outcome(partial(write, hf, options), partial(write, ours, options))
        except Exception as error:
            raise AssertionError(options) from error


def test_a_name_that_asks_for_a_zip_archive_is_refused(tmp_path):
    with pytest.raises(ours.exceptions.ArgumentError, match="zip"):
        ours.Dataset.from_dict(ROWS).to_json(tmp_path / "it.json.zip")


@pytest.mark.parametrize(("kind", "columns"), [("json", {"a": []}), ("csv", {"a": []}), ("json", {})])
def test_no_rows_and_no_columns(kind, columns):
    same_outcome(
        *(lambda library=library: exported(library, library.Dataset.from_dict(columns), kind) for library in (hf, ours))
    )


@given(spec=specs(min_rows=1), batch_size=st.integers(1, 4))
def test_parquet_files_hold_the_same(spec, batch_size):
    theirs, own = (
        pq.ParquetFile(io.BytesIO(exported(library, spec.dataset(library), "parquet", batch_size=batch_size)[1]))
        for library in (hf, ours)
    )
    assert own.schema_arrow.equals(theirs.schema_arrow)
    assert own.num_row_groups == theirs.num_row_groups
    # Read as one library reads both: the JSON in Json columns may be spelled differently.
    assert canonical(ours.Dataset(own.read())) == canonical(ours.Dataset(theirs.read()))


@pytest.mark.parametrize(("writer", "reader"), [(hf, ours), (ours, hf)], ids=["theirs→ours", "ours→theirs"])
@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_each_reads_the_files_of_the_other(writer, reader, kind, tmp_path):
    rows = {"n": [3, 1, 2], "text": ["é", "b,c", "🙂"], "x": [0.5, 1.5, 2.0]}
    path = str(tmp_path / f"it.{kind}")
    getattr(writer.Dataset.from_dict(rows).select([2, 0]), f"to_{kind}")(path)
    found = reader.load_dataset(kind, data_files=path, split="train", cache_dir=str(tmp_path / "cache"))
    assert found[:] == {"n": [2, 3], "text": ["🙂", "é"], "x": [2.0, 0.5]}


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_unknown_options_are_refused(kind):
    same_outcome(
        *(
            lambda library=library: exported(library, library.Dataset.from_dict(ROWS), kind, nonsense=1)
            for library in (hf, ours)
        )
    )


SQL_ROWS = {
    "n": [1, 2, 3],
    "text": ["a", "é", None],
    "x": [0.5, None, 1e20],
    "yes": [True, False, True],
    "day": [dt.date(2020, 1, 2), None, dt.date(1999, 1, 1)],
    "clock": [dt.time(1, 2, 3), dt.time(4, 5, 6, 7), None],
    "moment": [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 6), None],
    "data": [b"ab", b"", None],
}


def test_sql_tables_hold_the_same():
    befores = [[], [{}], [{"if_exists": "replace"}], [{"if_exists": "append"}]]
    optionses = [{}, {"if_exists": "append"}, {"if_exists": "replace"}, {"index": True}]
    for batch_size, before, options in itertools.product([None, 1, 2], befores, optionses):
        if "index" not in options or not batch_size:  # Hugging Face starts to count again with every batch
            _same_sql_tables(batch_size, before, options)


def _same_sql_tables(batch_size: int | None, before: list[Any], options: dict[str, Any]) -> None:
    def table(library: Any) -> Any:
        connection = sqlite3.connect(":memory:")
        try:
            dataset = library.Dataset.from_dict(SQL_ROWS)
            for each in before:
                dataset.to_sql("rows", connection, **each)
            count = dataset.to_sql("rows", connection, batch_size=batch_size, **options)
            # There bytes are declared as text, which they are not.
            kinds = [column[1:3] for column in connection.execute("PRAGMA table_info(rows)") if column[1] != "data"]
            indexes = [index[1] for index in connection.execute("PRAGMA index_list(rows)")]
            return count, kinds, indexes, connection.execute("SELECT * FROM rows").fetchall()
        finally:
            connection.close()

    same_outcome(lambda: table(hf), lambda: table(ours))
