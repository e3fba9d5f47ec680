"""The samples that `crucible eval` scores: of a registered benchmark, or of the user's own data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from crucible_datasets.exceptions import ArgumentError

_FIELDS = ("id", "input", "target", "choices", "metadata")


def fields_named(named: Sequence[str], **others: str | None) -> dict[str, Any]:
    """Columns by field: from `id=qid`, `choices=a,b,c`, and from fields with their own option."""
    found: dict[str, Any] = {name: column for name, column in others.items() if column is not None}
    for given in named:
        name, _, column = given.partition("=")
        if name not in _FIELDS or not column or name in found:
            raise ArgumentError("field", given, f"write FIELD=COLUMN, once for each of {', '.join(_FIELDS)}.")
        found[name] = column.split(",") if name in ("choices", "metadata") and "," in column else column
    return found


def samples_of(benchmark: str, synthetic: bool, fields: dict[str, Any], what: dict[str, Any]) -> Any:
    """The samples of a registered benchmark, or of the user's own data: a file, a folder, a dataset of the Hub."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog

    if synthetic or benchmark.endswith(".toml") or benchmark in Catalog() or _is_bare(benchmark):
        from crucible_datasets.benchmarks.loading.load import load_benchmark

        if fields:
            name, column = next(iter(fields.items()))
            named = (name, column) if name in ("input", "target") else ("field", f"{name}={column}")
            raise ArgumentError(*named, f"it is for data of your own; the columns of {benchmark} are known.")
        return load_benchmark(benchmark, synthetic=synthetic, **what)
    from crucible_datasets.benchmarks.owndata.load import load_samples

    return load_samples(benchmark, fields or None, **what)


def _is_bare(name: str) -> bool:
    """Whether a name can only be that of a benchmark: it is not a file, and it has no owner as repositories do."""
    from crucible_datasets.reading.format_choice import is_missing_file

    return not (os.path.exists(name) or is_missing_file(name) or any(sign in name for sign in "/*:"))
