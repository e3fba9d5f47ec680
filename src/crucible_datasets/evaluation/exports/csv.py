"""CSV for spreadsheets, protected against formula injection by default."""

from __future__ import annotations

import csv
from typing import Any

from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.escaping import for_spreadsheets
from crucible_datasets.evaluation.exports.rows import columns_of, rows_of
from crucible_datasets.evaluation.runs.record import EvaluationResult


def write(results: list[EvaluationResult], path: str, *, rows: str = "samples", formula_safe: bool = True) -> None:
    """Write a header and the rows; with `formula_safe=False`, texts are written unchanged."""
    made = rows_of(results, rows)
    columns = columns_of(results, rows)

    def cell(value: Any) -> Any:
        return for_spreadsheets(value) if formula_safe and isinstance(value, str) else value

    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(cell, columns))
        writer.writerows([cell(row.get(name)) for name in columns] for row in made)


EXPORT = Export("csv", (".csv",), write)
