"""Rows that a function yields → Arrow, in bounded memory: batches of a few thousand, written one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice, pairwise
from typing import Any

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.cache import default_cache
from crucible_datasets.exceptions import ArgumentError, DatasetGenerationError
from crucible_datasets.executors import processes
from crucible_datasets.features import Features
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import values_of, view_of
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, TypedWriter, as_features, settle, united_all

Generator = Callable[..., Iterable[Mapping[str, Any]]]
Batch = tuple[pa.Table, Features]
_ROWS_PER_BATCH = 2000


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
    """The rows as a view: in memory, or memory-mapped from the cache, where the next run finds them."""
    if not callable(generator):
        raise TypeError(f"generator must be a function that yields rows, not {type(generator).__name__}.")
    kinds = Features(features) if features is not None else None
    arguments = dict(gen_kwargs or {})
    info = DatasetInfo(builder_name="generator", dataset_name="generator", config_name="default", version="0.0.0")
    if keep_in_memory or not is_caching_enabled():
        table, found = in_memory(generator, arguments, kinds)
        return view_of(table, found, info, split)
    key = fingerprint or str(Fingerprint.fixed("generator").derive("rows", of=generator, given=arguments, kinds=kinds))
    identity = Fingerprint.fixed(key)
    make = partial(into_folder, generator=generator, gen_kwargs=arguments, features=kinds, num_proc=num_proc)
    folder = default_cache(cache_dir).made(f"generator-{key}", make, {"kind": "generator"})
    table, found, files = from_folder(folder)
    return view_of(table, found, info, split, files, identity)


def in_memory(generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None) -> Batch:
    """All rows as one table in memory."""
    batches = list(_batches(generator, gen_kwargs, features))
    found = united_all((Segment("", kinds) for _, kinds in batches), "use_json")
    final = _known(features or found, generator)
    empty = as_features(pa.table({}), Features(), final)
    return pa.concat_tables([empty, *(as_features(table, kinds, final) for table, kinds in batches)]), final


def into_folder(
    folder: str, generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None, num_proc: int | None
) -> dict[str, int]:
    """Write all rows as Arrow files of one type into a folder; how many there are."""
    tasks = [
        partial(_write, os.path.join(folder, f"shard-{index}"), generator, part, features)
        for index, part in enumerate(shards(gen_kwargs, num_proc or 1))
    ]
    found = list(processes.run(tasks, len(tasks)) if num_proc and len(tasks) > 1 else (task() for task in tasks))
    segments = [segment for several in found for segment in several]
    settle(folder, segments, _known(features or united_all(segments, "use_json"), generator))
    return {"rows": sum(segment.num_rows for segment in segments)}


def from_folder(folder: str) -> tuple[pa.Table, Features, tuple[str, ...]]:
    """The Arrow files of a folder as one memory-mapped table."""
    files = tuple(sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".arrow")))
    tables = [open_table(file) for file in files]
    features = Features.from_arrow_schema(tables[0].schema)
    return pa.concat_tables(tables), features, files


def shards(gen_kwargs: Mapping[str, Any], num_proc: int) -> list[dict[str, Any]]:
    """The arguments of each process: lists are dealt out in runs, the rest goes to all."""
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


def _batches(generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None) -> Iterator[Batch]:
    with progress.tqdm(desc="Generating rows", unit=" rows") as bar:
        for rows in _checked(generator, gen_kwargs):
            yield table_of(rows, features)
            bar.update(len(rows))


def _checked(generator: Generator, gen_kwargs: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The rows in batches; what goes wrong in the generator is told with the number of the row."""
    name, done = getattr(generator, "__name__", "The generator"), 0
    rows: list[Mapping[str, Any]] = []
    try:
        stream = iter(generator(**gen_kwargs))
        while True:
            rows.extend(islice(stream, _ROWS_PER_BATCH))
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


def table_of(rows: list[Mapping[str, Any]], features: Features | None) -> Batch:
    """Rows as a table of the given features, or of those that hold all their values."""
    first = rows[0].keys()
    alike = all(row.keys() == first for row in rows)
    names = features or (first if alike else dict.fromkeys(name for row in rows for name in row))
    columns: dict[str, pa.ChunkedArray] = {}
    kinds: dict[str, Any] = {}
    for name in names:
        values = values_of(rows, name)
        if features is None:
            columns[name], kinds[name] = infer_column(values, name, "use_json")
        else:
            columns[name], kinds[name] = column_of(values, features[name], name), features[name]
    return pa.table(columns), Features(kinds)


def _write(
    prefix: str, generator: Generator, gen_kwargs: Mapping[str, Any], features: Features | None
) -> list[Segment]:
    writer = TypedWriter(prefix, "use_json")
    for table, kinds in _batches(generator, gen_kwargs, features):
        writer.write(table, kinds, getattr(generator, "__name__", None))
    return writer.close()


def _known(features: Features, generator: Generator) -> Features:
    if not features:
        name = getattr(generator, "__name__", "The generator")
        raise DatasetGenerationError(name, None, "it yielded no values, so the types are unknown: pass features.")
    return features
