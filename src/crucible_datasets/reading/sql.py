"""Stage 3 of 6: the rows of a database query → a view in memory.

Nothing is kept for later runs: nobody can tell whether a database still holds the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.formats.sql import read_sql
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import view_of
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, as_features, united_all


def rows_of_query(sql: Any, con: Any, features: Mapping[str, Any] | None = None, **options: Any) -> View:
    """The rows that a query or a table gives."""
    wanted = None if features is None else Features(features)
    tables = list(read_sql(sql, con, features=wanted, **options))
    kinds = [Features.from_arrow_schema(table.schema) for table in tables]
    final = wanted or united_all(Segment("", kind, str(sql)) for kind in kinds)
    empty = as_features(pa.table({}), Features(), final)
    whole = (as_features(ArrowTable.of(table).table, kind, final) for table, kind in zip(tables, kinds, strict=True))
    info = DatasetInfo(builder_name="sql", dataset_name="sql", config_name="default", version="0.0.0")
    return view_of(pa.concat_tables([empty, *whole]), final, info, NamedSplit("train"))
