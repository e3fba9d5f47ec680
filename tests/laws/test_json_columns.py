"""Json columns hold any JSON value exactly, through every format, step and constructor."""

from __future__ import annotations

import os

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import Features, Json, List, Value
from laws import equality, values
from laws.law import law

_FEATURES = Features({"row": Value("int64"), "json": Json()})
_NESTED = Features(
    {
        "row": Value("int64"),
        "a": List(Json()),
        "b": {"c": Json(), "d": Value("string")},
        "e": List({"c": Json()}),
        "f": List(List(Json())),
    }
)
_VALUES = st.one_of(st.none(), values.json_values(values.ODD_JSON_LEAVES))
_CELLS = st.lists(_VALUES, min_size=1, max_size=8)


def _sqlite(data, path, features):
    data.to_sql("rows", f"sqlite:///{path}")
    return ours.Dataset.from_sql("SELECT * FROM rows", f"sqlite:///{path}", features=features)


def _saved(data, path, features):
    data.save_to_disk(path)
    return ours.load_from_disk(path)


def _written(name, has_schema, streaming, of_stream=False):
    def write_and_read(data, path, features):
        source = data.to_iterable_dataset() if of_stream else data
        getattr(source, f"to_{name}")(path)
        options = {} if has_schema else {"features": features}
        return ours.load_dataset(name, data_files=path, split="train", streaming=streaming, **options)

    return write_and_read


_ANY_COLUMN = {
    "save_to_disk": _saved,
    **{
        f"{name}{', read as a stream' * streaming}{', written by a stream' * of_stream}": _written(
            name, name != "json", streaming, of_stream
        )
        for name in ("parquet", "arrow", "json")
        for streaming in (False, True)
        for of_stream in (False, True)
        if not (of_stream and name == "arrow")
    },
    "map": lambda data, path, features: data.map(lambda row: {**row, "n": 1}).remove_columns("n"),
    "map, batched": lambda data, path, features: data.map(lambda batch: batch, batched=True, batch_size=3),
    "map of a stream": lambda data, path, features: data.to_iterable_dataset().map(lambda row: {**row}),
    "from_list": lambda data, path, features: ours.Dataset.from_list(data.to_list(), features=features),
    "from_generator": lambda data, path, features: ours.Dataset.from_generator(lambda: iter(data), features=features),
    "from_pandas": lambda data, path, features: ours.Dataset.from_pandas(data.to_pandas(), features),
    "from_polars": lambda data, path, features: ours.Dataset.from_polars(data.to_polars(), features),
    "concatenate": lambda data, path, features: ours.concatenate_datasets([data.take(2), data.skip(2)]),
}
_PLAIN_COLUMNS = {
    "csv": _written("csv", False, False),
    "csv, read as a stream": _written("csv", False, True),
    "sqlite": _sqlite,
}


@law(examples=25, cells=_CELLS, way=st.sampled_from(sorted({**_ANY_COLUMN, **_PLAIN_COLUMNS})))
def test_json_columns_come_back_equal(cells, way, folder):
    source = [{"row": number, "json": value} for number, value in enumerate(cells)]
    data = ours.Dataset.from_list(source, features=_FEATURES)
    result = {**_ANY_COLUMN, **_PLAIN_COLUMNS}[way](data, os.path.join(folder, "data"), _FEATURES)
    equality.same(source, list(result), {})


def _nested(number, value):
    """A row with the value inside of lists and structs; nulls are inside of them or in their place."""
    if value is None and number % 2 == 0:
        return {"row": number, "a": None, "b": None, "e": None, "f": None}
    return {"row": number, "a": [value, value], "b": {"c": value, "d": "42"}, "e": [{"c": value}], "f": [[value], None]}


@law(examples=30, cells=_CELLS, way=st.sampled_from(sorted(_ANY_COLUMN)))
def test_json_inside_lists_and_structs_comes_back_equal(cells, way, folder):
    source = [_nested(number, value) for number, value in enumerate(cells)]
    data = ours.Dataset.from_list(source, features=_NESTED)
    result = _ANY_COLUMN[way](data, os.path.join(folder, "data"), _NESTED)
    equality.same(source, list(result), {})
