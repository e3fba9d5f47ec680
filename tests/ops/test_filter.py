"""`filter` keeps the rows that a list comprehension would keep, after any chain of other operations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import Dataset
from crucible_datasets.exceptions import ColumnLengthError
from crucible_datasets.tables.table import ArrowTable

STEPS = {
    "filter": (
        lambda dataset, k: dataset.filter(lambda row: row["n"] % (k + 2)),
        lambda rows, k: [row for row in rows if row["n"] % (k + 2)],
    ),
    "filter batches": (
        lambda dataset, k: dataset.filter(lambda batch: [n > k for n in batch["n"]], batched=True, batch_size=3),
        lambda rows, k: [row for row in rows if row["n"] > k],
    ),
    "map": (
        lambda dataset, k: dataset.map(lambda row: {"n": row["n"] + k, f"m{k}": row["s"]}),
        lambda rows, k: [{**row, "n": row["n"] + k, f"m{k}": row["s"]} for row in rows],
    ),
    "map batches": (
        lambda dataset, k: dataset.map(
            lambda batch: {"s": [s * 2 for s in batch["s"]], "b": batch["n"]}, batched=True, batch_size=k + 1
        ),
        lambda rows, k: [{**row, "s": row["s"] * 2, "b": row["n"]} for row in rows],
    ),
    "shuffle": (
        lambda dataset, k: dataset.shuffle(seed=k),
        lambda rows, k: [rows[place] for place in np.random.default_rng(k).permutation(len(rows))],
    ),
    "select": (
        lambda dataset, k: dataset.select(range(0, len(dataset), k + 1)),
        lambda rows, k: rows[:: k + 1],
    ),
    "flatten": (lambda dataset, k: dataset.flatten_indices(), lambda rows, k: rows),
    "repeat": (lambda dataset, k: dataset.repeat(2), lambda rows, k: rows * 2),
}


@given(st.integers(1, 12), st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 4)), max_size=5))
def test_any_chain_equals_the_same_on_lists(size, steps):
    rows = [{"n": place, "s": chr(97 + place), "l": [place]} for place in range(size)]
    dataset = Dataset.from_list(rows)
    for name, k in steps:
        if not rows:
            break
        of_dataset, of_rows = STEPS[name]
        dataset, rows = of_dataset(dataset, k), of_rows(rows, k)
        assert dataset.to_list() == rows
    assert dataset[::-1] == {
        name: [row[name] for row in rows[::-1]] for name in (rows[0] if rows else dataset.features)
    }


def test_rows_are_not_copied():
    dataset = Dataset.from_dict({"text": ["x" * 1000] * 100, "n": list(range(100))})
    kept = dataset.shuffle(seed=1).map(lambda row: {"m": row["n"]}).filter(lambda row: row["m"] % 2)
    columns = {
        name: table.table[name].chunk(0).buffers()[-1].address
        for table, _ in kept.data.parts
        if isinstance(table, ArrowTable)
        for name in table.schema.names
    }
    assert columns["text"] == dataset.data.table["text"].chunk(0).buffers()[-1].address
    assert [row["n"] for row in kept] == [row["m"] for row in kept]


@pytest.mark.parametrize("mask", [[True], [True] * 12])
def test_a_mask_of_another_length_is_an_error(mask):
    with pytest.raises(ColumnLengthError, match="10 are needed"):
        Dataset.from_dict({"n": list(range(10))}).filter(lambda batch: mask, batched=True)
