"""The rows of a query: a view of the data, not a copy."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import field, replace
from tempfile import TemporaryFile
from threading import Event, Lock
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.exceptions import ColumnNamesError, ColumnNotFoundError, ExpressionError, FileFormatError
from crucible_datasets.exceptions.base import closest
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import with_leaves
from crucible_datasets.internal_api import stored_rows
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.answers import CLIENT_LEFT
from crucible_datasets.viewer.cells import cell
from crucible_datasets.viewer.errors import BrokenStreamError, NotFoundHereError, QuestionDroppedError
from crucible_datasets.viewer.opening import Data
from crucible_datasets.viewer.query import Query
from crucible_datasets.viewer.questions import Unwanted, answered, rows_where
from crucible_datasets.viewer.searching import rows_with

ROW = "__crucible_row__"  # the column of row numbers in the split
_ANSWERS_KEPT = 16
_MOST_IN_MEMORY = 4_000_000  # row numbers; more are stored in a file
HEAD = 1_000  # rows of a stream that are shown


class Extent(NamedTuple):
    """How much of a split has been read: of a stream, only the first rows."""

    rows: int
    is_all: bool = True
    note: str | None = None  # why there are no more

    @property
    def total(self) -> int | None:
        """The number of rows of the split; None if it is not known."""
        return self.rows if self.is_all else None


class Answer(Future[Any]):
    """The result of a query, and the clients that wait for it: an event for each, set when it has left."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: list[Event | None] = []

    def is_unwanted(self) -> bool:
        return all(client is not None and client.is_set() for client in list(self.clients))


@dataclass
class DatasetRows:
    """One dataset, and the results of the last queries on it."""

    data: Data
    _answers: OrderedDict[Query, Answer] = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)
    _extents: dict[tuple[str | None, str], Extent] = field(default_factory=dict)
    last_read: float = 0.0  # time of the last request for rows

    def forget(self) -> None:
        """Drop all results, to read changed files again."""
        with self._lock:
            self._answers.clear()
        self.data.forget()

    def split(self, query: Query) -> tuple[str, Any]:
        """The requested split, by default the first, and its undecoded rows."""
        splits = self.data.splits(query.config)
        name = query.split or next(iter(splits), None)
        if name is None or name not in splits:
            known = ", ".join(splits)
            raise NotFoundHereError(f"There is no split {name!r}.{closest(name, splits)} Available: {known}.")
        return name, undecoded(splits[name])

    def rows(self, query: Query) -> Any:
        """The rows of a query, with the column `ROW`. Concurrent equal requests wait for one computation."""
        question, client = replace(query, columns=None), CLIENT_LEFT.get()
        while True:
            with self._lock:
                is_new = question not in self._answers
                answer = self._answers.setdefault(question, Answer())
                self._answers.move_to_end(question)
                answer.clients.append(client)
            if is_new:
                self._work_out(question, answer)
                self._let_go()
            try:
                return answer.result()
            except QuestionDroppedError:
                # All who had asked before this client have left.
                if is_new:
                    raise

    def _let_go(self) -> None:
        """Drop the oldest results if they exceed their share of the memory for decoded data."""
        with self._lock:
            sizes = {query: _size(query, answer) for query, answer in self._answers.items()}
            for oldest in list(self._answers)[:-1]:
                if len(self._answers) <= _ANSWERS_KEPT and sum(sizes.values()) <= config.DECODED_MEMORY_BUDGET // 4:
                    return
                del self._answers[oldest], sizes[oldest]

    def _work_out(self, question: Query, answer: Answer) -> None:
        try:
            answer.set_result(self._chosen(question, answer.is_unwanted))
        except ColumnNotFoundError as error:  # without the column that was added here
            known = [name for name in error.available if name != ROW]
            self._fail(question, answer, ColumnNotFoundError(error.column, known))
        except ExpressionError as error:
            types = {name: kind for name, kind in error.types.items() if name != ROW}
            self._fail(question, answer, ExpressionError(error.expression, types, error.reason))
        except BaseException as error:  # noqa: BLE001  whoever waits for the answer gets the error
            self._fail(question, answer, error)

    def _fail(self, question: Query, answer: Answer, error: BaseException) -> None:
        with self._lock:
            self._answers.pop(question, None)
        answer.set_exception(error)

    def _chosen(self, query: Query, unwanted: Unwanted) -> Any:
        """The result of a query, computed from the result without its last step."""
        if query.seed is not None:
            return self.rows(replace(query, seed=None)).shuffle(seed=query.seed)
        if query.order:
            names, down = zip(*query.order, strict=True)
            return self.rows(replace(query, sort=None)).sort(list(names), reverse=list(down))
        if query.q:
            rows = self.rows(replace(query, q=None))
            return rows.select(answered("q", query.q, unwanted, rows_with, rows, query.q))
        if query.where:
            rows = self.rows(replace(query, where=None))
            return rows.select(answered("where", query.where, unwanted, rows_where, rows, query.where, ROW))
        name, split = self.split(query)
        rows, self._extents[query.config, name] = first_rows(split)
        return numbered(answered("sql", query.sql, unwanted, rows.sql, query.sql) if query.sql else rows)

    def extent(self, query: Query) -> Extent:
        """How much has been read of the split that is asked for."""
        self.rows(query)
        return self._extents[query.config, self.split(query)[0]]

    def page(self, query: Query, places: range, media: str, whole: bool = False) -> list[dict[str, Any]]:
        """Some rows as cells; `media` is the base URL of their media."""
        self.last_read = monotonic()
        rows = self.rows(query)
        names, features = shown_columns(rows, query), rows.features  # the property copies
        chosen = rows.select(range(places.start, min(places.stop, len(rows)))).select_columns([*names, ROW])
        return [_as_cells(row, names, features, media, whole) for row in readable(chosen)]


def _size(query: Query, answer: Answer) -> int:
    """The memory of a result: of its row numbers, unless they are contiguous, and of the table that SQL made."""
    if not answer.done() or answer.exception() is not None:
        return 0
    rows = stored_rows(answer.result())
    made = answer.result().data.nbytes if query.sql else 0
    return made if isinstance(rows, range) else made + int(rows.nbytes)


def shown_columns(rows: Any, query: Query) -> list[str]:
    """The requested columns, by default all."""
    known = [name for name in rows.features if name != ROW]
    asked = query.shown or known
    for name in asked:
        if name not in known:
            raise ColumnNotFoundError(name, known)
    if len(set(asked)) < len(asked):
        raise ColumnNamesError(asked, known, "each column can be shown only once")
    return asked


def readable(rows: Any) -> list[Mapping[str, Any]]:
    """The rows, with an error in place of each value that cannot be read."""
    try:
        return list(rows)
    except FileFormatError:
        raise  # the whole file is unreadable
    except Exception:  # noqa: BLE001  (a date beyond those of Python: the other values can be shown)
        columns = {name: _each(rows.select_columns([name]), name) for name in rows.column_names}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _each(rows: Any, name: str) -> list[Any]:
    try:
        return [row[name] for row in rows]
    except Exception as error:  # noqa: BLE001
        if len(rows) == 1:
            return [error]
    halves = len(rows) // 2
    return _each(rows.select(range(halves)), name) + _each(rows.select(range(halves, len(rows))), name)


def _as_cells(row: Mapping[str, Any], names: list[str], features: Any, media: str, whole: bool) -> dict[str, Any]:
    number = row[ROW]
    cells = [cell(row[name], features[name], f"{media}/{number}/{quote(name, safe='')}", whole) for name in names]
    return {"row": number, "cells": cells}


def undecoded(rows: Any) -> Any:
    """The rows with media as references, and no format."""
    for name, feature in (rows.features or {}).items():
        reference = with_leaves(feature, _reference)
        if reference != feature:
            rows = rows.cast_column(name, reference)
    return rows.with_format(None)


def _reference(feature: Any) -> Any:
    if not isinstance(feature, Media):
        return feature
    made = copy.copy(feature)
    made.decode = False
    return made


def first_rows(rows: Any) -> tuple[Any, Extent]:
    """The rows, or the first ones of a stream, and how many these are."""
    if hasattr(rows, "__len__"):
        return rows, Extent(len(rows))
    from crucible_datasets import Dataset

    head: list[Any] = []
    extent = None
    try:
        head.extend(rows.take(HEAD))  # keeps the rows before an error
    except Exception as error:
        broken = BrokenStreamError(len(head), error)
        if not head:
            raise broken from error
        extent = Extent(len(head), is_all=False, note=str(broken))
    shown = Dataset.from_list(head, features=rows.features) if head else Dataset.from_dict({})
    return shown, extent or Extent(len(head), is_all=len(head) < HEAD)


def numbered(rows: Any) -> Any:
    """The rows with a column of row numbers."""
    if ROW in rows.column_names:
        rows = rows.rename_column(ROW, f"{ROW}_")
    # From a buffer, since converting a numpy array would import pandas.
    places = pa.py_buffer(_counted(len(rows)))
    return rows.add_column(ROW, pa.Array.from_buffers(pa.int64(), len(rows), [None, places]))


def _counted(count: int) -> np.ndarray:
    """The numbers below `count`; many of them in an unlinked file, whose pages the system can evict."""
    if count <= _MOST_IN_MEMORY:
        return np.arange(count, dtype=np.int64)
    with TemporaryFile() as file:
        numbers = np.memmap(file, np.int64, "w+", shape=(count,))
    for start in range(0, count, _MOST_IN_MEMORY):
        stop = min(start + _MOST_IN_MEMORY, count)
        numbers[start:stop] = np.arange(start, stop)
    return numbers
