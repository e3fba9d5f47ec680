"""Samples as Arrow columns, and back. Texts stay texts; structured values become JSON text.

A metric has the four columns `value:exact_match@2`, `status:…`, `extracted:…` and `detail:…`, which can be read
separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.results.encoding import text, value
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.features.leaves import avoids_pandas, leaves_of

OF_SAMPLES = {
    "id": pa.string(),
    "epoch": pa.int64(),
    "prediction": pa.string(),
    "prediction_json": pa.string(),
    "target": pa.string(),
    "input": pa.string(),
    "choices": pa.string(),
    "metadata": pa.string(),
}
OF_METRICS = {
    "value": pa.float64(),
    "status": pa.string(),
    "extracted": pa.string(),
    "detail": pa.string(),
}


def schema_of(metrics: Sequence[str]) -> pa.Schema:
    """The columns of a run."""
    of_metrics = {f"{part}:{key}": kind for key in metrics for part, kind in OF_METRICS.items()}
    return pa.schema([*OF_SAMPLES.items(), *of_metrics.items()])


def table_of(samples: Sequence[SampleResult], metrics: Sequence[str]) -> pa.Table:
    """Samples as a table."""
    columns: dict[str, list[Any]] = {
        "id": [sample.id for sample in samples],
        "epoch": [sample.epoch for sample in samples],
        "prediction": [_as_text(sample.prediction) for sample in samples],
        "prediction_json": [_as_json(sample.prediction) for sample in samples],
        "target": [text(sample.target) for sample in samples],
        "input": [text(sample.input) for sample in samples],
        "choices": [text(sample.choices) for sample in samples],
        "metadata": [text(sample.metadata) if sample.metadata else None for sample in samples],
    }
    for key in metrics:
        outcomes = [sample.outcomes.get(key, _NOTHING) for sample in samples]
        columns[f"value:{key}"] = [None if one.value is None else float(one.value) for one in outcomes]
        columns[f"status:{key}"] = [one.status for one in outcomes]
        columns[f"extracted:{key}"] = [_as_text(one.extracted) for one in outcomes]
        columns[f"detail:{key}"] = [text(one.detail) for one in outcomes]
    schema = schema_of(metrics)
    return pa.Table.from_arrays(
        [_array(columns[name], schema.field(name).type) for name in schema.names], schema=schema
    )


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if values.count(None) == len(values):
        return pa.nulls(len(values), kind)
    found = leaves_of(values, kind) if avoids_pandas() else None
    return pa.array(values, kind) if found is None else found


def samples_of(table: pa.Table, metrics: Sequence[str]) -> list[SampleResult]:
    """A table as samples."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    scored = {key: _outcomes(columns, key) for key in metrics}
    return [
        SampleResult(
            id=columns["id"][row],
            prediction=value(kept) if (kept := columns["prediction_json"][row]) else columns["prediction"][row],
            target=value(columns["target"][row]),
            outcomes={key: outcomes[row] for key, outcomes in scored.items()},
            input=value(columns["input"][row]),
            choices=value(columns["choices"][row]),
            metadata=value(columns["metadata"][row]) or {},
            epoch=columns["epoch"][row],
        )
        for row in range(len(table))
    ]


def outcomes_of(table: pa.Table, key: str) -> list[Outcome]:
    """The outcomes of a table under one metric."""
    return _outcomes({name: table[name].to_pylist() for name in metric_columns(key)}, key)


def metric_columns(key: str) -> list[str]:
    """The names of the columns of a metric."""
    return [f"{part}:{key}" for part in OF_METRICS]


def _outcomes(columns: dict[str, list[Any]], key: str) -> list[Outcome]:
    rows = zip(*(columns[name] for name in metric_columns(key)), strict=True)
    return [Outcome(number, extracted, status, value(detail)) for number, status, extracted, detail in rows]


def _as_text(prediction: Any) -> str | None:
    if isinstance(prediction, str):
        return prediction if prediction.isascii() else prediction.encode("utf-8", "backslashreplace").decode()
    return None


def _as_json(prediction: Any) -> str | None:
    return None if isinstance(prediction, str) else text(prediction)


_NOTHING = Outcome(None, status="missing")
