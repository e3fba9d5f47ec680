"""Pipelines of streams that can be built with either library, and the laws that every one of them keeps."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import strategies as st

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")

# A pipeline is a tuple: what is done, with which arguments, and last the pipeline or pipelines below.
_sizes = st.lists(st.integers(0, 6), min_size=1, max_size=8)
_seeds = st.integers(0, 99)
_shuffles = st.tuples(
    st.just("shuffle"), _seeds, st.sampled_from([1, 2, 5, 8, 20, 100, 1000]), st.sampled_from([1, 2, 3, 10])
)
_steps = {
    "map": st.tuples(st.just("map")),
    "map_batches": st.tuples(st.just("map_batches"), st.integers(1, 5)),
    "filter": st.tuples(st.just("filter")),
    "select": st.tuples(st.just("select")),
    "rename": st.tuples(st.just("rename")),
    "take": st.tuples(st.just("take"), st.integers(0, 20)),
    "skip": st.tuples(st.just("skip"), st.integers(0, 10)),
    "repeat": st.tuples(st.just("repeat"), st.integers(1, 3)),
    "shard": st.tuples(st.just("shard"), st.integers(1, 4), st.integers(0, 3), st.booleans()),
    "shuffle": _shuffles,
    "numbered": st.tuples(st.just("numbered")),
}
_tails = {**_steps, "batch": st.tuples(st.just("batch"), st.integers(1, 5), st.booleans())}
STEPS = tuple(_tails)

sources = st.one_of(
    st.tuples(st.just("generated"), _sizes),
    st.tuples(st.just("table"), st.integers(1, 30), st.integers(1, 6)).filter(lambda spec: spec[1] >= spec[2]),
)


def _above(below: Any) -> Any:
    several = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.one_of(*_steps.values()), below),
        st.tuples(st.just(("concatenate",)), several),
        st.tuples(st.tuples(st.just("interleave"), st.sampled_from(STRATEGIES), st.none() | _seeds), several),
    )


@st.composite
def pipelines(draw: Any, deepest: int = 4) -> Any:
    """A source, and steps above it."""
    spec = draw(st.recursive(sources, _above, max_leaves=deepest))
    for step in draw(st.lists(st.one_of(*_tails.values()), max_size=2)):
        spec = (step, spec)
    return spec


def rows_of_shards(shards: list[list[int]]) -> Iterator[dict[str, int]]:
    for shard in shards:
        for value in shard:
            yield {"x": value}


def total(value: Any) -> int:
    return sum(map(total, value)) if isinstance(value, list) else value


def _turned(columns: Any) -> dict[str, Any]:
    """More or fewer rows than there were, in an order that shows where batches begin."""
    values = list(columns["x"])
    return {"x": values[1:] + values[:1] + values[2:3]}


def _same(row: Any) -> Any:
    return {"x": row["x"]}


def _is_kept(row: Any) -> bool:
    return total(row["x"]) % 3 != 0


def _numbered(row: Any, number: int) -> dict[str, Any]:
    return {"x": row["x"], "number": number}


def built(library: Any, spec: Any, firsts: Iterator[int] | None = None) -> Any:
    """The stream that a pipeline describes, made with one library. Every source has values of its own."""
    firsts = itertools.count(0, 1000) if firsts is None else firsts
    if isinstance(spec[0], str):
        return _source(library, spec, next(firsts))
    (name, *arguments), below = spec
    if name == "concatenate":
        return library.concatenate_datasets([built(library, one, firsts) for one in below])
    if name == "interleave":
        strategy, seed = arguments
        parts = [built(library, one, firsts) for one in below]
        chances = None if seed is None else [1 / len(parts)] * len(parts)
        return library.interleave_datasets(parts, probabilities=chances, seed=seed, stopping_strategy=strategy)
    return _step(built(library, below, firsts), name, arguments)


def _source(library: Any, spec: Any, first: int) -> Any:
    if spec[0] == "table":
        values = list(range(first, first + spec[1]))
        return library.Dataset.from_dict({"x": values}).to_iterable_dataset(num_shards=spec[2])
    numbers = itertools.count(first)
    shards = [list(itertools.islice(numbers, size)) for size in spec[1]]
    return library.IterableDataset.from_generator(rows_of_shards, gen_kwargs={"shards": shards})


def _step(stream: Any, name: str, arguments: list[Any]) -> Any:
    if name == "shuffle":
        seed, size, inputs = arguments
        return stream.shuffle(seed=seed, buffer_size=size, max_buffer_input_shards=inputs)
    if name == "shard":
        count = min(arguments[0], stream.num_shards)
        return stream.shard(count, arguments[1] % count, contiguous=arguments[2])
    return {
        "map": lambda: stream.map(_same),
        "map_batches": lambda: stream.map(_turned, batched=True, batch_size=arguments[0], remove_columns=["x"]),
        "filter": lambda: stream.filter(_is_kept),
        "select": lambda: stream.select_columns(["x"]),
        "rename": lambda: stream.rename_column("x", "y").rename_column("y", "x"),
        "take": lambda: stream.take(arguments[0]),
        "skip": lambda: stream.skip(arguments[0]),
        "repeat": lambda: stream.repeat(arguments[0]),
        "batch": lambda: stream.batch(arguments[0], drop_last_batch=arguments[1]),
        "numbered": lambda: stream.map(_numbered, with_indices=True).select_columns(["x"]),
    }[name]()


def values(stream: Any) -> list[Any]:
    return [row["x"] for row in stream]


@contextmanager
def as_worker(index: int, count: int) -> Iterator[None]:
    """This process, as long as it takes, in the role of a worker of torch's `DataLoader`."""
    worker = pytest.importorskip("torch.utils.data._utils.worker", reason="torch is not installed")
    worker._worker_info = worker.WorkerInfo(id=index, num_workers=count, seed=0, dataset=None)
    try:
        yield
    finally:
        worker._worker_info = None


def saved(stream: Any) -> Any:
    """The state of a stream, as a checkpoint keeps it."""
    return json.loads(json.dumps(stream.state_dict()))


def read(stream: Any, count: int) -> list[Any]:
    """The next rows of a stream, which is then left."""
    rows = iter(stream)
    found = list(itertools.islice(rows, count))
    rows.close()
    return found


def assert_resumes(stream: Any, most: int = 40, seed: int = 0) -> None:
    """From every row, and from two more on the way from there, the rest is what it would have been."""
    stream.load_state_dict([])
    expected = list(stream)
    draw = random.Random(seed)
    starts = range(len(expected) + 1)
    for start in starts if len(starts) <= most else sorted(draw.sample(starts, most)):
        stream.load_state_dict([])
        found: list[Any] = []
        for stop in [start, *sorted(draw.choices(range(start, len(expected) + 1), k=2))]:
            found += read(stream, stop - len(found))
            stream.load_state_dict(saved(stream))
        found += list(stream)
        assert found == expected, f"resumed at row {start}"
    stream.load_state_dict([])
