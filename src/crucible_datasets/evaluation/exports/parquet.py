"""Parquet: rows with typed columns."""

from __future__ import annotations

import pyarrow.parquet as pq

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.tables import schema_of, tables
from crucible_datasets.evaluation.runs.record import EvaluationResult


def write(results: list[EvaluationResult], path: str, *, rows: str = "samples") -> None:
    """Write the rows, a few thousand at a time."""
    made, schema = tables(results, rows), schema_of(results, rows)
    with open(path, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in made:
            writer.write_table(table)


EXPORT = Export("parquet", (".parquet",), write)
