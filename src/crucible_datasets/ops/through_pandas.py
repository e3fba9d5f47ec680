"""JSON, CSV and SQL with options that only pandas knows: slower than the writers in `formats`, and needs pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.formats.sql import database_errors
from crucible_datasets.ops.convert import reference
from crucible_datasets.outputs.base import OUTPUTS


def write_csv(
    tables: Iterable[pa.Table], features: Features, stream: BinaryIO, *, header: Any = True, **options: Any
) -> int:
    """Write the tables with pandas' `to_csv`, the header once; the number of bytes."""
    written = 0
    for frame in _frames(tables, features):
        written += stream.write(frame.to_csv(None, header=header, **{"index": False, **options}).encode())
        header = False
    return written


def write_json(tables: Iterable[pa.Table], features: Features, stream: BinaryIO, **options: Any) -> int:
    """Write the tables with pandas' `to_json`, by default as lines; the number of bytes."""
    orient = options.pop("orient", "records")
    lines = options.pop("lines", orient == "records")
    if orient in ("split", "table"):
        options.setdefault("index", False)
    written = 0
    # Only lines can be written table by table.
    for frame in _frames(tables if lines else [pa.concat_tables(tables)], features):
        text = frame.to_json(None, orient=orient, lines=lines, **options)
        if len(frame) or not lines:
            written += stream.write((text if text.endswith("\n") else text + "\n").encode())
    return written


def write_sql(
    tables: Iterable[pa.Table], features: Features, name: str, con: Any, *, if_exists: str = "fail", **options: Any
) -> int:
    """Write the tables with pandas' `to_sql`; the number of rows."""
    written = 0
    for frame in _frames(tables, features):
        with database_errors(con):
            frame.to_sql(name, con, if_exists=if_exists, **{"index": False, **options})
        written, if_exists = written + len(frame), "append"
    return written


def _frames(tables: Iterable[pa.Table], features: Features) -> Iterable[Any]:
    shown = Features({name: reference(kind) for name, kind in features.items()})
    # A null must not turn integers into floats: they would be written as 3.0.
    formatter = OUTPUTS["pandas"].make(integer_object_nulls=True)
    return (formatter.batch(table, shown) for table in tables)
