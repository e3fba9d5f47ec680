"""Rows that a function yields → Arrow, in bounded memory: batches of a few thousand rows are written one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice, pairwise
from typing import Any

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.cache import default_cache
from crucible_datasets.exceptions import ArgumentError, DatasetGenerationError
from crucible_datasets.executors.base import Advance, Task, run_all
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.hashing import Arguments
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import table_of, view_of
from crucible_datasets.ops.mapping.user_functions import collect
from crucible_datasets.outputs.python import collecting_rarely
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, TypedWriter, as_features, settle, united_all

Generator = Callable[..., Iterable[Mapping[str, Any]]]
Batch = tuple[pa.Table, Features]
_ROWS_PER_BATCH = 2000
LAYOUT = 2  # part of every key: incremented when the files of the same call change
_MIXED = "use_json"  # values without a common type are Json, within a batch and across batches


def from_generator(
    generator: Generator,
    features: Mapping[str, Any] | None,
    gen_kwargs: Mapping[str, Any] | None,
    split: str | NamedSplit | None,
    fingerprint: str | None,
    cache_dir: str | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
) -> View:
    """The rows as a view: in memory, or memory-mapped from the cache, which later runs reuse."""
    if not callable(generator):
        raise TypeError(f"generator must be a function that yields rows, not {type(generator).__name__}.")
    kinds = Features(features) if features is not None else None
    arguments = dict(gen_kwargs or {})
    info = DatasetInfo(builder_name="generator", dataset_name="generator", config_name="default", version="0.0.0")
    if keep_in_memory or not is_caching_enabled():
        table, found = in_memory(generator, shards(arguments, num_proc or 1), kinds)
        return view_of(table, found, info, split)
    made_of = {"generator": generator, "gen_kwargs": Arguments.of(generator, arguments)} if fingerprint is None else {}
    parent = Fingerprint.fixed(fingerprint or "generator")
    # A generator sees how many values of its lists it gets.
    derived = parent.derive(
        "from_generator", **made_of, features=kinds, shards=len(shards(arguments, num_proc or 1)), layout=LAYOUT
    )
    identity = parent if fingerprint else derived
    key = str(derived)
    make = partial(into_folder, generator=generator, gen_kwargs=arguments, features=kinds, num_proc=num_proc)
    folder = default_cache(cache_dir).made(f"generator-{key}", make, {"kind": "generator"})
    table, found, files = from_folder(folder)
    return view_of(table, found, info, split, files, identity)


def in_memory(generator: Generator, parts: Sequence[Mapping[str, Any]], features: Features | None) -> Batch:
    """All rows, those of each part of the arguments in turn, as one table in memory."""
    with _bar() as bar, collecting_rarely():
        batches = [batch for part in parts for batch in _batches(generator, part, features, bar.update)]
    found = united_all((Segment("", kinds) for _, kinds in batches), _MIXED)
    final = _known(features or found, generator)
    empty = as_features(pa.table({}), Features(), final)
    return pa.concat_tables([empty, *(as_features(table, kinds, final, _MIXED) for table, kinds in batches)]), final


def into_folder(
    folder: str, generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None, num_proc: int | None
) -> dict[str, int]:
    """Write all rows as Arrow files of one schema into a folder; the number of rows."""
    parts = shards(gen_kwargs, num_proc or 1)
    name = getattr(generator, "__name__", "the generator")
    tasks = [
        Task(
            partial(_write, os.path.join(folder, f"shard-{index}"), generator, part, features),
            range(0),
            f"{name} for shard {index + 1} of {len(parts)}",
        )
        for index, part in enumerate(parts)
    ]
    with _bar() as bar:
        found = list(run_all(tasks, bar.update))
    segments = [segment for several in found for segment in several]
    settle(folder, segments, _known(features or united_all(segments, _MIXED), generator), _MIXED)
    return {"rows": sum(segment.num_rows for segment in segments)}


def from_folder(folder: str) -> tuple[pa.Table, Features, tuple[str, ...]]:
    """The Arrow files of a folder as one memory-mapped table."""
    files = tuple(sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".arrow")))
    tables = [open_table(file, trusted=True) for file in files]
    features = Features.from_arrow_schema(tables[0].schema)
    return pa.concat_tables(tables), features, files


def shards(gen_kwargs: Mapping[str, Any], num_proc: int) -> list[dict[str, Any]]:
    """The arguments of each process: lists are split into contiguous parts, others are passed to all."""
    lists = {name: value for name, value in gen_kwargs.items() if isinstance(value, list)}
    lengths = {len(value) for value in lists.values()}
    if num_proc <= 1 or not lists:
        return [dict(gen_kwargs)]
    if len(lengths) > 1:
        raise ArgumentError("gen_kwargs", sorted(lists), "lists must be equally long to be dealt out to processes.")
    total = lengths.pop()
    parts = max(1, min(num_proc, total))
    bounds = [total * index // parts for index in range(parts + 1)]
    return [
        {**gen_kwargs, **{name: value[start:stop] for name, value in lists.items()}} for start, stop in pairwise(bounds)
    ]


def _bar() -> Any:
    return progress.bar(desc="Generating rows", unit=" rows")


def _batches(
    generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None, advance: Advance
) -> Iterator[Batch]:
    done = 0
    for rows in _checked(generator, gen_kwargs):
        with _generator_errors(generator, done):
            batch = table_of(rows, features)
        yield batch
        advance(len(rows))
        done += len(rows)


@contextmanager
def _generator_errors(generator: Generator, done: int) -> Iterator[None]:
    """Report values that cannot be stored as errors of the generator; `done` rows came before them."""
    try:
        yield
    except (ValueError, TypeError, pa.ArrowNotImplementedError) as error:
        row = getattr(error, "row", None)
        reason = str(error).replace(f", row {row}", "", 1)  # the error counts rows within the batch
        place = None if row is None else done + row
        raise DatasetGenerationError(_name(generator), place, f"{type(error).__name__}: {reason}") from error


def _name(generator: Generator) -> str:
    return getattr(generator, "__name__", "The generator")


def _checked(generator: Generator, gen_kwargs: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The rows in batches; errors of the generator are raised with the number of the row."""
    name, done = _name(generator), 0
    rows: list[Mapping[str, Any]] = []
    try:
        stream = iter(generator(**gen_kwargs))
        while True:
            collect(islice(stream, _ROWS_PER_BATCH), rows)
            if not rows:
                return
            _require_rows(rows, name, done)
            done += len(rows)
            yield rows
            rows = []
    except DatasetGenerationError:
        raise
    except Exception as error:
        raise DatasetGenerationError(name, done + len(rows), f"{type(error).__name__}: {error}") from error


def _require_rows(rows: list[Mapping[str, Any]], name: str, done: int) -> None:
    if set(map(type, rows)) == {dict}:
        return
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DatasetGenerationError(name, done + index, f"it yielded {type(row).__name__} instead of a dict.")


def _write(
    prefix: str,
    generator: Generator,
    gen_kwargs: Mapping[str, Any],
    features: Features | None,
    _rank: int | None,
    advance: Advance,
) -> list[Segment]:
    writer, name = TypedWriter(prefix, _MIXED), getattr(generator, "__name__", None)
    written: Future[None] | None = None
    try:
        with ThreadPoolExecutor(1) as behind, collecting_rarely():  # it writes a batch while the next is made
            for table, kinds in _batches(generator, gen_kwargs, features, advance):
                if written:
                    written.result()
                written = behind.submit(writer.write, table, kinds, name)
        if written:
            written.result()
        return writer.close()
    finally:
        # Its error refers to this frame, and this frame to it: the cycle would keep the file open, and the disk full.
        written = None


def _known(features: Features, generator: Generator) -> Features:
    if not features:
        raise DatasetGenerationError(
            _name(generator), None, "it yielded no values, so the types are unknown: pass features."
        )
    return features
