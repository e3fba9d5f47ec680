"""`to_webdataset`: the rows of a view or of tables as samples in tar shards. Returns the paths of the shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.ops.blocks import blocks, require_batch_size
from crucible_datasets.ops.destination import Path, StorageOptions
from crucible_datasets.ops.webdataset.columns import KEY, Written, planned
from crucible_datasets.ops.webdataset.naming import require_key, width_of
from crucible_datasets.ops.webdataset.shardwriter import ShardWriter
from crucible_datasets.tables.view import View

_MOST_ROWS = 1000  # whose contents are in memory at a time
_NO_LIMIT = 1 << 62
_WIDTH_OF_UNKNOWN = 9  # digits of keys if the number of rows is unknown


def to_webdataset(
    view: View,
    path: Path,
    columns: Sequence[str] | None = None,
    extensions: Mapping[str, str] | None = None,
    max_shard_size: str | int | None = None,
    num_shards: int | None = None,
    batch_size: int | None = None,
    storage_options: StorageOptions = None,
) -> list[str]:
    """Write each row as a sample, in shards of `max_shard_size` or in `num_shards` shards of about equal length."""
    if max_shard_size is not None and num_shards is not None:
        raise ArgumentError("num_shards", num_shards, "give either max_shard_size or num_shards, not both.")
    if num_shards is not None and num_shards < 1:
        raise ArgumentError("num_shards", num_shards, "expected at least 1.")
    require_batch_size(batch_size)
    plan = planned(view.readable, columns, extensions)
    rows = [*([KEY] if KEY in view.features else []), *(each.column for each in plan)]
    most = max_shard_size if num_shards is None else _NO_LIMIT
    with ShardWriter(path, most, None, storage_options) as writer, _bar(len(view)) as bar:
        for start, stop in _bounds(len(view), num_shards):
            for table in _cut(blocks(view, batch_size, range(start, stop))):
                write_rows(writer, table.select(rows), plan, width_of(len(view)))
                bar.update(len(table))
            if num_shards is not None:
                writer.finish_shard()
    return writer.paths


def splits_to_webdataset(views: Mapping[str, View], path: Path, *how: Any) -> dict[str, list[str]]:
    """Write every split; `{split}` in the path is its name."""
    text = os.fsdecode(path)
    if "{split}" not in text and len(views) > 1:
        raise ArgumentError("path", text, "several splits need their name in the path, as in '{split}-%05d.tar'.")
    return {str(name): to_webdataset(view, text.replace("{split}", str(name)), *how) for name, view in views.items()}


def _bar(total: int | None) -> Any:
    return progress.bar(total=total, desc="Writing WebDataset", unit=" examples")


def _bounds(rows: int, num_shards: int | None) -> Iterator[tuple[int, int]]:
    count = min(num_shards or 1, max(rows, 1))
    return ((rows * number // count, rows * (number + 1) // count) for number in range(count))


def _cut(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for table in tables:
        for start in range(0, len(table), _MOST_ROWS):
            yield table.slice(start, _MOST_ROWS)


def write_tables(
    tables: Iterable[pa.Table],
    features: Features,
    path: Path,
    columns: Sequence[str] | None,
    extensions: Mapping[str, str] | None,
    max_shard_size: str | int | None,
    storage_options: StorageOptions,
) -> list[str]:
    """Write the rows of tables, whose number is unknown."""
    plan = planned(features, columns, extensions)
    with ShardWriter(path, max_shard_size, None, storage_options) as writer, _bar(None) as bar:
        for table in _cut(tables):
            write_rows(writer, table, plan, _WIDTH_OF_UNKNOWN)
            bar.update(len(table))
    return writer.paths


def write_rows(writer: ShardWriter, table: pa.Table, plan: Sequence[Written], width: int) -> None:
    """Write the rows of a table, which follow those written before."""
    first = writer.rows
    keys = _keys(table, first, width)
    columns = [each.contents()(table.column(each.column), first) for each in plan]
    for key, *files in zip(keys, *columns, strict=True):
        writer.add(key, [(suffix, content) for suffix, content in files if content is not None])


def _keys(table: pa.Table, first: int, width: int) -> list[str]:
    if KEY not in table.column_names:
        return [f"{row:0{width}d}" for row in range(first, first + len(table))]
    values: list[Any] = table.column(KEY).to_pylist()
    if not is_text(table.schema.field(KEY).type):
        values = [str(value) if isinstance(value, int) else value for value in values]
    return [require_key(value, first + place) for place, value in enumerate(values)]
