"""CSV: types over all rows, two ways of reading that agree, memory of a block."""

from __future__ import annotations

import csv as standard
import datetime
import io

import pyarrow as pa
import pytest
from support.formats import loaded

from crucible_datasets import load_dataset
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, FileColumnsError, FileFormatError
from crucible_datasets.features import Features, Value
from crucible_datasets.formats import csv
from crucible_datasets.formats.csv import FORMAT


def read(text: str | bytes, **options):
    return loaded(FORMAT, text if isinstance(text, bytes) else text.encode(), **options)


def kinds(text: str, **options) -> dict[str, str]:
    return {name: feature.dtype for name, feature in read(text, **options)[0].items()}


ROWS = [
    [str(number), f"text, {number}\n", "" if number % 3 else "x", str(number / 2), str(number % 2 == 0)]
    for number in range(400)
]


def as_text(rows: list[list[str]]) -> str:
    stream = io.StringIO()
    standard.writer(stream).writerows([["i", "s", "gap", "f", "b"], *rows])
    return stream.getvalue()


def test_a_file_of_many_blocks_reads_like_one_block(monkeypatch):
    whole = read(as_text(ROWS))
    monkeypatch.setattr(csv, "_BLOCK", 1000)
    assert read(as_text(ROWS)) == whole


@pytest.mark.parametrize("late", ["x", "2.5", "", "True", "99999999999999999999"])
def test_one_late_value_decides_what_a_column_is(late, monkeypatch):
    text = "a,b\n" + "1,0\n" * 500 + f"{late},0\n"
    whole = read(text)
    monkeypatch.setattr(csv, "_BLOCK", 300)
    assert read(text) == whole
    assert whole[1]["a"][0] in (1, "1")


def test_a_stream_that_cannot_be_rewound_is_read_too(monkeypatch):
    class Once(io.BytesIO):
        def seekable(self) -> bool:
            return False

    monkeypatch.setattr(csv, "_BLOCK", 1000)
    tables = list(FORMAT.rows(Once(as_text(ROWS).encode())))
    assert pa.concat_tables(tables)["i"].to_pylist() == list(range(400))


def test_both_ways_of_reading_agree(monkeypatch):
    fast = read(as_text(ROWS))
    monkeypatch.setattr(csv.Dialect, "in_arrow", lambda self: False)
    assert read(as_text(ROWS)) == fast


def test_rows_that_are_too_short_are_filled_even_late_in_the_file(monkeypatch):
    text = "a,b\n" + "1,2\n" * 300 + "3\n" + "4,5\n"
    assert read(text)[1]["b"][-2:] == [None, 5]
    monkeypatch.setattr(csv, "_BLOCK", 200)
    assert read(text)[1]["a"][-3:] == [1, 3, 4]


def test_good_rows_come_before_the_error_that_names_the_bad_one():
    found = []
    with pytest.raises(FileFormatError) as caught:
        for table in FORMAT.rows(io.BytesIO(b"a,b\n1,2\n3,4\n5,6,7\n8,9\n")):
            found += table.to_pylist()
    assert found == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert caught.value.row == 2


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_text_of_another_encoding_says_which_to_pass(encoding):
    with pytest.raises(FileFormatError, match=f"Pass .*encoding='{encoding}'"):
        list(FORMAT.rows(io.BytesIO("a,b\né,1\n".encode(encoding))))


@pytest.mark.parametrize("text", ['a,b\n"x,1\n2,3\n', 'a,b\n1,2\n"'])
def test_a_quote_that_is_not_closed_is_an_error(text):
    with pytest.raises(FileFormatError, match="not closed"):
        read(text)


def test_digits_are_not_lost():
    assert kinds("a,b\n1,2\n9007199254740993,\n") == {"a": "int64", "b": "float64"}
    assert read("a,b\n1,2\n,9007199254740993\n")[1]["b"] == [2, 9007199254740993]
    assert kinds("a\n123456789012345678901234567890\n") == {"a": "large_string"}


def test_an_empty_column_fits_any_other_file():
    assert kinds("a,b\n1,\n2,\n") == {"a": "int64", "b": "null"}


def test_a_header_without_rows_names_the_columns():
    _, columns = read("a,b\n")
    assert columns == {"a": [], "b": []}


def test_dtype_settles_types():
    assert kinds("a,b\n01,2\n", dtype={"a": str, "b": "float32"}) == {"a": "large_string", "b": "float32"}
    with pytest.raises(ArgumentError, match="dtype"):
        read("a\nx\n", dtype="int64")


def test_text_features_keep_the_text():
    assert read("a\n007\n", features=Features({"a": Value("string")}))[1] == {"a": ["007"]}


def test_an_unknown_column_in_usecols_is_an_error():
    with pytest.raises(ColumnNotFoundError):
        read("a\n1\n", usecols=["b"])


def test_reading_needs_no_pandas():
    import subprocess
    import sys

    script = (
        "import io, sys\nfrom crucible_datasets.formats.csv import FORMAT\n"
        "list(FORMAT.rows(io.BytesIO(b'a,b,c,d\\n1,x,2.5,True\\n,y,3,False\\n')))\nassert 'pandas' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def written(table: pa.Table, **options) -> str:
    stream = io.BytesIO()
    FORMAT.write([table], Features.from_arrow_schema(table.schema), stream, **options)
    return stream.getvalue().decode(options.get("encoding", "utf-8"))


MOMENTS = pa.table(
    {
        "t": [datetime.datetime(2020, 1, 1, 1, 2, 3), None],
        "d": [datetime.date(2020, 1, 1)] * 2,
        "f": [1.0, 1e300],
        "b": [True, None],
        "s": ['q"', "a,b"],
    }
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 't,d,f,b,s\n2020-01-01 01:02:03,2020-01-01,1.0,True,"q"""\n,2020-01-01,1e+300,,"a,b"\n'),
        ({"columns": ["s", "f"], "sep": ";"}, 's;f\n"q""";1.0\na,b;1e+300\n'),
        ({"columns": ["b"]}, 'b\nTrue\n""\n'),
        ({"columns": ["b"], "na_rep": "NULL", "header": False}, "True\nNULL\n"),
        ({"columns": ["f"], "index": True}, ",f\n0,1.0\n1,1e+300\n"),
        ({"columns": ["f"], "index": True, "index_label": "row"}, "row,f\n0,1.0\n1,1e+300\n"),
        ({"columns": ["f"], "float_format": "%.1e"}, "f\n1.0e+00\n1.0e+300\n"),
        ({"columns": ["f"], "header": ["g"]}, "g\n1.0\n1e+300\n"),
        ({"columns": ["d", "f"], "quoting": 1}, '"d","f"\n"2020-01-01","1.0"\n"2020-01-01","1e+300"\n'),
        ({"columns": ["d", "f"], "quoting": 2}, '"d","f"\n"2020-01-01",1.0\n"2020-01-01",1e+300\n'),
        ({"columns": ["f"], "decimal": ","}, 'f\n"1,0"\n1e+300\n'),
        ({"columns": ["t"], "date_format": "%Y"}, 't\n2020\n""\n'),
        ({"columns": ["s"], "lineterminator": "\r\n"}, 's\r\n"q"""\r\n"a,b"\r\n'),
        ({"columns": ["s"], "doublequote": False, "escapechar": "\\"}, 's\n"q\\""\n"a,b"\n'),
        ({"columns": ["s"], "encoding": "utf-16"}, 's\n"q"""\n"a,b"\n'),
    ],
)
def test_how_tables_are_written(options, expected):
    assert written(MOMENTS, **options) == expected


def test_a_converter_that_is_no_function_is_an_argument_that_is_refused():
    with pytest.raises(ArgumentError, match="converters"):
        read("a\n1\n", converters={"a": "text"})


@pytest.mark.parametrize("data", [b"a\n1\n", b"a\ntrue\n", b'""\n1\n', b"a,b\n1,2\n"])
def test_files_without_any_of_the_declared_columns(tmp_path, data):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    for streaming in (False, True):
        with pytest.raises(FileColumnsError, match="c"):
            list(
                load_dataset(
                    "csv", data_files=str(path), split="train", features=Features(c=Value("int64")), streaming=streaming
                )
            )


@pytest.mark.parametrize("ends", [[], [2], [1, 2], [3]])
def test_the_integer_minus_zero_has_no_sign_wherever_files_begin(tmp_path, ends):
    rows = ["-0,1", "1,2", "-0.0,3", ",4", "-00,5"]
    paths = [tmp_path / f"{number}.csv" for number in range(len(ends) + 1)]
    for path, start, end in zip(paths, [0, *ends], [*ends, len(rows)], strict=True):
        path.write_text("\n".join(["a,b", *rows[start:end]]))
    values = load_dataset("csv", data_files=list(map(str, paths)), split="train")["a"][:]
    assert str(values) == "[0.0, 1.0, -0.0, None, 0.0]"
