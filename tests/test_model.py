"""Any chain of row operations means what it means on a list of dicts, however the data is cut and stored."""

from __future__ import annotations

import os
import random
import tempfile
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crucible_datasets import Dataset, Features, List, Value, concatenate_datasets

FEATURES = Features(
    {
        "n": Value("int64"),
        "s": Value("string"),
        "l": List(Value("int32")),
        "d": {"x": Value("float64"), "y": List({"z": Value("string")})},
    }
)


def row_of(place: int) -> dict:
    """A row that is different from every other, with nulls here and there."""
    return {
        "n": place,
        "s": [None, "", "né", "👩‍👩‍👧" * (place % 4)][place % 4],
        "l": None if place % 7 == 3 else list(range(place % 3)),
        "d": None if place % 11 == 5 else {"x": place / 2, "y": [{"z": str(place)}] * (place % 2)},
    }


def in_pieces(rows: list[dict], sizes: list[int]) -> pa.Table:
    """A table of many small chunks, some of them empty."""
    bounds = np.cumsum([0, *sizes])
    pieces = [rows[start:stop] for start, stop in pairwise(bounds)] + [rows[bounds[-1] :]]
    schema = FEATURES.arrow_schema
    return pa.concat_tables([schema.empty_table(), *(pa.Table.from_pylist(piece, schema) for piece in pieces)])


def mapped(table: pa.Table, folder: str, rows_per_batch: int) -> Dataset:
    path = os.path.join(folder, f"{os.urandom(4).hex()}.arrow")
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return Dataset.from_file(path)


BUILDERS = {
    "lists": lambda rows, sizes, folder: Dataset.from_dict(
        {name: [row[name] for row in rows] for name in FEATURES}, features=FEATURES
    ),
    "chunks": lambda rows, sizes, folder: Dataset(in_pieces(rows, sizes)),
    "file": lambda rows, sizes, folder: mapped(in_pieces(rows, sizes), folder, 3),
    "slice": lambda rows, sizes, folder: Dataset(in_pieces([row_of(-1), *rows, row_of(-2)], sizes).slice(1, len(rows))),
}

fractions = st.integers(1, 9).map(lambda tenths: tenths / 10)
seeds = st.integers(0, 1000)


class Chain(RuleBasedStateMachine):
    """A dataset and the list that it should equal."""

    @initialize(
        kind=st.sampled_from(sorted(BUILDERS)), size=st.integers(0, 40), sizes=st.lists(st.integers(0, 5), max_size=8)
    )
    def start(self, kind, size, sizes):
        self.folder = tempfile.TemporaryDirectory()
        self.rows = [row_of(place) for place in range(size)]
        self.dataset = BUILDERS[kind](self.rows, sizes, self.folder.name)

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def chosen(self, places) -> None:
        self.rows = [self.rows[place] for place in places]

    @rule(places=st.lists(st.integers(0, 10**6), max_size=30))
    def select(self, places):
        places = [place % len(self.rows) for place in places] if self.rows else []
        self.dataset = self.dataset.select(places)
        self.chosen(places)

    @rule(start=st.integers(0, 50), stop=st.integers(0, 50))
    def select_a_run(self, start, stop):
        places = range(min(start, len(self.rows)), min(stop, len(self.rows)))
        self.dataset = self.dataset.select(places)
        self.chosen(places)

    @rule(n=st.integers(0, 50))
    def take(self, n):
        self.dataset, self.rows = self.dataset.take(n), self.rows[:n]

    @rule(n=st.integers(0, 5))
    def skip(self, n):
        self.dataset, self.rows = self.dataset.skip(n), self.rows[n:]

    @precondition(lambda self: len(self.rows) < 60)
    @rule(times=st.integers(0, 3))
    def repeat(self, times):
        self.dataset, self.rows = self.dataset.repeat(times), self.rows * times

    @rule(shards=st.integers(1, 5), index=st.integers(0, 4))
    def shard(self, shards, index):
        index %= shards
        size, extra = divmod(len(self.rows), shards)
        start = sum(size + (place < extra) for place in range(index))
        self.dataset = self.dataset.shard(shards, index)
        self.rows = self.rows[start : start + size + (index < extra)]

    @rule(shards=st.integers(1, 3), index=st.integers(0, 2))
    def shard_in_strides(self, shards, index):
        self.dataset = self.dataset.shard(shards, index % shards, contiguous=False)
        self.rows = self.rows[index % shards :: shards]

    @rule(seed=seeds)
    def shuffle(self, seed):
        self.dataset = self.dataset.shuffle(seed=seed)
        self.chosen(np.random.default_rng(seed).permutation(len(self.rows)).tolist())

    @rule(reverse=st.booleans(), nulls_first=st.booleans())
    def sort(self, reverse, nulls_first):
        self.dataset = self.dataset.sort("s", reverse=reverse, null_placement="at_start" if nulls_first else "at_end")
        known = [row for row in self.rows if row["s"] is not None]
        nulls = [row for row in self.rows if row["s"] is None]
        known.sort(key=lambda row: row["s"].encode(), reverse=reverse)
        self.rows = nulls + known if nulls_first else known + nulls

    @precondition(lambda self: len(self.rows) >= 2)
    @rule(part=st.sampled_from(["train", "test"]), size=fractions, seed=seeds)
    def train_test_split(self, part, size, seed):
        count = int(np.ceil(size * len(self.rows)))
        if count == len(self.rows):
            return
        self.dataset = self.dataset.train_test_split(test_size=size, seed=seed)[part]
        order = np.random.default_rng(seed).permutation(len(self.rows))
        self.chosen((order[:count] if part == "test" else order[count:]).tolist())

    @precondition(lambda self: len(self.rows) >= 4)
    @rule(k=st.integers(2, 4), fold=st.integers(0, 3))
    def k_fold(self, k, fold):
        """Without shuffling the test parts are runs that make up the whole; the train part is the rest."""
        pairs = self.dataset.k_fold(k, shuffle=False)
        tests = [row for pair in pairs for row in pair["test"]]
        assert sorted(tests, key=repr) == sorted(self.rows, key=repr)
        chosen = pairs[fold % k]
        places = [row["n"] for row in chosen["test"]] + [row["n"] for row in chosen["train"]]
        assert sorted(places) == sorted(row["n"] for row in self.rows)
        self.dataset, self.rows = chosen["train"], list(chosen["train"])

    @precondition(lambda self: self.rows)
    @rule(seed=seeds, data=st.data())
    def sample(self, seed, data):
        """Rows of the dataset, none of them more often than there; then the sample itself is followed."""
        count = data.draw(st.integers(1, len(self.rows)))
        drawn = self.dataset.sample(count, seed=seed)
        left = list(self.rows)
        for row in drawn:
            left.remove(row)
        assert len(left) == len(self.rows) - count
        assert list(drawn) == list(self.dataset.sample(count, seed=seed))
        self.dataset, self.rows = drawn, list(drawn)

    @precondition(lambda self: 0 < len(self.rows) < 60)
    @rule(kind=st.sampled_from(sorted(BUILDERS)), more=st.integers(0, 6), before=st.booleans())
    def concatenate(self, kind, more, before):
        rows = [row_of(100 + place) for place in range(more)]
        other = BUILDERS[kind](rows, [1, 2], self.folder.name)
        both = [other, self.dataset] if before else [self.dataset, other]
        self.dataset = concatenate_datasets(both)
        self.rows = rows + self.rows if before else self.rows + rows

    @rule(place=st.integers(200, 240))
    def add_item(self, place):
        self.dataset = self.dataset.add_item(row_of(place))
        self.rows = [*self.rows, row_of(place)]

    @invariant()
    def every_way_to_read_agrees(self):
        if not hasattr(self, "dataset"):
            return
        rows, dataset = self.rows, self.dataset
        columns = {name: [row[name] for row in rows] for name in FEATURES}
        assert len(dataset) == len(rows)
        assert list(dataset) == rows
        assert dataset[:] == columns
        assert dataset.to_list() == rows
        assert {name: list(dataset[name]) for name in FEATURES} == columns
        assert {name: dataset[name][:] for name in FEATURES} == columns
        draw = random.Random(len(rows))
        start, stop, step = draw.randint(-3, 9), draw.randint(-3, 40), draw.choice([None, 1, 2, -1])
        assert dataset[start:stop:step] == {name: values[start:stop:step] for name, values in columns.items()}
        size = draw.randint(1, 7)
        batches = list(dataset.iter(size))
        assert [value for batch in batches for value in batch["n"]] == columns["n"]
        assert all(len(batch["n"]) == size for batch in batches[:-1])
        if rows:
            places = [draw.randrange(-len(rows), len(rows)) for _ in range(4)]
            assert [dataset[place] for place in places] == [rows[place] for place in places]
            assert dataset[places] == {name: [values[place] for place in places] for name, values in columns.items()}
            assert dataset.__getitems__(places) == [rows[place] for place in places]
            assert dataset["d"][places[0]] == rows[places[0]]["d"]
        with pytest.raises(IndexError):
            dataset[len(rows)]


class Chains(Chain):
    """More of them."""


Chain.TestCase.settings = settings(
    settings.default, max_examples=3 * settings.default.max_examples, stateful_step_count=8
)
Chains.TestCase.settings = settings(Chain.TestCase.settings, max_examples=40 * settings.default.max_examples)
test_any_chain_matches_a_list = Chain.TestCase
test_many_chains_match_a_list = pytest.mark.slow(Chains.TestCase)
