"""Predictions in whatever form they come, brought to one: the answers to every sample.

A list as long as the data, a dict of ids, a file, a dataset or a column are known answers (`Answers`); a function
is asked by `generating`. Of one sample there may be several answers: a list of texts, or rows with the same id.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crucible_datasets.evaluation.prediction_files import read_predictions
from crucible_datasets.exceptions import (
    ColumnNotFoundError,
    MissingPredictionsError,
    PredictionsError,
    UnknownPredictionsError,
)

ID = "id"
TEXTS = (
    "prediction",
    "predictions",
    "predicted",
    "completion",
    "completions",
    "response",
    "responses",
    "output",
    "outputs",
    "generation",
)
Answers = list[list[Any]]  # of every sample, in the order of the samples


def is_function(predictions: Any) -> bool:
    """Whether predictions are to be asked for, sample by sample."""
    return callable(predictions) and not isinstance(predictions, (Mapping, Sequence))


def known_answers(
    predictions: Any, ids: Sequence[str], column: str | None = None, id_column: str | None = None
) -> Answers:
    """The answers to every sample; none where there is no prediction."""
    given = _rows(predictions, column, id_column)
    if isinstance(given, Mapping):
        return _by_id(given, ids)
    answers = [answers_in(one) for one in given]
    if len(answers) != len(ids):
        raise PredictionsError(
            f"There are {len(answers)} predictions for {len(ids)} samples, and no ids to tell which."
        )
    return answers


def check_missing(answers: Answers, ids: Sequence[str], policy: str) -> None:
    """An error that lists the samples without an answer, where the policy is `error`."""
    if policy == "error":
        missing = [one for one, given in zip(ids, answers, strict=True) if _is_missing(given)]
        if missing:
            raise MissingPredictionsError(missing, len(ids))


def _is_missing(given: list[Any]) -> bool:
    return not given or all(one is None for one in given)


def _by_id(given: Mapping[str, list[Any]], ids: Sequence[str]) -> Answers:
    unknown = given.keys() - set(ids)
    if unknown:
        raise UnknownPredictionsError([one for one in given if one in unknown], ids)
    return [given.get(one, []) for one in ids]


def _rows(predictions: Any, column: str | None, id_column: str | None) -> Mapping[str, list[Any]] | Iterable[Any]:
    """Answers by id, or one after the other."""
    if isinstance(predictions, Mapping) and not _is_columns(predictions, column):
        return {str(one): answers_in(given) for one, given in predictions.items()}
    if isinstance(predictions, (str, os.PathLike)):
        return _rows(read_predictions(os.fspath(predictions)), column, id_column)
    if hasattr(predictions, "column_names") and hasattr(predictions, "to_dict"):  # a Dataset
        return _records({name: list(predictions[name]) for name in predictions.column_names}, column, id_column)
    if isinstance(predictions, Mapping):
        return _records(predictions, column, id_column)
    if isinstance(predictions, (bytes, int, float)) or not isinstance(predictions, Iterable):
        raise PredictionsError(f"A {type(predictions).__name__} says nothing about samples.")
    listed = list(predictions)
    if listed and all(isinstance(one, Mapping) for one in listed) and column_in(listed[0], column, required=False):
        names = dict.fromkeys(name for one in listed for name in one)
        return _records({name: [one.get(name) for one in listed] for name in names}, column, id_column)
    return listed


def _is_columns(predictions: Mapping[Any, Any], column: str | None) -> bool:
    """Whether a dict is a table: it has a column of ids and one of predictions, both of them lists."""
    found = column_in(predictions, column, required=False)
    return found is not None and ID in predictions and all(isinstance(predictions[name], list) for name in (ID, found))


def _records(
    columns: Mapping[str, Sequence[Any]], column: str | None, id_column: str | None
) -> Mapping[str, list[Any]] | Iterable[Any]:
    texts = columns[column_in(columns, column) or ""]
    named = id_column or (ID if ID in columns else None)
    if named is None:
        return texts
    if named not in columns:
        raise ColumnNotFoundError(named, columns)
    found: dict[str, list[Any]] = {}
    for one, given in zip(columns[named], texts, strict=True):
        if one is None:
            raise PredictionsError(f"The column {named!r} has no id in every row.")
        found.setdefault(str(one), []).extend(answers_in(given))
    return found


def column_in(columns: Iterable[str], asked: str | None, required: bool = True) -> str | None:
    """The column that holds predictions: the one that was named, else one of the usual names."""
    names = list(columns)
    found = [name for name in ([asked] if asked else TEXTS) if name in names]
    if not found and required:
        raise ColumnNotFoundError(asked or "prediction", names)
    return found[0] if found else None


def answers_in(given: Any) -> list[Any]:
    """The answers to one sample."""
    return [_plain(one) for one in given] if isinstance(given, (list, tuple)) else [_plain(given)]


def _plain(given: Any) -> Any:
    """What numpy, Arrow and pandas call a text, a number or nothing, as Python does; what a chat model says as text."""
    if isinstance(given, str) or given is None:
        return given
    if isinstance(given, Mapping) and isinstance(given.get("content"), str):
        return given["content"]
    if hasattr(given, "as_py"):
        return given.as_py()
    if isinstance(given, float) and given != given:
        return None
    return given.tolist() if hasattr(given, "tolist") else given
