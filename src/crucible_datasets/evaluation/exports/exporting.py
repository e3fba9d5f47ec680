"""`export`: runs into a file of any form, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.atomic import atomic_file
from crucible_datasets.evaluation.exports.base import EXPORTS, Export
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError


def export(
    results: EvaluationResult | Iterable[EvaluationResult] | Mapping[str, EvaluationResult],
    path: str | os.PathLike[str],
    format: str | None = None,
    **options: Any,
) -> str:
    """Write one run or several to a file, in the form that its name says: .csv, .jsonl, .parquet, .md, .html …

    `rows="samples"` gives a row for each sample, `rows="runs"` one for each run and metric. Gives the path.
    """
    target = os.fspath(path)
    form = EXPORTS[format] if format else _form_of(target)
    told = {"target": target} if form.companions else {}
    with atomic_file(target) as temporary:
        form.write(listed(results), temporary, **told, **options)
    return target


def listed(results: Any) -> list[EvaluationResult]:
    """Results as a list, however they were given."""
    if isinstance(results, EvaluationResult):
        return [results]
    several = [results] if isinstance(results, StoredRun) else results
    given = list(several.values() if isinstance(several, Mapping) else several)
    found = [one.load() if isinstance(one, StoredRun) else one for one in given]
    for one in found:
        if not isinstance(one, EvaluationResult):
            expected = "expected results of `evaluate`, or runs that a store lists."
            raise ArgumentTypeError("results", type(one).__name__, expected)
    return found


def _form_of(path: str) -> Export:
    name = path.lower()
    for form in (EXPORTS[each] for each in EXPORTS):
        if name.endswith(form.extensions):
            return form
    known = ", ".join(ending for each in EXPORTS for ending in EXPORTS[each].extensions)
    raise ArgumentError("path", path, f"its ending names no export: {known}. Or pass format=.")
