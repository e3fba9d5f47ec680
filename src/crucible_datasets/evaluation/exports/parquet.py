"""Parquet: rows with typed columns."""

from __future__ import annotations

from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.rows import columns_of, rows_of
from crucible_datasets.evaluation.record import EvaluationResult

_ROWS = 5_000
_NUMBERS = {"value", "low", "high", "level", "stderr", "unparsed_rate", "value_parsed", "duration"}


def write(results: list[EvaluationResult], path: str, *, rows: str = "samples") -> None:
    """Write the rows, a few thousand at a time."""
    made = rows_of(results, rows)
    metrics = {key for result in results for key in result.info.metrics} if rows == "samples" else set()
    schema = pa.schema([(name, _kind(name, metrics)) for name in columns_of(results, rows)])
    with open(path, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(made, _ROWS)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


def _kind(name: str, metrics: set[str]) -> pa.DataType:
    if name in metrics or name in _NUMBERS:
        return pa.float64()
    return pa.int64() if name in {"epoch", "n"} else pa.string()


EXPORT = Export("parquet", (".parquet",), write)
