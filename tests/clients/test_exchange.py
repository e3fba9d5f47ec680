"""What libraries take from a dataset without knowing it: Arrow by the PyCapsule protocol, and names that are not public."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.parity import hf, ours

rows = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.none() | st.integers(-(2**40), 2**40),
            "text": st.none() | st.text(max_size=5),
            "tags": st.lists(st.text(max_size=3), max_size=3),
            "at": st.fixed_dictionaries({"x": st.floats(allow_nan=False)}),
        }
    ),
    min_size=1,
    max_size=8,
)
FEATURES = ours.Features(
    {
        "n": ours.Value("int64"),
        "text": ours.Value("string"),
        "tags": ours.List(ours.Value("string")),
        "at": {"x": ours.Value("float64")},
    }
)


@given(rows, st.data())
def test_frames_read_a_dataset_and_its_columns_by_the_arrow_protocol(values, data):
    dataset = ours.Dataset.from_list(values, features=FEATURES)
    order = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=10))
    dataset, expected = dataset.select(order), [values[index] for index in order]
    assert pa.table(dataset).to_pylist() == expected
    assert pa.RecordBatchReader.from_stream(dataset).read_all().to_pylist() == expected
    assert pa.schema(dataset).names == dataset.column_names
    assert pl.DataFrame(dataset).to_dicts() == expected
    assert pl.Series(dataset["text"]).to_list() == [row["text"] for row in expected]
    assert pa.chunked_array(dataset["tags"]).to_pylist() == [row["tags"] for row in expected]
    frame = pd.DataFrame.from_arrow(dataset)
    assert [None if pd.isna(text) else text for text in frame["text"]] == [row["text"] for row in expected]
    assert duckdb.sql("select n, text from dataset").fetchall() == [(row["n"], row["text"]) for row in expected]
    assert ours.Dataset.from_polars(pl.DataFrame(dataset))[:] == dataset[:]


INNER = ("_format_type", "_format_kwargs", "_format_columns", "_output_all_columns")


def asked_of_rows(library):
    dataset = library.Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, split=library.Split.TEST)
    shown = dataset.with_format("numpy", columns=["a"], output_all_columns=True, dtype="int8")
    dataset._fingerprint = "chosen"
    yield [[getattr(each, name) for name in INNER] for each in (dataset, shown)]
    yield str(dataset._split), dataset._data.table.to_pydict(), dataset._info.features.to_dict(), dataset._fingerprint
    yield dataset._get_cache_file_path("abc").endswith(".arrow")


def asked_of_streams(library):
    stream = library.Dataset.from_dict({"a": list(range(9))}).to_iterable_dataset()
    mapped = stream.map(lambda row: {"b": row["a"] * 2})
    formatted = mapped.with_format("numpy")._formatting
    yield mapped._formatting, formatted.format_type, int(mapped._epoch), mapped._split, mapped.features
    yield mapped._resolve_features().features.to_dict(), mapped._head(), mapped._head(2), mapped._info.description
    yield list(mapped._resolve_features())


@pytest.mark.parametrize("asked", [asked_of_rows, asked_of_streams])
def test_inner_names_tell_what_they_tell_there(asked):
    assert list(asked(ours)) == list(asked(hf))


def test_a_result_is_found_again_by_its_fingerprint():
    dataset = ours.Dataset.from_dict({"a": [1, 2]})
    place = dataset._get_cache_file_path("0123abcd")
    dataset.map(lambda row: {"b": row["a"]}, cache_file_name=place, new_fingerprint="0123abcd")
    assert ours.Dataset.from_file(place)[:] == {"a": [1, 2], "b": [1, 2]}
    ours.disable_caching()
    try:
        assert dataset._get_cache_file_path("0123abcd") != place
    finally:
        ours.enable_caching()


def fails(row):
    raise ours.exceptions.ColumnNotFoundError("c", ["a"])


def test_errors_of_a_loaders_workers_keep_their_types():
    torch = pytest.importorskip("torch")
    stream = ours.Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().map(fails)
    with pytest.raises(ours.exceptions.ColumnNotFoundError, match="Did you mean|Available|does not exist"):
        list(torch.utils.data.DataLoader(stream, num_workers=1))
