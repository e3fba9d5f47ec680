"""Runs as rows of plain values: one per sample, or one per run and metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible_datasets.evaluation.results.encoding import text
from crucible_datasets.evaluation.runs.record import EvaluationResult, SampleResult
from crucible_datasets.exceptions import ArgumentError

KINDS = ("samples", "runs")
Row = dict[str, Any]


def rows_of(results: list[EvaluationResult], kind: str) -> Iterator[Row]:
    """Rows of one kind; every row has the columns of `columns_of`."""
    if kind not in KINDS:
        raise ArgumentError("rows", kind, f"expected one of {', '.join(KINDS)}.")
    return _samples(results) if kind == "samples" else _runs(results)


def columns_of(results: list[EvaluationResult], kind: str) -> list[str]:
    """The names of the columns of all rows of a kind."""
    if kind == "runs":
        return [*_RUN, *_METRIC]
    keys = dict.fromkeys(key for result in results for key in result.info.metrics)
    return [*_SAMPLE, *(name for key in keys for name in _names(key)), "metadata"]


_SAMPLE = ("run_id", "model", "dataset", "id", "epoch", "input", "prediction", "target", "choices")
_RUN = ("run_id", "model", "dataset", "split", "revision", "dataset_hash", "rules", "tags", "created_at", "duration")
_SUMMARY = ("value", "stderr", "n", "unparsed_rate", "value_parsed")
_ENDS = ("low", "high", "level", "method")
_METRIC = ("metric", *_SUMMARY, *_ENDS, "counts")


def _samples(results: list[EvaluationResult]) -> Iterator[Row]:
    for result in results:
        info = result.info
        for sample in result.samples:
            row: Row = {"run_id": info.run_id, "model": info.model, "dataset": info.dataset}
            yield row | _sample(sample) | {"metadata": text(sample.metadata) if sample.metadata else None}


def _sample(sample: SampleResult) -> Row:
    row: Row = {"id": sample.id, "epoch": sample.epoch}
    row |= {name: words(getattr(sample, name)) for name in ("input", "prediction", "target", "choices")}
    for key, one in sample.outcomes.items():
        row |= dict(zip(_names(key), (one.value, one.status, one.extracted), strict=True))
    return row


def _names(key: str) -> tuple[str, str, str]:
    return key, f"{key} status", f"{key} extracted"


def _runs(results: list[EvaluationResult]) -> Iterator[Row]:
    for result in results:
        run: Row = {name: getattr(result.info, name) for name in _RUN}
        run |= {"rules": " ".join(result.info.rules), "tags": " ".join(result.info.tags)}
        for key, one in result.summary.items():
            row: Row = {"metric": key, **{name: getattr(one, name) for name in _SUMMARY}, "counts": text(one.counts)}
            yield run | row | {name: getattr(one.interval, name, None) for name in _ENDS}


def words(value: Any) -> str | None:
    """A value as text: messages as what is said, anything else that is no text as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(_content(one) is not None for one in value):
        return "\n\n".join(f"{_role(one)}: {_content(one)}" for one in value)
    return text(value)


def _content(message: Any) -> str | None:
    said = message.get("content") if isinstance(message, dict) else getattr(message, "content", None)
    return said if isinstance(said, str) else None


def _role(message: Any) -> str:
    return str(message.get("role") if isinstance(message, dict) else getattr(message, "role", ""))
