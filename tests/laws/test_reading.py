"""All ways to read rows give the same values, and other libraries find them in what is written."""

from __future__ import annotations

import json
import os
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import Json
from crucible_datasets.features.types import any_leaf
from laws import equality, values
from laws.law import law

_LEAVES = [
    *values.JSON_LEAVES,
    "unsigned",
    "float",
    "bytes",
    "decimal",
    "date",
    "time",
    "timestamp",
    "instant",
    "duration",
]


def _is_keepable(rows):
    return equality.refusable(equality.facts_of(rows.list())) is None


def _rows(leaves, longest=101):
    return values.rows(leaves, longest=longest).map(values.Rows.number).filter(_is_keepable)


def _transposed(batch):
    return [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]


_READINGS = {
    "one by one": lambda data: [data[position] for position in range(len(data))],
    "from the end": lambda data: [data[position - len(data)] for position in range(len(data))],
    "all": lambda data: _transposed(data[:]),
    "some": lambda data: _transposed(data[range(len(data))]),
    "iteration": list,
    "batches": lambda data: [row for batch in data.iter(3) for row in _transposed(batch)],
    "columns": lambda data: _transposed({name: data[name][:] for name in data.column_names}),
    "columns one by one": lambda data: _transposed({name: list(data[name]) for name in data.column_names}),
    "to_dict": lambda data: _transposed(data.to_dict()),
    "python format": lambda data: list(data.with_format("python")),
    "stream": lambda data: list(data.to_iterable_dataset()),
    "stream of 3 shards": lambda data: list(data.to_iterable_dataset(num_shards=min(3, len(data)))),
    "stream of batches": lambda data: [
        row for batch in data.to_iterable_dataset().iter(4) for row in _transposed(batch)
    ],
    "pickled": lambda data: pickle.loads(pickle.dumps(data)).to_list(),
    "shuffled": lambda data: sorted(data.shuffle(seed=3), key=lambda row: row["row"]),
    "taken one by one": lambda data: [data.select([position])[0] for position in range(len(data))],
}


@law(examples=30, weight=2, rows=_rows(_LEAVES), reading=st.sampled_from(sorted(_READINGS)))
def test_all_ways_to_read_agree(rows, reading, folder):
    data = ours.Dataset.from_list(rows.list())
    source = data.to_list()
    equality.same(source, _READINGS[reading](data))


def _texts_parsed(value, feature):
    """Values as another library reads them, with the texts of `Json` columns parsed."""
    if value is None:
        return None
    if isinstance(feature, Json):
        return json.loads(value)
    if isinstance(feature, dict):
        return {name: _texts_parsed(value[name], inner) for name, inner in feature.items()}
    if hasattr(feature, "feature"):
        return [_texts_parsed(item, feature.feature) for item in value]
    return value


def _read(table, data):
    return [_texts_parsed(row, dict(data.features)) for row in table.to_pylist()]


def _by_pyarrow(data, folder):
    path = os.path.join(folder, "data.parquet")
    data.to_parquet(path)
    return _read(pq.read_table(path), data)


def _by_pyarrow_after_a_stream(data, folder):
    path = os.path.join(folder, "data.parquet")
    data.to_iterable_dataset().to_parquet(path, batch_size=3)
    return _read(pq.read_table(path), data)


def _by_arrow(data, folder):
    return _read(data.with_format("arrow")[:], data)


def _by_arrow_interface(data, folder):
    return _read(pa.table(data), data)


def _by_arrow_file(data, folder):
    data.save_to_disk(os.path.join(folder, "saved"))
    with pa.memory_map(os.path.join(folder, "saved", "data-00000-of-00001.arrow")) as file:
        return _read(pa.ipc.open_stream(file).read_all(), data)


def _by_hugging_face(data, folder):
    import datasets as hf

    data.save_to_disk(os.path.join(folder, "saved"))
    return hf.load_from_disk(os.path.join(folder, "saved")).to_list()


def _by_hugging_face_from_parquet(data, folder):
    import datasets as hf

    path = os.path.join(folder, "data.parquet")
    data.to_parquet(path)
    return hf.Dataset.from_parquet(path, cache_dir=folder).to_list()


_READERS = {
    "pyarrow, Parquet": _by_pyarrow,
    "pyarrow, Parquet of a stream": _by_pyarrow_after_a_stream,
    "pyarrow, table": _by_arrow,
    "pyarrow, interface": _by_arrow_interface,
    "pyarrow, saved": _by_arrow_file,
    "Hugging Face, saved": _by_hugging_face,
}


@law(examples=25, weight=2, rows=_rows(_LEAVES), reader=st.sampled_from(sorted(_READERS)))
def test_others_read_what_is_written(rows, reader, folder):
    data = ours.Dataset.from_list(rows.list())
    if any(any_leaf(feature, (Json,)) for feature in data.features.values()) and "Hugging" in reader:
        return
    equality.same(data.to_list(), _READERS[reader](data, folder))


@law(
    examples=20,
    rows=_rows(values.JSON_LEAVES),
    lines=st.booleans(),
    batch_size=st.sampled_from([None, 1, 3, 1000]),
    stream=st.booleans(),
)
def test_python_reads_the_json_that_is_written(rows, lines, batch_size, stream, folder):
    data = ours.Dataset.from_list(rows.list())
    path = os.path.join(folder, "data.json")
    options = {} if batch_size is None else {"batch_size": batch_size}
    (data.to_iterable_dataset() if stream else data).to_json(path, lines=lines, **options)
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    result = [json.loads(line) for line in text.split("\n") if line] if lines else json.loads(text)
    equality.same(data.to_list(), result)
