"""A stream means what the same steps mean on a list, whatever its rows are made of and however they are cut."""

import asyncio
import itertools
import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import Dataset, Features, IterableDataset, Value
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    ColumnLengthError,
    ColumnNamesError,
    ColumnNotFoundError,
    FeaturesMismatchError,
    ShardIndexError,
    ShardingError,
    UnknownFeaturesError,
)
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.tables.rows import shared_out


def rows_of(count):
    return [{"n": number, "t": "x" * (number % 4), "l": [number] * (1 + number % 3)} for number in range(count)]


SOURCES = {
    "table": lambda rows: IterableDataset.from_list(rows, num_shards=min(3, len(rows))),
    "generator": lambda rows: IterableDataset.from_generator(lambda: iter(rows)),
    "typed generator": lambda rows: IterableDataset.from_generator(
        lambda: iter(rows), features=IterableDataset.from_list(rows).features
    ),
}

# Each step: what the stream does, and what it means for a list.
STEPS = {
    "take": lambda n: (lambda d: d.take(n), lambda rows: rows[:n]),
    "skip": lambda n: (lambda d: d.skip(n), lambda rows: rows[n:]),
    "repeat": lambda n: (lambda d: d.repeat(n % 3), lambda rows: rows * (n % 3)),
    "map": lambda n: (
        lambda d: d.map(lambda row: {"m": row["n"] + n}),
        lambda rows: [{**row, "m": row["n"] + n} for row in rows],
    ),
    "map over": lambda n: (
        lambda d: d.map(lambda row: {"n": row["n"] * 2}),
        lambda rows: [{**row, "n": row["n"] * 2} for row in rows],
    ),
    "map some": lambda n: (
        lambda d: d.map(lambda row: {"m": 1} if row["n"] % 2 else {}),
        lambda rows: [{**row, **({"m": 1} if row["n"] % 2 else {})} for row in rows],
    ),
    "map indices": lambda n: (
        lambda d: d.map(lambda row, index: {"i": index}, with_indices=True),
        lambda rows: [{**row, "i": index} for index, row in enumerate(rows)],
    ),
    "map batches": lambda n: (
        lambda d: d.map(lambda b: {"n": [x + 1 for x in b["n"]]}, batched=True, batch_size=n + 1),
        lambda rows: even([{**row, "n": row["n"] + 1} for row in even(rows, n + 1)], n + 1),
    ),
    "filter": lambda n: (
        lambda d: d.filter(lambda row: row["n"] % (n + 1) == 0),
        lambda rows: [row for row in rows if row["n"] % (n + 1) == 0],
    ),
    "filter batches": lambda n: (
        lambda d: d.filter(lambda b: [x % 2 == 0 for x in b["n"]], batched=True, batch_size=n + 1),
        lambda rows: [row for row in rows if row["n"] % 2 == 0],
    ),
    "select": lambda n: (
        lambda d: d.select_columns(["n"]),
        lambda rows: [{"n": row["n"]} for row in rows],
    ),
    "remove": lambda n: (
        lambda d: d.remove_columns("t"),
        lambda rows: [{name: value for name, value in row.items() if name != "t"} for row in rows],
    ),
}


def even(rows, size):
    """Rows as a function of batches sees them: with the keys that any row of their batch has."""
    filled = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        names = dict.fromkeys(name for row in part for name in row)
        filled += [{name: row.get(name) for name in names} for row in part]
    return filled


@settings(deadline=None, max_examples=150)
@given(
    source=st.sampled_from(sorted(SOURCES)),
    count=st.integers(1, 25),
    steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 6)), max_size=4),
)
def test_any_chain_means_what_it_means_on_a_list(source, count, steps):
    stream, expected = SOURCES[source](rows_of(count)), rows_of(count)
    uneven = False
    for name, n in steps:
        of_stream, of_list = STEPS[name](n)
        if name == "map batches" and uneven:
            continue  # which keys a batch has depends on how Arrow and Python rows lie in it
        uneven = uneven or name == "map some"
        stream, expected = of_stream(stream), of_list(expected)
    assert list(stream) == expected
    assert [row for batch in stream.iter(3) for row in unbatched(batch)] == even(expected, 3)


def unbatched(batch):
    return [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]


# ---- batches and cursors -----------------------------------------------------------------------


class Cut(Stage):
    """Rows cut into batches of given lengths, of which some are Arrow, some Python, some both."""

    def __init__(self, lengths):
        self.lengths, self.starts = lengths, [0, *itertools.accumulate(lengths)]

    def batches(self, at=None):
        for place in range(at or 0, len(self.lengths)):
            rows = rows_of(self.starts[place + 1])[self.starts[place] :]
            table = pa.Table.from_pylist([{"n": row["n"]} for row in rows])
            kinds = Features({"n": Value("int64")})
            rest = [{"t": row["t"], "l": row["l"]} for row in rows]
            yield place, Batch.of_rows(rows) if place % 2 else Batch(table, kinds, rest)


lengths = st.lists(st.integers(1, 5), max_size=6)


@given(lengths=lengths, pieces=st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=8))
def test_a_cursor_gives_every_row_once_and_always_knows_its_place(lengths, pieces):
    stage, cursor, row = Cut(lengths), None, 0
    place = None
    for is_skip, count in pieces:
        cursor = Cursor(stage, json.loads(json.dumps(place)))
        if is_skip:
            cursor.skip(count)
        else:
            batch = cursor.take(count)
            assert ([] if batch is None else batch.rows()) == rows_of(sum(lengths))[row : row + count]
        row, place = row + count, cursor.place
    rest = Cursor(stage, place).rest()
    assert ([] if rest is None else rest.rows()) == rows_of(sum(lengths))[row:]


@given(lengths=lengths.filter(bool), data=st.data())
def test_batches_are_lists_of_rows(lengths, data):
    whole = joined([batch for _, batch in Cut(lengths).batches()])
    rows = rows_of(sum(lengths))
    assert whole.rows() == rows
    start, length = data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, 9))
    assert whole.slice(start, length).rows() == rows[start : start + length]
    indices = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    assert whole.take(indices).rows() == [rows[index] for index in indices]
    assert whole.select(["l", "n"]).rows() == [{"l": row["l"], "n": row["n"]} for row in rows]
    assert whole.without(["n"]).rows() == [{"t": row["t"], "l": row["l"]} for row in rows]
    assert whole.renamed({"n": "m"}).column("m") == [row["n"] for row in rows]
    typed = whole.typed()
    assert (typed.made, typed.rows()) == (None, rows)
    assert whole.select(["n"]).typed(Features({"n": Value("string"), "z": Value("int8")})).rows() == [
        {"n": str(row["n"]), "z": None} for row in rows
    ]
    with pytest.raises(FeaturesMismatchError, match="not in the features: t, l"):
        Batch.of_rows(rows).typed(Features({"n": Value("string")}))


@given(count=st.integers(0, 40), num_shards=st.integers(1, 12), contiguous=st.booleans())
def test_everything_is_shared_out_once(count, num_shards, contiguous):
    parts = [list(shared_out(count, num_shards, index, contiguous)) for index in range(num_shards)]
    assert sorted(itertools.chain(*parts)) == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


# ---- functions of users --------------------------------------------------------------------------


def test_a_function_is_called_only_for_rows_that_are_near():
    seen = []
    stream = IterableDataset.from_list(rows_of(1000)).map(lambda row: seen.append(row["n"]) or {})
    reader = iter(stream)
    next(reader)
    assert seen == [0]
    for _ in range(9):
        next(reader)
    assert len(seen) < 20


def test_only_touched_columns_are_decoded(monkeypatch):
    decoded = []

    class Noted(ours.Image):
        def decode_example(self, value, token_per_repo_id=None):
            decoded.append(value)
            return value

    image = {"bytes": b"x", "path": None}
    features = Features({"n": Value("int64"), "picture": Noted()})
    stream = IterableDataset.from_dict({"n": list(range(9)), "picture": [image] * 9}, features=features)
    kept = stream.map(lambda row: {"m": row["n"]}).filter(lambda row: row["m"] > 6)
    assert [row["n"] for row in kept] == [7, 8]
    assert len(decoded) == 2
    assert [row["n"] for row in stream.filter(lambda row: row["n"] > 7)] == [8]
    assert len(decoded) == 3


def test_what_a_function_returns_is_given_as_it_is():
    thing = object()
    stream = IterableDataset.from_list(rows_of(3)).map(lambda row: {"thing": thing, "pair": (1, 2)})
    row = next(iter(stream))
    assert row["thing"] is thing
    assert type(row["pair"]) is tuple
    assert stream.features is None


def test_changes_inside_of_a_value_stay():
    stream = IterableDataset.from_list(rows_of(3)).map(lambda row: row["l"].append("new") or {})
    assert [row["l"][-1] for row in stream] == ["new"] * 3


def test_rows_given_to_functions_are_dicts():
    seen = []
    stream = IterableDataset.from_list(rows_of(2)).map(
        lambda row: seen.append(json.dumps(dict(row))) or {**row, "k": 1}
    )
    assert list(stream) == [{**row, "k": 1} for row in rows_of(2)]
    assert [json.loads(text) for text in seen] == rows_of(2)


def test_async_functions_run_at_once_and_in_order_also_inside_of_a_loop():
    running, most = 0, 0

    async def slow(row):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (row["n"] % 3))
        running -= 1
        return {"m": row["n"]}

    async def inside():
        return [row["m"] for row in IterableDataset.from_list(rows_of(50)).map(slow)]

    assert [row["m"] for row in IterableDataset.from_list(rows_of(50)).map(slow)] == list(range(50))
    assert most == 50
    assert asyncio.run(inside()) == list(range(50))


def test_an_async_error_is_the_functions_own():
    async def broken(row):
        raise ZeroDivisionError(row["n"])

    with pytest.raises(ZeroDivisionError):
        list(IterableDataset.from_list(rows_of(3)).map(broken))


def test_generators_that_keep_their_own_state_are_not_run_again():
    class Counting:
        def __init__(self):
            self.at, self.made = 0, 0

        def __iter__(self):
            while self.at < 20:
                self.at += 1
                self.made += 1
                yield {"n": self.at - 1}

        def state_dict(self):
            return {"at": self.at}

        def load_state_dict(self, state):
            self.at = state["at"]

    counters = []

    def make():
        counters.append(Counting())
        return counters[-1]

    stream = IterableDataset.from_generator(make)
    reader = iter(stream)
    for _ in range(15):
        next(reader)
    again = IterableDataset.from_generator(make)
    again.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    assert [row["n"] for row in again] == list(range(15, 20))
    assert counters[-1].made < 20


# ---- errors ----------------------------------------------------------------------------------


def test_errors_name_what_is_wrong():
    stream = IterableDataset.from_list(rows_of(5), num_shards=2)
    unknown = stream.map(lambda row: row)
    with pytest.raises(ColumnNotFoundError, match="zz"):
        stream.select_columns("zz")
    with pytest.raises(ColumnNotFoundError, match="zz"):
        list(unknown.select_columns("zz"))
    with pytest.raises(ColumnNotFoundError, match="zz"):
        list(unknown.batch(by_column="zz"))
    with pytest.raises(ColumnNamesError):
        stream.rename_column("n", "t")
    with pytest.raises(ColumnNamesError):
        list(unknown.rename_column("n", "t"))
    with pytest.raises(UnknownFeaturesError, match="cast_column"):
        unknown.cast_column("n", Value("string"))
    with pytest.raises(UnknownFeaturesError, match="decode"):
        unknown.decode(False)
    with pytest.raises(FeaturesMismatchError):
        list(stream.cast(Features({"n": Value("string")})))
    with pytest.raises(ShardIndexError):
        stream.shard(2, 2)
    with pytest.raises(ShardingError, match="a has 1, b has 2"):
        IterableDataset.from_generator(lambda a, b: iter(()), gen_kwargs={"a": [1], "b": [1, 2]})
    with pytest.raises(ArgumentTypeError, match="returned int"):
        list(stream.map(lambda row: 3))
    with pytest.raises(ColumnLengthError):
        list(stream.map(lambda batch: {"m": [1]}, batched=True))


def test_media_are_decoded_by_threads_and_resumed():
    numpy_image = np.zeros((2, 2, 3), np.uint8)
    features = Features({"n": Value("int64"), "picture": ours.Image()})
    stream = IterableDataset.from_dict({"n": list(range(40)), "picture": [numpy_image] * 40}, features=features)
    threaded = stream.decode(num_threads=3)
    assert [(row["n"], row["picture"].size) for row in threaded] == [(number, (2, 2)) for number in range(40)]
    reader = iter(threaded)
    for _ in range(17):
        next(reader)
    threaded.load_state_dict(threaded.state_dict())
    assert [row["n"] for row in threaded] == list(range(17, 40))
    assert set(next(iter(stream.decode(False)))["picture"]) == {"bytes", "path"}


def doubled(row):
    return {"m": row["n"] * 2}


def test_streams_travel_to_other_processes(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "data.parquet")
    for stream in (
        IterableDataset.from_list([{"n": 1}, {"n": 2}]),
        IterableDataset.from_json(str(tmp_path / "data.jsonl")),
        IterableDataset.from_parquet(str(tmp_path / "data.parquet")),
    ):
        made = stream.map(doubled).filter(bool).shuffle(seed=1)
        list(made)
        copy = pickle.loads(pickle.dumps(made))
        assert list(copy) == list(made)


@pytest.mark.parametrize("step", ["map", "filter"])
@pytest.mark.parametrize("given", ["n > 3", pc.field("n") > 3, 5])
def test_what_is_no_function_is_refused_before_any_row_is_read(step, given):
    stream = IterableDataset.from_list(rows_of(5))
    with pytest.raises(TypeError, match="Expected a function, not .*Expressions are for a Dataset"):
        getattr(stream, step)(given)


def test_a_dataset_that_shows_some_columns_streams_those():
    rows = ours.Dataset.from_dict({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]}).with_format("numpy", columns=["c", "a"])
    stream = rows.to_iterable_dataset()
    assert list(stream) == list(rows)
    assert stream.column_names == ["a", "c"]
    doubled = rows.with_transform(lambda batch: {"d": [2 * value for value in batch["a"]]}, columns=["a"])
    assert list(doubled.to_iterable_dataset()) == list(doubled)


def test_a_dataset_without_rows_is_a_stream_without_rows():
    dataset = Dataset.from_list([{"a": 1}]).select([])
    stream = dataset.to_iterable_dataset()
    assert list(stream) == []
    assert stream.features == dataset.features
    with pytest.raises(ArgumentError, match="num_shards=2"):
        dataset.to_iterable_dataset(num_shards=2)
