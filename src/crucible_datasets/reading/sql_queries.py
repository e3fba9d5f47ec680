"""Stage 3 of 6: the rows of a database query → a view, in memory or over temporary files.

Nothing is cached: there is no way to tell whether the database has changed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.atomic.private import make_private
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import is_caching_enabled
from crucible_datasets.formats.sql import read_sql
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import view_of
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, TypedWriter, as_features, settle, united_all

Batch = tuple[pa.Table, Features]


def answered(
    sql: Any,
    con: Any,
    features: Mapping[str, Any] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    keep_in_memory: bool = False,
    **options: Any,
) -> View:
    """The rows of a query or a table."""
    wanted = None if features is None else Features(features)
    batches = (
        (ArrowTable.of(table).table, Features.from_arrow_schema(table.schema))
        for table in read_sql(sql, con, features=wanted, **options)
    )
    if keep_in_memory or not is_caching_enabled():
        table, found = _in_memory(batches, wanted, str(sql))
    else:
        table, found = _in_files(batches, wanted, str(sql), os.fspath(cache_dir or config.HF_DATASETS_CACHE))
    info = DatasetInfo(builder_name="sql", dataset_name="sql", config_name="default", version="0.0.0")
    return view_of(table, found, info, NamedSplit("train"))


def _in_memory(batches: Iterator[Batch], wanted: Features | None, origin: str) -> Batch:
    held = list(batches)
    final = wanted or united_all(Segment("", kinds, origin) for _, kinds in held)
    empty = as_features(pa.table({}), Features(), final)
    return pa.concat_tables([empty, *(as_features(table, kinds, final) for table, kinds in held)]), final


def _in_files(batches: Iterator[Batch], wanted: Features | None, origin: str, cache_dir: str) -> Batch:
    """The rows over memory-mapped, unlinked files, whose space is freed when they are no longer used."""
    place = os.path.join(cache_dir, "spill")
    make_private(place)
    folder = tempfile.mkdtemp(prefix="sql-", dir=place)
    try:
        writer = TypedWriter(os.path.join(folder, "rows"))
        for table, kinds in batches:
            writer.write(table, kinds, origin)
        files, final = settle(folder, writer.close(), wanted)
        tables = [open_table(file, trusted=True).replace_schema_metadata(None) for file in files]
    finally:
        remove_tree(folder)
    return ArrowTable.of(pa.concat_tables(tables)).table, final
