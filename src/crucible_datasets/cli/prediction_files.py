"""Prediction files: the model of each, and which of its rows belong to the evaluated samples."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from crucible_datasets.exceptions import ArgumentError, FileNotFoundDatasetsError


def files_by_model(predictions: list[str], model: str | None) -> dict[str, str]:
    """Files by model: `name=file`, or the name of the file."""
    from crucible_datasets.reading.format_choice import names_beside, stem_of

    if model is not None and len(predictions) > 1:
        raise ArgumentError("model", model, "with several files, write MODEL=FILE for each.")
    found: dict[str, str] = {}
    for given in predictions:
        name, equals, path = given.partition("=")
        if not equals or os.path.exists(given):
            name, path = model or stem_of(given), given
        if name in found:
            raise ArgumentError("predictions", given, f"there are two models called {name!r}: write MODEL=FILE.")
        if "://" not in path and not os.path.exists(path):
            raise FileNotFoundDatasetsError(path, "there is no such file.", names_beside(path))
        found[name] = path
    return found


def predictions_for(path: str, ids: Collection[str], id_column: str | None) -> tuple[Any, int]:
    """The predictions of a file for these samples, and how many others there are; the whole file if it has no ids."""
    from crucible_datasets.evaluation.predictions.files import read_predictions

    read = read_predictions(path)
    rows = _rows(read, id_column)
    if rows is None:
        kept = {one: answer for one, answer in read.items() if str(one) in ids} if isinstance(read, Mapping) else {}
        return (kept, len(read) - len(kept)) if kept else (path, 0)
    column = _ids_among(rows[0], id_column) if rows else None
    fitting = [row for row in rows if column is not None and str(row.get(column)) in ids]
    return (fitting, len(rows) - len(fitting)) if fitting else (path, 0)


def _rows(read: Any, id_column: str | None) -> list[Mapping[str, Any]] | None:
    """The rows of a file; None if it does not contain rows with ids."""
    from crucible_datasets.evaluation.predictions.forms import columns_of

    if isinstance(read, list):
        return read if all(isinstance(row, Mapping) for row in read) else None
    columns = read if isinstance(read, Mapping) else columns_of(read)
    if columns is None or not all(isinstance(values, list) for values in columns.values()):
        return None
    if len({len(values) for values in columns.values()}) != 1 or _ids_among(columns, id_column) is None:
        return None
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _ids_among(names: Collection[str], asked: str | None) -> str | None:
    from crucible_datasets.benchmarks.samples.making import is_like_id
    from crucible_datasets.evaluation.predictions.identities import IDS

    usual = [asked] if asked else [*IDS, *filter(is_like_id, names)]
    return next((name for name in usual if name in names), None)
