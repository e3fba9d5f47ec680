"""JSON Lines: a line per sample, or per run and metric."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.rows import rows_of
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.runs.record import EvaluationResult


def write(results: list[EvaluationResult], path: str, *, rows: str = "samples") -> None:
    """Write a line of JSON for every row."""
    made = rows_of(results, rows)
    lines = _samples(results) if rows == "samples" else map(encode, made)
    with open(path, "wb") as file:
        file.writelines(line + b"\n" for line in lines)


def _samples(results: list[EvaluationResult]) -> Iterator[bytes]:
    for result in results:
        run = {"run_id": result.info.run_id, "model": result.info.model, "dataset": result.info.dataset}
        for sample in result.samples:
            yield encode(run | msgspec.structs.asdict(sample))


EXPORT = Export("jsonl", (".jsonl", ".ndjson"), write)
