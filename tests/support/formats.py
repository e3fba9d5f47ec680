"""What a format makes of some bytes, in one piece."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.unite import agreed_dates
from crucible_datasets.formats.base import Format
from crucible_datasets.outputs.python import PythonFormatter
from crucible_datasets.tables.writing import Segment, as_features, common_features


def joined(tables: Iterable[pa.Table], features: Any = None) -> tuple[pa.Table, Features]:
    """Tables of growing types as one table of storage, and its features."""
    parts = [(table, Features.from_arrow_schema(table.schema)) for table in tables]
    mixed = None if features else "use_json"
    segments = [Segment("", kinds, None, len(table), table) for table, kinds in parts]
    final = Features(features) if features else common_features(segments, mixed)
    empty = as_features(pa.table({}), Features(), final)
    return pa.concat_tables([empty, *(as_features(table, kinds, final, mixed) for table, kinds in parts)]), final


def loaded(format: Format, data: bytes, features: Any = None, **given: Any) -> tuple[Features, dict[str, list[Any]]]:
    """The features and the columns that users would see."""
    tables = list(format.rows(io.BytesIO(data), features=Features(features) if features else None, **given))
    if format.infers_dates and not features:
        types = [Features.from_arrow_schema(table.schema) for table in tables]
        if (expected := agreed_dates(types, given.get("on_mixed_types", "use_json"))) is not None:
            tables = list(format.rows(io.BytesIO(data), expected=expected, **given))
    table, found = joined(tables, features)
    return found, PythonFormatter().batch(table, found)
