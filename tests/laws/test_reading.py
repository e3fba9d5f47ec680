"""All ways to read rows give the same values."""

from __future__ import annotations

import pickle

from hypothesis import strategies as st

import crucible_datasets as ours
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
