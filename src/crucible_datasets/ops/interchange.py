"""Rows as a stream of Arrow record batches, which other libraries take through the Arrow PyCapsule protocol."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.ops import convert
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.outputs.base import OUTPUTS
from crucible_datasets.tables.stack import is_read_late
from crucible_datasets.tables.view import View


def stream(tables: Iterable[pa.Table], features: Features) -> pa.RecordBatchReader:
    """Stored tables with the features' own types, each converted on demand."""
    formatter = OUTPUTS["arrow"].make()
    batches = (batch for table in tables for batch in formatter.batch(table, features).to_batches())
    return pa.RecordBatchReader.from_batches(features.arrow_schema, batches)


def stream_of(view: View) -> pa.RecordBatchReader:
    """The rows of a view: contiguous ones in memory without a copy, others block by block."""
    if isinstance(view.rows, range) and not is_read_late(view.table):
        return convert.to_arrow(view).to_reader()
    return stream(blocks(view), view.features)
