"""Rows of runs as tables with typed columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from crucible_datasets.evaluation.exports.rows import columns_of, rows_of

if TYPE_CHECKING:
    from crucible_datasets.arrow_dataset import Dataset
    from crucible_datasets.evaluation.runs.record import EvaluationResult

_ROWS = 5_000
_NUMBERS = {"value", "low", "high", "level", "stderr", "unparsed_rate", "value_parsed", "duration"}


def as_dataset(result: EvaluationResult) -> Dataset:
    """The samples of a run, a row each."""
    from crucible_datasets.arrow_dataset import Dataset

    return Dataset(pa.Table.from_batches(_batches(result), schema_of([result], "samples")))


def _batches(result: EvaluationResult) -> Iterator[pa.RecordBatch]:
    return (batch for table in tables([result], "samples") for batch in table.to_batches())


def tables(results: list[EvaluationResult], rows: str) -> Iterator[pa.Table]:
    """The rows of a kind, a few thousand at a time."""
    made, schema = rows_of(results, rows), schema_of(results, rows)
    while batch := list(islice(made, _ROWS)):
        yield pa.Table.from_pylist(batch, schema=schema)


def schema_of(results: list[EvaluationResult], rows: str) -> pa.Schema:
    """The columns of the rows of a kind, with their types."""
    metrics = {key for result in results for key in result.info.metrics} if rows == "samples" else set()
    return pa.schema([(name, _kind(name, metrics)) for name in columns_of(results, rows)])


def _kind(name: str, metrics: set[str]) -> pa.DataType:
    if name in metrics or name in _NUMBERS:
        return pa.float64()
    return pa.int64() if name in {"epoch", "n"} else pa.string()
