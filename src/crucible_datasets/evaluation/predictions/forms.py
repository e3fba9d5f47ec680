"""Predictions of all supported forms as `Answers`: the list of answers to every sample.

A list as long as the data, a dict by id, a file, a dataset or a column are known answers; functions are called by
`generating`. A sample may have several answers: a list of texts, or rows with the same id.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Number
from types import NoneType
from typing import Any

from crucible_datasets.benchmarks.samples.making import is_like_id
from crucible_datasets.evaluation.predictions.files import Columns, read_predictions
from crucible_datasets.evaluation.predictions.identities import IDS, id_column_in
from crucible_datasets.evaluation.predictions.responses import (
    TEXTS,
    Failure,
    as_mapping,
    is_content,
    said,
    unfamiliar,
)
from crucible_datasets.exceptions import (
    ColumnNotFoundError,
    MissingPredictionsError,
    PredictionsError,
    UnknownPredictionsError,
)
from crucible_datasets.logging import get_logger

_logger = get_logger(__name__)
_MISSING_IN_PANDAS = ("NAType", "NaTType")
Answers = list[list[Any]]  # of every sample, in the order of the samples


def is_function(predictions: Any) -> bool:
    """Whether predictions are a function to call for each sample."""
    return callable(predictions) and not isinstance(predictions, (Mapping, Sequence))


def known_answers(
    predictions: Any,
    ids: Sequence[str],
    column: str | None = None,
    id_column: str | None = None,
    numbers_are_one: bool = False,
) -> Answers:
    """The answers to every sample; an empty list if there is no prediction."""
    given = _rows(predictions, column, id_column, ids)
    if not isinstance(given, Mapping) and _are_pairs(given := list(given), ids, numbers_are_one):
        given = {str(pair[0]): [pair[1]] for pair in given}
    if isinstance(given, Mapping):
        several = _by_id(given, ids)
        answers = [[answer for one in each for answer in answers_in(one, numbers_are_one)] for each in several]
    else:
        answers = [answers_in(one, numbers_are_one) for one in given]
    if len(answers) != len(ids):
        there = "is 1 prediction" if len(answers) == 1 else f"are {len(answers)} predictions"
        wanted = "1 sample" if len(ids) == 1 else f"{len(ids)} samples"
        raise PredictionsError(f"There {there} for {wanted}, and no ids to tell which.")
    require_answers(chain.from_iterable(answers))
    return answers


def check_missing(answers: Answers, ids: Sequence[str], policy: str) -> None:
    """With the policy `error`, raise if answers are missing, listing the samples."""
    if policy == "error":
        missing = [one for one, given in zip(ids, answers, strict=True) if has_missing(given)]
        if missing:
            raise MissingPredictionsError(missing, len(ids))


def has_missing(given: list[Any]) -> bool:
    """Whether there is no answer, or one of several is missing."""
    return not given or any(one is None for one in given)


def warn_uneven(answers: Answers, ids: Sequence[str]) -> None:
    """Warn if samples have different numbers of answers, as when a restarted job wrote some twice."""
    sizes = [len(given) for given in answers if not _is_missing(given)]
    if sizes and min(sizes) < max(sizes):
        most = max(range(len(ids)), key=lambda place: len(answers[place]))
        _logger.warning(
            "Samples have %d to %d answers, and each answer counts the same: %r has %d. Is that one answered twice?",
            min(sizes),
            max(sizes),
            ids[most],
            len(answers[most]),
        )


def _is_missing(given: list[Any]) -> bool:
    return not given or all(one is None for one in given)


def _by_id(given: Mapping[str, list[Any]], ids: Sequence[str]) -> Answers:
    unknown = given.keys() - set(ids)
    if unknown:
        raise UnknownPredictionsError([one for one in given if one in unknown], ids)
    return [given.get(one, []) for one in ids]


def _are_pairs(given: list[Any], ids: Sequence[str], numbers_are_one: bool) -> bool:
    """Whether a list consists of pairs of id and answer, rather than of pairs of answers or of numbers."""
    known = set(ids)
    if numbers_are_one and all(isinstance(one, tuple) and _are_numbers(list(one)) for one in given):
        return False
    return bool(given) and all(type(one) is tuple and len(one) == 2 and str(one[0]) in known for one in given)


def _rows(
    predictions: Any, column: str | None, id_column: str | None, ids: Sequence[str]
) -> Mapping[str, list[Any]] | Iterable[Any]:
    """The answers by id, or in the order of the samples."""
    if isinstance(predictions, (str, os.PathLike)):
        read = read_predictions(os.fspath(predictions))
        if isinstance(read, list):
            return _listed(read, column, id_column, ids, of_a_file=True)
        return _rows(read, column, id_column, ids)
    table = predictions if isinstance(predictions, Mapping) else columns_of(predictions)
    if table is None:
        _require_known_form(predictions)
        return _listed(list(predictions), column, id_column, ids)
    if isinstance(predictions, Mapping) and not _is_columns(predictions, column):
        return {str(one): [given] for one, given in predictions.items()}
    return _records(table, column, id_column, ids)


def _require_known_form(predictions: Any) -> None:
    if hasattr(predictions, "provenance"):
        raise PredictionsError("These are samples: predictions come first in the call, and the data second.")
    if isinstance(predictions, Set):
        raise PredictionsError(f"A {type(predictions).__name__} has no order, so nothing tells which answer is whose.")
    if isinstance(predictions, (bytes, int, float)) or not isinstance(predictions, Iterable):
        raise PredictionsError(f"A {type(predictions).__name__} says nothing about samples.")


def _listed(
    rows: list[Any], column: str | None, id_column: str | None, ids: Sequence[str], of_a_file: bool = False
) -> Mapping[str, list[Any]] | Iterable[Any]:
    """Answers from a list of answers, or of rows: of a file, with an id, or with a column of a usual name."""
    if not rows or not all(isinstance(one, Mapping) for one in rows):
        return rows
    names = dict.fromkeys(name for one in rows for name in one)
    has_columns = of_a_file or column or id_column or any(map(is_like_id, names))
    if not has_columns and column_in(names, None, required=False) is None:
        return rows  # an answer may be a mapping, such as {"answer": …, "confidence": …}
    return _records({name: [one.get(name) for one in rows] for name in names}, column, id_column, ids)


def columns_of(table: Any) -> dict[str, list[Any]] | None:
    """The columns of a table of any library: a Dataset, an Arrow table, a pandas or polars data frame."""
    names = getattr(table, "column_names", None)
    if not isinstance(names, list):
        names = list(table.columns) if hasattr(table, "columns") and hasattr(table, "shape") else None
    return None if names is None else {str(name): list(table[name]) for name in names}


def _is_columns(predictions: Mapping[Any, Any], column: str | None) -> bool:
    """Whether a dict is a table: read from a file, or with lists as columns of ids and of predictions."""
    if isinstance(predictions, Columns):
        return True
    found = column_in(predictions, column, required=False)
    ids = next((name for name in IDS if name in predictions), None)
    return None not in (found, ids) and all(isinstance(predictions[name], list) for name in (ids, found))


def _records(
    columns: Mapping[str, Sequence[Any]], column: str | None, id_column: str | None, ids: Sequence[str]
) -> Mapping[str, list[Any]] | Iterable[Any]:
    named = id_column or id_column_in(columns, column or column_in(columns, None, required=False), ids)
    texts = columns[_texts_in(columns, named, column)]
    if named is None:
        return texts
    if named not in columns:
        raise ColumnNotFoundError(named, columns)
    found: dict[str, list[Any]] = {}
    for one, given in zip(columns[named], texts, strict=True):
        if one is None:
            raise PredictionsError(f"The column {named!r} has no id in every row.")
        found.setdefault(str(one), []).append(given)
    return found


def _texts_in(columns: Iterable[str], ids: str | None, asked: str | None) -> str:
    """The column of predictions; if there is only one besides the ids, that one."""
    names = [name for name in columns if name != ids]
    return names[0] if asked is None and len(names) == 1 else str(column_in(columns, asked))


def column_in(columns: Iterable[str], asked: str | None, required: bool = True) -> str | None:
    """The column of predictions: the requested one, else one of the usual names."""
    names = list(columns)
    found = [name for name in ([asked] if asked else TEXTS) if name in names]
    if not found and required:
        error = ColumnNotFoundError(asked or "prediction", names)
        if asked is None:
            error.add_note("Pass prediction_column= to name the column of the predictions.")
        raise error
    return found[0] if found else None


def answers_in(given: Any, numbers_are_one: bool = False) -> list[Any]:
    """The answers to one sample; with `numbers_are_one`, a list of numbers is one answer."""
    if isinstance(given, (str, Failure)):  # the common case: one answer, a text
        return [given]
    given = as_mapping(given.as_py() if hasattr(given, "as_py") else given)
    given = {"content": given} if isinstance(given, list) and is_content(given) else given
    given = said(given) if isinstance(given, Mapping) else given
    if not isinstance(given, (list, tuple)):
        return [_plain(given)]
    answers = [answer for one in given for answer in (answers_in(one) if isinstance(one, Mapping) else [_plain(one)])]
    return [answers] if numbers_are_one and _are_numbers(answers) else answers


def generated_answers(
    reply: Any, reads: Callable[[Mapping[str, Any]], bool], numbers_are_one: bool = False
) -> list[Any]:
    """The answers in what a model returned; a mapping that no metric `reads` is a failure of this one call."""
    return [
        unfamiliar(answer) if isinstance(answer, Mapping) and not reads(answer) else answer
        for answer in answers_in(reply, numbers_are_one)
    ]


def plain_reply(reply: Any) -> Any:
    """What a model returned as values of Python, so that it is the same from a cache of JSON."""
    reply = as_mapping(reply.as_py() if hasattr(reply, "as_py") else reply)
    if isinstance(reply, Mapping):
        return {name: plain_reply(item) for name, item in reply.items()}
    plain = _plain(reply)
    return [plain_reply(item) for item in plain] if isinstance(plain, list) else plain


def _are_numbers(answers: list[Any]) -> bool:
    """Whether all are numbers; NaN has become None."""
    kinds = {type(one) for one in answers}
    return bool(kinds & {int, float}) and kinds <= {int, float, type(None)}


def _plain(given: Any) -> Any:
    """Values of numpy, Arrow and pandas as Python values."""
    if isinstance(given, str) or given is None:
        return given
    if hasattr(given, "as_py"):
        return given.as_py()
    if (isinstance(given, float) and given != given) or type(given).__name__ in _MISSING_IN_PANDAS:
        return None
    return given.tolist() if hasattr(given, "tolist") and not isinstance(given, memoryview) else given


def require_answers(answers: Iterable[Any]) -> None:
    """Raise for answers that are not texts, numbers or structures of them: their `repr` would be scored."""
    for one in answers:
        if not isinstance(one, (str, Number, Mapping, list, tuple, NoneType, Failure)):
            raise PredictionsError(f"A prediction cannot be of type {type(one).__name__}: give its text.")
