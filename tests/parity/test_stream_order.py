"""Streams come in the same order as with Hugging Face `datasets`, whatever shuffles, mixes and shares them out."""

from __future__ import annotations

from typing import Any

import datasets as hf
import pytest
from datasets.distributed import split_dataset_by_node as hf_split_by_node
from hypothesis import given, settings
from hypothesis import strategies as st
from support.streams import STRATEGIES, as_worker, built, pipelines, rows_of_shards, values

import crucible_datasets as ours
from crucible_datasets.distributed import split_dataset_by_node

hf.disable_progress_bars()
hf.logging.set_verbosity_error()

epochs = st.sampled_from([0, 0, 1, 2, 5])


def both(spec: Any) -> tuple[Any, Any] | None:
    """The stream of each library; None where Hugging Face fails on streams without rows, as it does when mixing."""
    try:
        theirs = built(hf, spec)
    except (StopIteration, RuntimeError, IndexError, ValueError, TypeError):
        return None
    return theirs, built(ours, spec)


def told(stream: Any) -> list[Any] | None:
    """The values of a stream of Hugging Face's, unless it fails."""
    try:
        return values(stream)
    except (StopIteration, RuntimeError, IndexError, KeyError):
        return None


@given(spec=pipelines(), epoch=epochs)
@settings(max_examples=60)
def test_order(spec, epoch):
    if (pair := both(spec)) is None:
        return
    for stream in pair:
        stream.set_epoch(epoch)
    theirs, mine = pair
    assert mine.num_shards == theirs.num_shards
    if (expected := told(theirs)) is not None:
        assert values(mine) == expected


# What random pipelines meet seldom.
TABLE, ROWS = ("table", 29, 7), ("generated", [1, 4, 2, 6, 3])
SELDOM = {
    "a shuffled table beside rows": (("concatenate",), [(("shuffle", 93, 5, 10), TABLE), ROWS]),
    "a shuffle of tables and rows": (("shuffle", 20, 4, 3), (("concatenate",), [ROWS, TABLE])),
    "turns of a shuffled table and rows": (
        ("interleave", "first_exhausted", None),
        [(("shuffle", 30, 9, 2), TABLE), ROWS],
    ),
    "turns of counted rows": (("interleave", "all_exhausted_without_replacement", 35), [(("skip", 3), TABLE), ROWS]),
    "a shuffle of turns of counted rows": (
        ("shuffle", 3, 6, 2),
        (("interleave", "all_exhausted", 4), [(("take", 9), TABLE), ROWS]),
    ),
    "a shuffle of counted rows": (("shuffle", 3, 10, 3), (("take", 25), TABLE)),
    "a shuffle of counted rows of one shard": (("shuffle", 3, 10, 3), (("skip", 2), ROWS)),
    "a shuffle of shuffled rows": (("shuffle", 3, 8, 2), (("shuffle", 4, 6, 2), TABLE)),
    "a shuffle of drawn turns": (("shuffle", 3, 5, 2), (("interleave", "all_exhausted", 5), [TABLE, ROWS])),
    "counted rows among others": (("shuffle", 42, 1, 3), (("concatenate",), [(("take", 9), ROWS), TABLE])),
    "batches of several streams": (("map_batches", 3), (("concatenate",), [TABLE, ROWS])),
}


@pytest.mark.parametrize("epoch", [0, 2, 5])
@pytest.mark.parametrize("spec", SELDOM.values(), ids=SELDOM)
def test_order_of_what_is_seldom(spec, epoch):
    theirs, mine = built(hf, spec), built(ours, spec)
    for stream in (theirs, mine):
        stream.set_epoch(epoch)
    assert (values(mine), mine.num_shards) == (values(theirs), theirs.num_shards)
    for worker in range(2):
        with as_worker(worker, 2):
            assert values(mine) == values(theirs)


@given(spec=pipelines(3), epoch=epochs, count=st.integers(1, 4), data=st.data())
@settings(max_examples=60)
def test_order_in_workers(spec, epoch, count, data):
    if (pair := both(spec)) is None or pair[0].num_shards < count:
        return
    with as_worker(data.draw(st.integers(0, count - 1)), count):
        for stream in pair:
            stream.set_epoch(epoch)
        if (expected := told(pair[0])) is not None:
            assert values(pair[1]) == expected


@given(
    spec=pipelines(3),
    epoch=epochs,
    world=st.integers(2, 4),
    workers=st.integers(1, 2),
    strategy=st.sampled_from(["auto", "shards", "examples"]),
    data=st.data(),
)
@settings(max_examples=60)
def test_order_on_machines(spec, epoch, world, workers, strategy, data):
    if (pair := both(spec)) is None:
        return
    rank = data.draw(st.integers(0, world - 1))
    if strategy == "shards" and pair[0].num_shards < world:
        return  # there some machines get nothing, here files are cut
    theirs = hf_split_by_node(pair[0], rank, world, strategy=strategy)
    mine = split_dataset_by_node(pair[1], rank, world, strategy=strategy)
    assert mine.num_shards == theirs.num_shards
    if workers > theirs.num_shards:
        return
    with as_worker(workers - 1, workers):
        for stream in (theirs, mine):
            stream.set_epoch(epoch)
        if (expected := told(theirs)) is not None:
            assert values(mine) == expected


def numbers(library: Any, count: int, num_shards: int = 1) -> Any:
    return library.Dataset.from_dict({"x": list(range(count))}).to_iterable_dataset(num_shards)


def test_golden_orders():
    assert values(numbers(ours, 10).shuffle(seed=42, buffer_size=4)) == [3, 2, 5, 4, 1, 7, 8, 9, 6, 0]
    assert values(numbers(ours, 12, 4).shuffle(seed=42)) == [9, 4, 3, 0, 2, 6, 8, 11, 7, 1, 10, 5]
    parts = [built(ours, ("generated", [size]), iter([first])) for size, first in ((3, 0), (4, 10), (5, 20))]
    drawn = ours.interleave_datasets(parts, probabilities=[0.7, 0.2, 0.1], seed=42)
    assert values(drawn) == [10, 0, 11, 1, 2]
    once = ours.interleave_datasets(parts, stopping_strategy="all_exhausted_without_replacement")
    assert values(once) == [0, 10, 20, 1, 11, 21, 2, 12, 22, 13, 23, 24]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("chances", [None, [0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
def test_long_interleaving(strategy, chances):
    found = []
    for library in (hf, ours):
        shards = [[list(range(first, first + size))] for first, size in ((0, 900), (10_000, 2500), (20_000, 400))]
        parts = [library.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": one}) for one in shards]
        mixed = library.interleave_datasets(parts, probabilities=chances, seed=7, stopping_strategy=strategy)
        found.append(values(mixed))
    assert found[0] == found[1]


@pytest.mark.parametrize("library", [hf, ours])
def test_a_generator_is_as_good_as_its_seed(library):
    import numpy as np

    generator = np.random.default_rng(7)
    shuffled = numbers(library, 50, 5).shuffle(generator=generator, buffer_size=9)
    assert values(shuffled) == values(numbers(library, 50, 5).shuffle(seed=7, buffer_size=9))
    assert generator.integers(1 << 40) == np.random.default_rng(7).integers(1 << 40)


@pytest.mark.parametrize("format", ["numpy", "arrow", None])
def test_formats_do_not_change_the_order(format):
    found = []
    for library in (hf, ours):
        stream = numbers(library, 100, 4).with_format(format).shuffle(seed=3, buffer_size=10, max_buffer_input_shards=2)
        found.append(values(stream.with_format(None)))
    assert found[0] == found[1]


def call_both(call: Any) -> list[Any]:
    found = []
    for library in (hf, ours):
        try:
            found.append(("value", call(library)))
        except Exception as error:
            found.append(("error", error))
    return found


WRONG = {
    "mixed kinds": lambda lib: lib.concatenate_datasets([numbers(lib, 2), lib.Dataset.from_dict({"x": [1]})]),
    "none": lambda lib: lib.interleave_datasets([]),
    "strategy": lambda lib: lib.interleave_datasets([numbers(lib, 2)], stopping_strategy="never"),
    "sum": lambda lib: values(lib.interleave_datasets([numbers(lib, 2), numbers(lib, 2)], probabilities=[0.5, 0.6])),
    "too few": lambda lib: values(lib.interleave_datasets([numbers(lib, 2), numbers(lib, 2)], probabilities=[1.0])),
    "same columns": lambda lib: lib.concatenate_datasets([numbers(lib, 2), numbers(lib, 2)], axis=1),
    "types": lambda lib: lib.concatenate_datasets(
        [numbers(lib, 2), lib.Dataset.from_dict({"x": ["a"]}).to_iterable_dataset()]
    ),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_they_refuse_is_refused_with_their_error(call):
    (kind, theirs), (mine, error) = call_both(call)
    assert (kind, mine) == ("error", "error")
    assert isinstance(error, type(theirs))


@pytest.mark.parametrize("combine", ["concatenate_datasets", "interleave_datasets"])
def test_columns_that_a_stream_lacks_are_null(combine):
    found = []
    for library in (hf, ours):
        other = library.Dataset.from_dict({"y": ["a", "b", "c"]}).to_iterable_dataset()
        generated = library.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": [[7, 8]]})
        mixed = getattr(library, combine)([numbers(library, 3), other, generated])
        found.append((list(mixed), mixed.column_names))
    assert found[0] == found[1]


def letters(row: Any) -> dict[str, str]:
    return {"y": "abcdefg"[row["x"] % 7]}


def generated(library: Any, count: int) -> Any:
    return library.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": [list(range(count))]})


@pytest.mark.parametrize("count", [40, 31])
@pytest.mark.parametrize("is_table", [True, False])
def test_columns_beside_each_other(count, is_table):
    found = []
    for library in (hf, ours):
        # Tables of different lengths make Hugging Face fail, rows do not.
        table = library.Dataset.from_dict({"y": list(range(40))}).to_iterable_dataset()
        other = table if is_table and count == 40 else generated(library, count).map(letters, remove_columns=["x"])
        mixed = library.concatenate_datasets([numbers(library, 40, 2), other], axis=1)
        shuffled = mixed.shuffle(seed=1, buffer_size=10, max_buffer_input_shards=3)
        found.append((list(mixed), mixed.column_names, mixed.num_shards, list(shuffled)))
    assert found[0] == found[1]


@pytest.mark.parametrize("strategy", ["shards", "examples"])
def test_datasets_are_split_in_one_way_only(strategy):
    found = call_both(
        lambda lib: (hf_split_by_node if lib is hf else split_dataset_by_node)(
            lib.Dataset.from_dict({"x": [1, 2]}), 0, 2, strategy=strategy
        )
    )
    assert [kind for kind, _ in found] == ["error", "error"]
    assert isinstance(found[1][1], type(found[0][1]))


@given(count=st.integers(5, 20), world=st.integers(1, 5), data=st.data())
def test_datasets_are_split_into_runs(count, world, data):
    rank = data.draw(st.integers(0, world - 1))
    theirs = hf_split_by_node(hf.Dataset.from_dict({"x": list(range(count))}), rank, world)
    mine = split_dataset_by_node(ours.Dataset.from_dict({"x": list(range(count))}), rank, world)
    assert list(mine["x"]) == list(theirs["x"])


@given(first=st.integers(1, 3), second=st.integers(1, 3), shards=st.integers(1, 6))
def test_a_part_of_a_part(first, second, shards):
    for outer in range(first):
        for inner in range(second):
            theirs = hf_split_by_node(hf_split_by_node(numbers(hf, 24, shards), outer, first), inner, second)
            mine = split_dataset_by_node(split_dataset_by_node(numbers(ours, 24, shards), outer, first), inner, second)
            assert values(mine) == values(theirs)


@pytest.mark.parametrize("num_shards", [1, 2, 3, 4])
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("steps", [("take",), ("skip",), ("skip", "take"), ("shuffle", "take"), ("take", "shuffle")])
def test_rows_counted_after_a_split_by_machine(num_shards, rank, steps):
    def rows(library):
        split = split_dataset_by_node if library is ours else hf_split_by_node
        data = library.Dataset.from_dict({"n": list(range(24))}).to_iterable_dataset(num_shards=num_shards)
        stream = split(data, rank, 2)
        for step in steps:
            stream = stream.shuffle(seed=7, buffer_size=3) if step == "shuffle" else getattr(stream, step)(5)
        return [row["n"] for row in stream]

    assert rows(ours) == rows(hf)
