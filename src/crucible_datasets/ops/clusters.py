"""Conversion to and from Ray Data, Dask and Spark, as Arrow, in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.executors.raycluster import connected
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.ops.build import from_frame, from_pandas
from crucible_datasets.registry import need
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import concatenated

_PARTS_OF_DASK = 16 << 20  # approximate bytes


def to_ray(view: View, address: str | None = None) -> Any:
    """A `ray.data.Dataset` of the rows; each block is put into the object store once."""
    ray = connected(address)
    return need("ray.data", "ray").from_arrow_refs([ray.put(table) for table in _described(view)])


def from_ray(
    dataset: Any,
    features: Mapping[str, Any] | None = None,
    split: str | NamedSplit | None = None,
) -> View:
    """The rows of a `ray.data.Dataset`, from its blocks in the object store."""
    tables = connected().get(dataset.to_arrow_refs())
    filled = [_plain(table) for table in tables if table.num_rows] or [_plain(table) for table in tables[:1]]
    return from_frame(concatenated(filled), features, None, split)


def to_dask(view: View) -> Any:
    """A Dask data frame of Arrow columns; Dask reads partitions on demand."""
    frames = need("dask.dataframe", "dask")
    whole = view.table.nbytes * len(view) / max(view.table.num_rows, 1)
    size = max(1, int(len(view) / max(whole / _PARTS_OF_DASK, 1)))
    parts = [range(start, min(start + size, len(view))) for start in range(0, len(view), size)] or [range(0)]
    return frames.from_map(_Frames(view), parts, meta=_frame(view.read(range(0))))


def from_dask(
    frame: Any,
    features: Mapping[str, Any] | None = None,
    split: str | NamedSplit | None = None,
) -> View:
    """The rows of a Dask data frame, which is computed now."""
    return from_pandas(frame.compute(), features, None, split, preserve_index=False)


def to_spark(view: View, session: Any = None) -> Any:
    """A Spark data frame of the rows; Spark 4 takes Arrow, older versions convert via pandas."""
    sql = need("pyspark.sql", "spark")
    session = session or sql.SparkSession.builder.getOrCreate()
    table = view.read()
    return session.createDataFrame(table if hasattr(sql.DataFrame, "toArrow") else table.to_pandas())


class _Frames:
    """Creates the partitions of a Dask frame."""

    def __init__(self, view: View) -> None:
        self.view = view

    def __call__(self, rows: range) -> Any:
        return _frame(self.view.read(rows))


def _frame(table: pa.Table) -> Any:
    return table.to_pandas(types_mapper=need("pandas", "pandas").ArrowDtype)


def _described(view: View) -> Iterator[pa.Table]:
    """The rows as stored, with the features in the schema's metadata."""
    metadata = view.features.arrow_schema.metadata
    return (table.replace_schema_metadata(metadata) for table in blocks(view))


def _plain(table: pa.Table) -> pa.Table:
    """A table without Ray's tensors, which become lists of lists."""
    for place, field in enumerate(table.schema):
        if str(getattr(field.type, "extension_name", "")).startswith("ray.data."):
            values = [None if value is None else value.tolist() for value in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.chunked_array([pa.array(values)]))
    return table
