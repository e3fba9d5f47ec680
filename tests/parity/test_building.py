"""Every constructor makes the same dataset of the same things."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import datasets as hf
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.parity import canonical, same_outcome
from support.tables import BOOL, FLOATS, INTEGERS, TEXTS, TIMES, Kind, Spec, kinds, nullable, scalar, specs

import crucible_datasets as ours


def build(call):
    """The same constructor call in both libraries."""
    return same_outcome(lambda: call(hf), lambda: call(ours))


INFERRED = [
    scalar("int64", st.integers(-(2**63), 2**63 - 1)),
    FLOATS[1],
    TEXTS[0],
    BOOL,
    *TIMES,
    scalar("binary", st.binary()),
]


def python_values(leaves: list[Kind]) -> st.SearchStrategy[Kind]:
    """Values whose types are to be found out; where the keys of objects differ, Hugging Face adds keys."""

    def fields(left: Kind, right: Kind) -> st.SearchStrategy[dict]:
        return st.fixed_dictionaries({"x": nullable(left.values), "y": nullable(right.values)})

    return st.recursive(
        st.sampled_from(leaves),
        lambda inner: (
            inner.map(lambda kind: Kind("list", kind.feature, st.lists(nullable(kind.values), max_size=3)))
            | st.builds(lambda left, right: Kind("struct", left.feature, fields(left, right)), inner, inner)
        ),
        max_leaves=3,
    )


@given(specs())
def test_columns_with_features(spec):
    build(spec.dataset)


@given(specs(python_values(INFERRED)))
def test_columns_without_features(spec):
    build(lambda library: library.Dataset.from_dict(spec.columns))


@given(specs(min_rows=1))
def test_rows_with_features(spec):
    rows = [dict(zip(spec.columns, row, strict=True)) for row in zip(*spec.columns.values(), strict=True)]
    build(lambda library: library.Dataset.from_list(rows, features=spec.features(library)))


@given(specs(python_values(INFERRED), min_rows=1), st.data())
def test_rows_without_features(spec, data):
    rows = [dict(zip(spec.columns, row, strict=True)) for row in zip(*spec.columns.values(), strict=True)]
    rows[1:] = [{name: value for name, value in row.items() if data.draw(st.booleans())} for row in rows[1:]]
    build(lambda library: library.Dataset.from_list(rows))


@pytest.mark.parametrize(
    "mapping",
    [
        {},
        {"a": []},
        {"a": [None, None]},
        {"a": [1, 2], "b": [1]},
        {"a": 5},
        {"a": {"x": 1}},
        {"a": "abc"},
        {"a": (1, 2)},
        {"a": range(3)},
        {"a": np.arange(3, dtype=np.int16)},
        {"a": np.zeros((2, 3), dtype=np.float32)},
        {"a": np.array(["x", "yy"])},
        {"a": [np.int8(1), None]},
        {"a": [np.zeros(2), np.ones(3)]},
        {"a": pa.array([1, None], pa.int32())},
        {"a": pa.chunked_array([["a"], ["b"]])},
        {"a": [1, 2.5]},
        {"a": [1, "x"]},
        {"a": [[1], "x"]},
        {"a": [{"p": 1}, 5]},
        {"a": [True, 1]},
        {"a": [[], []]},
        {"a": [{1: 2}]},
        {"a": {1, 2}},
        {"a": pd.Series([1, 2])},
        {"input_ids": [[1, 2]], "attention_mask": [[1, 1]]},
    ],
)
def test_odd_columns(mapping):
    build(lambda library: library.Dataset.from_dict(mapping))


@pytest.mark.parametrize(
    ("values", "feature"),
    [
        ([{"p": 1}, {"q": "x"}], ours.Json()),  # Hugging Face adds the other's key, with null
        ([{}, {}], ours.Json()),  # a struct without fields, which many formats cannot store
        ([2**63], ours.Value("uint64")),  # an OverflowError
    ],
)
def test_values_that_hugging_face_changes_or_refuses_come_back(values, feature):
    dataset = ours.Dataset.from_dict({"a": values})
    assert dataset["a"][:] == values
    assert dataset.features["a"] == feature
    with pytest.raises((AssertionError, OverflowError)):
        result = hf.Dataset.from_dict({"a": values})
        assert str(result.features["a"]) == str(feature)


@pytest.mark.parametrize("values", [[1, "x"], [[1], "x"], [{"p": 1}, 5], [1, 2], [{"p": [1, "a"]}]], ids=repr)
def test_mixed_types_as_json(values):
    build(lambda library: library.Dataset.from_dict({"a": values}, on_mixed_types="use_json"))
    build(lambda library: library.Dataset.from_list([{"a": value} for value in values], on_mixed_types="use_json"))


def test_features_that_do_not_fit():
    build(lambda lib: lib.Dataset.from_dict({"a": [1]}, features=lib.Features({"b": lib.Value("int8")})))
    build(lambda lib: lib.Dataset.from_dict({"a": ["x"]}, features=lib.Features({"a": lib.Value("int8")})))
    build(
        lambda lib: lib.Dataset.from_dict(
            {"a": [1]}, info=lib.DatasetInfo(features=lib.Features({"a": lib.Value("int8")}))
        )
    )
    build(
        lambda lib: lib.Dataset.from_dict(
            {"a": [1]},
            features=lib.Features({"a": lib.Value("int16")}),
            info=lib.DatasetInfo(features=lib.Features({"a": lib.Value("int8")})),
        )
    )
    build(lambda lib: lib.Dataset.from_list([]))
    build(lambda lib: lib.Dataset.from_dict({"a": [1]}, split="train").split)
    build(lambda lib: str(lib.Dataset.from_dict({"a": [1]}, split=lib.Split.TEST).split))


frame_kinds = st.sampled_from([*INTEGERS, *FLOATS, *TEXTS, BOOL])


@given(specs(frame_kinds, nulls=False), st.sampled_from([None, True, False]), st.booleans())
def test_pandas_frames(spec, preserve, named):
    frame = pd.DataFrame({name: pd.Series(values, dtype=dtype(spec, name)) for name, values in spec.columns.items()})
    frame.index = [f"row {place}" for place in range(len(frame))] if named else frame.index
    build(lambda library: library.Dataset.from_pandas(frame, preserve_index=preserve))


def dtype(spec: Spec, name: str) -> str:
    return {"large_string": "string", "string": "object"}.get(spec.kinds[name].name, spec.kinds[name].name)


@given(specs(st.sampled_from(INTEGERS[:4]), min_rows=1, nulls=False))
def test_pandas_frames_with_features(spec):
    frame = pd.DataFrame(spec.columns)
    build(
        lambda lib: lib.Dataset.from_pandas(
            frame, features=lib.Features({n: lib.Value("float64") for n in spec.columns})
        )
    )
    build(lambda lib: lib.Dataset.from_pandas(frame, features=lib.Features({"zz": lib.Value("float64")})))


@given(specs(st.sampled_from([*INTEGERS, *FLOATS, TEXTS[0], BOOL, TIMES[0], TIMES[2]])), st.booleans())
def test_polars_frames(spec, lazy):
    types = {
        "string": pl.String,
        "bool": pl.Boolean,
        "timestamp[us]": pl.Datetime("us"),
        "date32": pl.Date,
        **{
            kind.name: getattr(pl, kind.name.replace("uint", "UInt").replace("int", "Int").replace("float", "Float"))
            for kind in (*INTEGERS, *FLOATS)
        },
    }
    types |= {kind.name: getattr(pl, "UInt" + kind.name[4:]) for kind in INTEGERS if kind.name[0] == "u"}
    frame = pl.DataFrame(
        {name: pl.Series(name, values, dtype=types[spec.kinds[name].name]) for name, values in spec.columns.items()}
    )
    build(lambda library: library.Dataset.from_polars(frame.lazy() if lazy else frame))


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield path


def written(folder: str, table: pa.Table, kind: str, rows_per_batch: int = 2) -> str:
    path = os.path.join(folder, f"{os.urandom(4).hex()}.arrow")
    make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with make(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return path


@given(spec=specs(kinds.filter(lambda kind: kind.name != "Translation")), in_memory=st.booleans())
def test_files_that_hugging_face_wrote(folder, spec, in_memory):
    """The data file of `save_to_disk` opens here as there, with all its features."""
    path = os.path.join(folder, os.urandom(4).hex())
    spec.dataset(hf).save_to_disk(path)
    file = os.path.join(path, "data-00000-of-00001.arrow")
    build(lambda library: library.Dataset.from_file(file, in_memory=in_memory))
    build(
        lambda library: [
            os.path.basename(each["filename"])
            for each in library.Dataset.from_file(file, in_memory=in_memory).cache_files
        ]
    )


@given(spec=specs(kinds.filter(lambda kind: kind.name not in ("Json", "Array2D"))))
def test_plain_streams(folder, spec):
    table = hf_table(spec).replace_schema_metadata(None)
    file = written(folder, table, "stream")
    build(lambda library: library.Dataset.from_file(file))
    build(lambda library: library.Dataset.from_buffer(pa.py_buffer(Path(file).read_bytes())))


def hf_table(spec: Spec) -> pa.Table:
    return spec.dataset(hf).data.table


@given(spec=specs())
def test_streams_and_files_hold_the_same(folder, spec):
    """Hugging Face reads streams only."""
    table = hf_table(spec)
    datasets = [ours.Dataset.from_file(written(folder, table, kind)) for kind in ("stream", "file")]
    buffers = [
        ours.Dataset.from_buffer(pa.py_buffer(Path(written(folder, table, kind)).read_bytes()))
        for kind in ("stream", "file")
    ]
    expected = canonical(spec.dataset(ours))
    assert [canonical(dataset) for dataset in (*datasets, *buffers)] == [expected] * 4


@given(spec=specs(min_rows=1), places=st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_files_with_row_indices(folder, spec, places):
    indices = pa.table({"indices": pa.array([place % len(spec) for place in places], pa.uint64())})
    data, index = written(folder, hf_table(spec), "stream"), written(folder, indices, "stream")
    buffer = pa.py_buffer(Path(data).read_bytes())
    build(lambda library: library.Dataset.from_file(data, indices_filename=index))
    build(lambda library: library.Dataset.from_buffer(buffer, indices_buffer=pa.py_buffer(Path(index).read_bytes())))


def test_files_that_are_none(folder):
    empty, text = os.path.join(folder, "empty.arrow"), os.path.join(folder, "text.arrow")
    open(empty, "wb").close()
    with open(text, "wb") as file:
        file.write(b"this is no Arrow file, whatever its name says")
    for path in (empty, text, os.path.join(folder, "missing.arrow"), folder):
        build(lambda library, path=path: library.Dataset.from_file(path))
    build(lambda library: library.Dataset.from_buffer(pa.py_buffer(b"")))


@given(specs())
def test_arrow_tables(spec):
    table = hf_table(spec)
    build(lambda library: library.Dataset(table))
    build(lambda library: library.Dataset(table, split="train").split)


def test_arrow_tables_that_do_not_fit():
    table = pa.table({"a": [1]})
    build(lambda lib: lib.Dataset({"a": [1]}))
    build(lambda lib: lib.Dataset(table, info=lib.DatasetInfo(features=lib.Features({"a": lib.Value("string")}))))
    build(lambda lib: lib.Dataset(table, info=lib.DatasetInfo(features=lib.Features({"b": lib.Value("int64")}))))
    build(lambda lib: lib.Dataset(table, indices_table=pa.table({"indices": pa.array([0, 0], pa.uint64())})))
    build(lambda lib: lib.Dataset(table, fingerprint="abc")._fingerprint)


def rows_of(spec: Spec) -> list[dict]:
    return [dict(zip(spec.columns, row, strict=True)) for row in zip(*spec.columns.values(), strict=True)]


@given(spec=specs(min_rows=1, max_rows=4))
def test_generators(folder, spec):
    rows = rows_of(spec)

    def generate():
        yield from rows

    place = {"cache_dir": os.path.join(folder, os.urandom(4).hex())}
    build(lambda library: library.Dataset.from_generator(generate, features=spec.features(library), **place))


# Without gaps: structs with different fields become JSON text here, which Hugging Face rounds.
@given(spec=specs(python_values(INFERRED), min_rows=1, max_rows=4))
def test_generators_without_features(folder, spec):
    rows = rows_of(spec)

    def generate():
        yield from rows

    place = {"cache_dir": os.path.join(folder, os.urandom(4).hex())}
    build(lambda library: library.Dataset.from_generator(generate, **place))


def test_generators_over_datasets_that_are_shown_in_other_ways(tmp_path):
    """What is stored is the same, but not what the function yields."""

    def seen(library):
        data = library.Dataset.from_dict({"a": [1, 2]})
        ways = [
            data.with_transform(lambda batch: {"b": ["x"] * len(batch["a"])}),
            data.with_transform(lambda batch: {"b": ["y"] * len(batch["a"])}),
            data,
            data.with_format("numpy"),
            data.with_format("numpy", dtype="int8"),
        ]

        def generate(way):
            for row in way:
                yield {name: str(getattr(value, "dtype", value)) for name, value in row.items()}

        place = str(tmp_path / library.__name__)
        return [library.Dataset.from_generator(lambda way=way: generate(way), cache_dir=place)[:] for way in ways]

    build(seen)


def test_frames_of_arrays_come_back():
    """Hugging Face has a dtype of its own for them, and refuses arrays of several dimensions otherwise."""
    grids = ours.Features({"x": ours.Array2D((2, 2), "int32"), "y": ours.Value("string")})
    rows = ours.Dataset.from_dict({"x": [np.eye(2), np.ones((2, 2))], "y": ["a", "b"]}, features=grids)
    frame = rows.to_pandas()
    found = ours.Dataset.from_pandas(frame)
    assert found[:] == rows[:] and found.features["x"] == ours.List(ours.List(ours.Value("int32")))
    assert list(ours.IterableDataset.from_pandas(frame)) == rows.to_list()
    again = ours.Dataset.from_pandas(frame, features=grids)
    assert again.features == grids and again[:] == rows[:]
    named = ours.Dataset.from_pandas(frame.set_index("y").rename(columns={"x": 0}))
    assert named.column_names == ["0", "y"] and named["0"][:] == rows["x"][:]
    assert frame["x"][0].shape == (2, 2)  # the frame is left as it was
    with pytest.raises(pa.ArrowInvalid):
        ours.Dataset.from_pandas(pd.DataFrame({"x": [1, [2]]}))
