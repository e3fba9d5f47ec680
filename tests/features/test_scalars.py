"""One way from text to a value: the same for one value, a column, a row and a file; exact, or an error."""

from __future__ import annotations

import datetime as dt
import decimal
import json

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crucible_datasets import ClassLabel, Dataset, Features, Value, load_dataset
from crucible_datasets.exceptions import CastError, DatasetsError, FileCastError
from crucible_datasets.features.scalars import as_type, parse_texts

numbers = st.from_regex(r" ?[+-]{0,2}[0-9]{0,3}(\.[0-9]{0,3})?(e[+-]?[0-9])? ?", fullmatch=True)
spellings = st.one_of(
    numbers,
    st.integers().map(str),
    st.decimals(allow_nan=True).map(str),
    st.floats().map(repr),
    st.sampled_from(
        ["true", " Yes", "off", "0x10", "1_0", "nan", "-inf", "1e400", "٣", "x", "", "+-5", "-0.0", "2", "3.0"]
    ),
)
DTYPES = ["bool", "int8", "int64", "uint64", "float64", "decimal128(20, 3)"]


def outcome(convert):
    try:
        return repr(convert())
    except (DatasetsError, ValueError, OverflowError, pa.ArrowException):
        return "an error"


@given(st.lists(spellings, min_size=1, max_size=5), st.sampled_from(DTYPES))
@example(["1", "+-5"], "int64")
@example(["99999999999999999.99"], "decimal128(20, 3)")
def test_a_column_of_texts_becomes_what_each_text_becomes(column, dtype):
    arrow = Value(dtype).pa_type
    each = [
        outcome(lambda spelling=spelling: pa.array([as_type(spelling, arrow)], arrow)[0].as_py()) for spelling in column
    ]
    whole = outcome(lambda: parse_texts(pa.array(column), arrow).to_pylist())
    assert whole == ("an error" if "an error" in each else f"[{', '.join(each)}]")


WAYS = {
    "cast": lambda column, feature: Dataset.from_dict({"a": column}).cast_column("a", feature)["a"][:],
    "from_dict": lambda column, feature: Dataset.from_dict({"a": column}, features=Features({"a": feature}))["a"][:],
    "from_list": lambda column, feature: Dataset.from_list([{"a": spelling} for spelling in column], features=Features({"a": feature}))["a"][:],
    "map": lambda column, feature: Dataset.from_dict({"i": range(len(column))}).map(lambda row, i: {"a": column[i]}, with_indices=True, features=Features({"i": Value("int64"), "a": feature}))["a"][:],
    "stream": lambda column, feature: [row["a"] for row in Dataset.from_dict({"a": column}).to_iterable_dataset().cast_column("a", feature)],
    "csv": lambda column, feature, folder: _csv(column, feature, folder, False),
    "csv stream": lambda column, feature, folder: _csv(column, feature, folder, True),
}  # fmt: skip


def _csv(column, feature, folder, streaming):
    path = folder / "data.csv"
    path.write_text("\n".join(["a", *column]), encoding="utf-8")
    rows = load_dataset(
        "csv", data_files=str(path), split="train", features=Features({"a": feature}), streaming=streaming
    )
    return [row["a"] for row in rows]


LABELS = ClassLabel(names=["1", "2", "3", "4", "5"])
D = decimal.Decimal


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("feature", "column", "expected"),
    [
        (LABELS, ["1", "5", "2"], [0, 4, 1]),
        (LABELS, ["1", "6"], None),
        (ClassLabel(names=["no", "yes"]), ["yes", "0", "-1"], [1, 0, -1]),
        (ClassLabel(names=["a", "NA"]), ["NA", "a"], [1, 0]),
        (Value("bool"), ["false", "0", "no", "True", "YES"], [False, False, False, True, True]),
        (Value("bool"), ["true", "2"], None),
        (Value("bool"), ["0.5"], None),
        (Value("int64"), ["008", str(2**63 - 1), "3.0"], [8, 2**63 - 1, 3]),
        (Value("int64"), ["1", "3.7"], None),
        (Value("int8"), ["1", "300"], None),
        (Value("uint64"), [str(2**64 - 1)], [2**64 - 1]),
        (Value("decimal128(30, 2)"), ["99999999999999999.99", "1e2"], [D("99999999999999999.99"), D("100.00")]),
        (Value("decimal128(30, 2)"), ["0.555"], None),
        (Value("float64"), ["0.1", "1e5", "inf"], [0.1, 1e5, float("inf")]),
        (Value("float64"), ["0.1", "x"], None),
        (Value("string"), ["008", "1e5", "True"], ["008", "1e5", "True"]),
        (Value("date32"), ["2020-01-31"], [dt.date(2020, 1, 31)]),
        (Value("date32"), ["2020-01-31 10:00"], None),
        (Value("timestamp[us]"), ["2020-01-31 10:00:00.000001"], [dt.datetime(2020, 1, 31, 10, 0, 0, 1)]),
        (Value("timestamp[s]"), ["2020-01-31 10:00:00.5"], None),
        (Value("time64[us]"), ["10:00:00.000001"], [dt.time(10, 0, 0, 1)]),
        (Value("duration[us]"), ["1 days 00:00:00.000001"], [dt.timedelta(1, 0, 1)]),
    ],
    ids=repr,
)
def test_every_way_into_a_feature_gives_the_same_value(way, feature, column, expected, tmp_path):
    convert = WAYS[way]
    arguments = (column, feature, tmp_path) if way.startswith("csv") else (column, feature)
    if expected is not None:
        assert convert(*arguments) == expected
        return
    with pytest.raises(DatasetsError) as caught:
        convert(*arguments)
    assert getattr(caught.value, "column", "a") == "a" and column[-1] in str(caught.value)


def test_an_error_names_file_row_and_column(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,x\n")
    (tmp_path / "1.csv").write_text("a,b\n" + "2,x\n" * 3 + "z,x\n")
    features = Features({"a": Value("int64"), "b": Value("string")})
    for streaming in (False, True):
        with pytest.raises(FileCastError, match="1.csv") as caught:
            list(
                load_dataset(
                    "csv", data_files=str(tmp_path / "*.csv"), split="train", features=features, streaming=streaming
                )
            )
        assert (caught.value.row, caught.value.column) == (3, "a") and "'z'" in str(caught.value)


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("options", [{}, {"keep_in_memory": True}, {"streaming": True}, {"num_proc": 2}], ids=str)
def test_errors_of_other_formats_name_the_file_too(tmp_path, format, options):
    options = {**options, "chunksize": 16}  # bytes of a block
    for number, labels in enumerate(["ab", "abbaz"]):
        lines = labels if format == "text" else [json.dumps({"a": label}) for label in labels]
        (tmp_path / f"{number}.data").write_text("\n".join(lines))
    features, files = Features({"a": ClassLabel(names=["a", "b"])}), str(tmp_path / "*.data")
    with pytest.raises(FileCastError, match="1.data") as caught:
        list(load_dataset(format, data_files=files, split="train", features=features, **options))
    assert (caught.value.row, caught.value.column) == (4, "a") and "'z'" in str(caught.value)


def test_casts_that_would_change_a_value_are_errors():
    for column, dtype in [([2], "bool"), ([0.5], "bool"), ([0.555], "decimal128(5, 2)"), ([1e300], "float32")]:
        with pytest.raises(CastError, match="row 0"):
            Dataset.from_dict({"a": column}).cast_column("a", Value(dtype))
    with pytest.raises(CastError, match="row 0"):
        Dataset.from_dict({"a": [dt.datetime(2020, 1, 1, 12)]}).cast_column("a", Value("date32"))
    assert Dataset.from_dict({"a": [0.1]}).cast_column("a", Value("decimal128(5, 2)"))["a"][:] == [D("0.10")]
