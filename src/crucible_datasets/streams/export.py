"""`to_parquet`, `to_json`, `to_csv`, `to_sql` of a stream: rows are written as they are read.

If the types are unknown, rows go to a temporary Arrow file first, and are written once the types of all are known.
Either way memory is bounded by a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.ops import convert, interchange
from crucible_datasets.ops import export as of_rows
from crucible_datasets.ops.blocks import blocks, require_batch_size
from crucible_datasets.ops.build import view_of
from crucible_datasets.ops.destination import StorageOptions
from crucible_datasets.ops.webdataset import export as webdataset
from crucible_datasets.outputs.base import Format
from crucible_datasets.streams import materialize, output
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.fitting import has_nulls

_BATCH_ROWS = 1000


def write(
    stage: Stage,
    features: Features | None,
    format: str,
    target: Any,
    batch_size: int | None,
    storage_options: StorageOptions,
    options: dict[str, Any],
) -> int:
    """Write the rows to a file of a format; the result of its writer."""
    require_batch_size(batch_size)
    written: Callable[..., int] = getattr(of_rows, f"to_{format}")
    if features is not None and not has_nulls(features):
        flow = of_rows.Flow(features, partial(_tables, stage, features))
        return written(flow, target, batch_size, storage_options=storage_options, **options)
    with materialize.on_disk(stage, features) as view:
        return written(view, target, batch_size, storage_options=storage_options, **options)


def write_sql(
    stage: Stage, features: Features | None, name: str, con: Any, batch_size: int | None, options: dict[str, Any]
) -> int:
    """Write the rows to a table of a database; the number of rows."""
    with materialize.on_disk(stage, features) as view:
        return of_rows.to_sql(view, name, con, batch_size, **options)


def write_webdataset(
    stage: Stage,
    features: Features | None,
    path: Any,
    columns: list[str] | None,
    extensions: Mapping[str, str] | None,
    max_shard_size: int | str | None,
    batch_size: int | None,
    storage_options: StorageOptions,
) -> list[str]:
    """Write the rows as samples in tar shards; their paths."""
    require_batch_size(batch_size)
    how = (path, columns, extensions, max_shard_size, storage_options)
    if features is None or has_nulls(features):
        with materialize.on_disk(stage, features) as view:
            return webdataset.write_tables(blocks(view, batch_size), view.readable, *how)
    return webdataset.write_tables(_tables(stage, features, batch_size), features, *how)


def _tables(stage: Stage, features: Features, batch_size: int | None) -> Iterator[pa.Table]:
    empty = True
    for batch in materialize.typed_batches(stage, features, batch_size):
        yield batch.table
        empty = False
    if empty:
        yield pa.schema([]).empty_table() if not features else materialize.in_memory(stage, features).read()


def arrow_reader(stage: Stage, features: Features | None) -> pa.RecordBatchReader:
    """The rows as a reader of Arrow batches; if the types are unknown, all rows are read first."""
    if features is None or has_nulls(features):
        return convert.to_arrow(materialize.in_memory(stage, features)).to_reader()
    return interchange.stream(_tables(stage, features, None), features)


def to_dict(stage: Stage, features: Features | None, batch_size: int | None, batched: bool) -> Any:
    """All columns as Python lists, or an iterator over batches."""
    if batched:
        typed = materialize.typed_batches(stage, features, batch_size or _BATCH_ROWS)
        return (convert.to_dict(view_of(batch.table, batch.features or Features())) for batch in typed)
    return convert.to_dict(materialize.in_memory(stage, features))


def to_list(stage: Stage) -> list[Any]:
    """All rows as plain Python values: media as they are stored, arrays as lists."""
    return convert.to_list(materialize.in_memory(stage, None))


def to_pandas(stage: Stage, features: Features | None, batch_size: int | None, batched: bool) -> Any:
    """All rows as a pandas data frame, or an iterator over frames."""
    if batched:
        return _batches(stage, features, Format("pandas"), batch_size)
    return convert.to_pandas(materialize.in_memory(stage, features))


def to_polars(
    stage: Stage,
    features: Features | None,
    batch_size: int | None,
    batched: bool,
    schema_overrides: dict[str, Any] | None,
    rechunk: bool,
) -> Any:
    """All rows as a polars data frame, or an iterator over frames."""
    if batched:
        finish = partial(convert.finished_frame, schema_overrides=schema_overrides, rechunk=rechunk)
        return map(finish, _batches(stage, features, Format("polars"), batch_size))
    return convert.to_polars(materialize.in_memory(stage, features), None, False, schema_overrides, rechunk)


def _batches(stage: Stage, features: Features | None, format: Format, batch_size: int | None) -> Iterator[Any]:
    return output.batches(stage, format, features, output.Progress(), batch_size or _BATCH_ROWS)
