"""`export`: runs into a file of any format, written atomically."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_folders
from crucible_datasets.evaluation.exports.base import EXPORTS, Export
from crucible_datasets.evaluation.results.runfile import results_in
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.exceptions import ArgumentError


def export(
    results: EvaluationResult | Iterable[EvaluationResult] | Mapping[str, EvaluationResult],
    path: str | os.PathLike[str],
    format: str | None = None,
    **options: Any,
) -> str:
    """Write one run or several to a file, in the format of its extension: .csv, .jsonl, .parquet, .md, .html …

    `rows="samples"` writes a row per sample, `rows="runs"` one per run and metric. Returns the path.
    """
    target = os.path.expanduser(os.fspath(path))
    form = EXPORTS[format] if format else _form_of(target)
    extra = {"target": target} if form.companions else {}
    make_folders(os.path.dirname(os.path.abspath(target)))
    with atomic_file(target) as temporary:
        form.write(results_in(results), temporary, **extra, **options)
    return target


def _form_of(path: str) -> Export:
    name = path.lower()
    for form in (EXPORTS[each] for each in EXPORTS):
        if name.endswith(form.extensions):
            return form
    known = ", ".join(ending for each in EXPORTS for ending in EXPORTS[each].extensions)
    raise ArgumentError("path", path, f"its ending names no export: {known}. Or pass format=.")
