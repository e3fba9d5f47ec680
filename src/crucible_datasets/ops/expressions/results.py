"""Computed columns as a table: in memory, or memory-mapped from the cache, which later runs reuse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.cache import default_cache
from crucible_datasets.features import Features
from crucible_datasets.features.storage import feature_of, storage_type
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.ops.expressions.base import plainer
from crucible_datasets.ops.generate import from_folder
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import TypedWriter, settle

Compute = Callable[[], Iterable[pa.Table]]


def kept(
    compute: Compute, known: Features, fingerprint: Fingerprint, files: tuple[str, ...], in_memory: bool, fresh: bool
) -> View:
    """Computed columns as a view, written to the cache if the input consists of `files`."""
    if in_memory or not files or not is_caching_enabled():
        table = pa.concat_tables(compute())
        features = features_of(table.schema, known)
        return View.of(_typed(table, features), features, fingerprint=fingerprint)
    cache, key = default_cache(), f"expression-{fingerprint}"
    if fresh:
        cache.remove(key)
    folder = cache.made(
        key, lambda temporary: _written(temporary, compute, known), {"kind": "expression", "inputs": files}
    )
    table, features, paths = from_folder(folder)
    return View.of(table, features, paths, fingerprint=fingerprint)


def features_of(schema: pa.Schema, known: Mapping[str, Any]) -> Features:
    """The features of results: a result with the name and the type of a known column has its feature."""
    return Features({field.name: _feature(field, known.get(field.name)) for field in schema})


def _feature(field: pa.Field, known: Any) -> Any:
    return known if known is not None and _holds(storage_type(known), field.type) else feature_of(field.type)


def _holds(before: pa.DataType, after: pa.DataType) -> bool:
    """Whether a column still has its type, apart from what engines do not preserve."""
    if pa.types.is_timestamp(before) and pa.types.is_timestamp(after) and before.tz and after.tz:
        return before.unit == after.unit
    return after in (before, plainer(before))


def _typed(table: pa.Table, features: Features) -> pa.Table:
    return pa.table({name: _stored_as(table[name], storage_type(kind)) for name, kind in features.items()})


def _stored_as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    # Arrow 26 makes invalid arrays when it casts lists of nulls to their own type.
    return column if column.type == kind else column.cast(kind)


def _written(folder: str, compute: Compute, known: Features) -> dict[str, int]:
    writer, features = TypedWriter(os.path.join(folder, "results")), None
    for table in compute():
        features = features or features_of(table.schema, known)
        writer.write(_typed(table, features), features)
    segments = writer.close()
    settle(folder, segments, features)
    return {"rows": sum(segment.num_rows for segment in segments)}
