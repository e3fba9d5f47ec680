"""The rows that a question asks for: a view of the data, never a copy of it."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import field, replace
from tempfile import TemporaryFile
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.exceptions import ColumnNotFoundError, FileFormatError
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import with_leaves
from crucible_datasets.internal_api import stored_rows
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.cells import cell
from crucible_datasets.viewer.errors import BrokenStreamError, NotFoundHereError
from crucible_datasets.viewer.opening import Data
from crucible_datasets.viewer.query import Asked
from crucible_datasets.viewer.searching import rows_with

ROW = "__crucible_row__"  # the column that tells where a row stands in its split
_ANSWERS_KEPT = 16
_MOST_IN_MEMORY = 4_000_000  # row numbers; more of them go to a file
HEAD = 1_000  # rows of a stream that are shown


@dataclass
class Desk:
    """One set of data and the answers to the last questions about it."""

    data: Data
    _answers: OrderedDict[Asked, Future[Any]] = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)
    notes: dict[tuple[str | None, str], str | None] = field(default_factory=dict)  # on splits that are not whole
    last_read: float = 0.0  # when rows were last asked for

    def forget(self) -> None:
        """Begin anew, with files as they are now."""
        with self._lock:
            self._answers.clear()
        self.data.forget()

    def split(self, asked: Asked) -> tuple[str, Any]:
        """The split that is asked for, by default the first, and its rows, undecoded."""
        splits = self.data.splits(asked.config)
        name = asked.split or next(iter(splits), None)
        if name is None or name not in splits:
            raise NotFoundHereError(f"There is no split {name!r}; there are {', '.join(splits)}.")
        return name, undecoded(splits[name])

    def rows(self, asked: Asked) -> Any:
        """The rows in the order that is asked for, with the column `ROW`. Who asks the same meanwhile, waits."""
        question = replace(asked, columns=None)
        with self._lock:
            is_new = question not in self._answers
            answer = self._answers.setdefault(question, Future())
            self._answers.move_to_end(question)
        if is_new:
            self._work_out(question, answer)
            self._let_go()
        return answer.result()

    def _let_go(self) -> None:
        """Keep answers within a part of the memory that decoded data may take."""
        with self._lock:
            sizes = {asked: _size(answer) for asked, answer in self._answers.items()}
            for oldest in list(self._answers)[:-1]:
                if len(self._answers) <= _ANSWERS_KEPT and sum(sizes.values()) <= config.DECODED_MEMORY_BUDGET // 4:
                    return
                del self._answers[oldest], sizes[oldest]

    def _work_out(self, question: Asked, answer: Future[Any]) -> None:
        try:
            answer.set_result(self._chosen(question))
        except ColumnNotFoundError as error:  # the column that we added is none of theirs
            known = [name for name in error.available if name != ROW]
            self._fail(question, answer, ColumnNotFoundError(error.column, known))
        except BaseException as error:  # noqa: BLE001  (it is told to everybody who asked)
            self._fail(question, answer, error)

    def _fail(self, question: Asked, answer: Future[Any], error: BaseException) -> None:
        with self._lock:
            self._answers.pop(question, None)
        answer.set_exception(error)

    def _chosen(self, asked: Asked) -> Any:
        """The answer to a question, from that to the question with its last step left out."""
        if asked.seed is not None:
            return self.rows(replace(asked, seed=None)).shuffle(seed=asked.seed)
        if asked.order:
            names, down = zip(*asked.order, strict=True)
            return self.rows(replace(asked, sort=None)).sort(list(names), reverse=list(down))
        if asked.q:
            rows = self.rows(replace(asked, q=None))
            return rows.select(rows_with(rows, asked.q))
        if asked.where:
            return self.rows(replace(asked, where=None)).filter(asked.where)
        name, split = self.split(asked)
        rows, self.notes[asked.config, name] = held(split)
        return numbered(rows.sql(asked.sql) if asked.sql else rows)

    def page(self, asked: Asked, places: range, media: str, whole: bool = False) -> list[dict[str, Any]]:
        """Some rows as cells; `media` is the address below which their media lie."""
        self.last_read = monotonic()
        rows = self.rows(asked)
        names, features = shown_columns(rows, asked), rows.features  # a copy each time it is asked for
        chosen = rows.select(range(places.start, min(places.stop, len(rows)))).select_columns([*names, ROW])
        return [_as_cells(row, names, features, media, whole) for row in readable(chosen)]


def _size(answer: Future[Any]) -> int:
    """The memory that the numbers of its rows take; rows side by side have none."""
    if not answer.done() or answer.exception() is not None:
        return 0
    rows = stored_rows(answer.result())
    return 0 if isinstance(rows, range) else int(rows.nbytes)


def shown_columns(rows: Any, asked: Asked) -> list[str]:
    """The columns that are wanted and there."""
    known = [name for name in rows.features if name != ROW]
    return [name for name in asked.shown or known if name in known]


def readable(rows: Any) -> list[Mapping[str, Any]]:
    """The rows; where a value cannot be read, the error that says why stands in its place."""
    try:
        return list(rows)
    except FileFormatError:
        raise  # nothing else of that file can be read either
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


def held(rows: Any) -> tuple[Any, str | None]:
    """The rows, of a stream the first of them; and why there are no more, where it broke."""
    if hasattr(rows, "__len__"):
        return rows, None
    from crucible_datasets import Dataset

    head: list[Any] = []
    note = None
    try:
        head.extend(rows.take(HEAD))  # keeps what came before an error
    except Exception as error:
        broken = BrokenStreamError(len(head), error)
        if not head:
            raise broken from error
        note = str(broken)
    return (Dataset.from_list(head, features=rows.features) if head else Dataset.from_dict({})), note


def numbered(rows: Any) -> Any:
    """The rows with a column that tells where each stands."""
    if ROW in rows.column_names:
        rows = rows.rename_column(ROW, f"{ROW}_")
    # Over its own memory: what pyarrow makes of an array of numpy first imports pandas.
    places = pa.py_buffer(_counted(len(rows)))
    return rows.add_column(ROW, pa.Array.from_buffers(pa.int64(), len(rows), [None, places]))


def _counted(count: int) -> np.ndarray:
    """All numbers below one; many of them in a file without a name, whose memory the system can take back."""
    if count <= _MOST_IN_MEMORY:
        return np.arange(count, dtype=np.int64)
    with TemporaryFile() as file:
        numbers = np.memmap(file, np.int64, "w+", shape=(count,))
    for start in range(0, count, _MOST_IN_MEMORY):
        stop = min(start + _MOST_IN_MEMORY, count)
        numbers[start:stop] = np.arange(start, stop)
    return numbers
