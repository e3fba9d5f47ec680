"""The rows that a question asks for: a view of the data, never a copy of it."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from crucible_datasets import Dataset, IterableDataset, LargeList, List
from crucible_datasets.features.media import Media
from crucible_datasets.viewer.answers import NotFoundHereError
from crucible_datasets.viewer.asked import Asked
from crucible_datasets.viewer.cells import cell
from crucible_datasets.viewer.opening import Data
from crucible_datasets.viewer.searching import rows_with

ROW = "__row__"  # the column that tells where a row stands in its split
_ANSWERS_KEPT = 16
HEAD = 1_000  # rows of a stream that are shown


@dataclass
class Desk:
    """One set of data and the answers to the last questions about it."""

    data: Data
    _answers: OrderedDict[Asked, Future[Any]] = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)

    def split(self, asked: Asked) -> tuple[str, Any]:
        """The split that is meant, the first one by default, and its rows, undecoded."""
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
            while len(self._answers) > _ANSWERS_KEPT:
                self._answers.popitem(last=False)
        if is_new:
            self._work_out(question, answer)
        return answer.result()

    def _work_out(self, question: Asked, answer: Future[Any]) -> None:
        try:
            answer.set_result(self._chosen(question))
        except BaseException as error:  # noqa: BLE001  (it is told to everybody who asked)
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
        rows = held(self.split(asked)[1])
        return numbered(rows.sql(asked.sql) if asked.sql else rows)

    def page(self, asked: Asked, places: range, media: str, whole: bool = False) -> list[dict[str, Any]]:
        """Some rows as cells; `media` is the address below which their media lie."""
        rows = self.rows(asked)
        names, features = shown_columns(rows, asked), rows.features  # a copy each time it is asked for
        chosen = rows.select(range(places.start, min(places.stop, len(rows)))).select_columns([*names, ROW])
        return [_as_cells(row, names, features, media, whole) for row in chosen]


def shown_columns(rows: Any, asked: Asked) -> list[str]:
    """The columns that are wanted and there."""
    known = [name for name in rows.features if name != ROW]
    return [name for name in asked.shown or known if name in known]


def _as_cells(row: Mapping[str, Any], names: list[str], features: Any, media: str, whole: bool) -> dict[str, Any]:
    number = row[ROW]
    cells = [cell(row[name], features[name], f"{media}/{number}/{quote(name, safe='')}", whole) for name in names]
    return {"row": number, "cells": cells}


def undecoded(rows: Any) -> Any:
    """The rows with media as references, and no format."""
    for name, feature in (rows.features or {}).items():
        reference = _referring(feature)
        if reference is not feature:
            rows = rows.cast_column(name, reference)
    return rows.with_format(None)


def _referring(feature: Any) -> Any:
    """A feature whose media are not decoded, however deep they lie; itself where there are none."""
    if isinstance(feature, Media):
        return _changed(feature, "decode", False) if feature.decode else feature
    if isinstance(feature, dict):
        inside = {name: _referring(each) for name, each in feature.items()}
        return inside if any(inside[name] is not feature[name] for name in feature) else feature
    if isinstance(feature, (List, LargeList)):
        item = _referring(feature.feature)
        return feature if item is feature.feature else _changed(feature, "feature", item)
    return feature


def _changed(feature: Any, name: str, value: Any) -> Any:
    made = copy.copy(feature)
    setattr(made, name, value)
    return made


def held(rows: Any) -> Any:
    """The rows, of a stream the first of them."""
    if not isinstance(rows, IterableDataset):
        return rows
    head = list(rows.take(HEAD))
    return Dataset.from_list(head, features=rows.features) if head else Dataset.from_dict({})


def numbered(rows: Any) -> Any:
    """The rows with a column that tells where each stands."""
    # Over its own memory: what pyarrow makes of an array of numpy first imports pandas.
    places = pa.py_buffer(np.arange(len(rows), dtype=np.int64))
    return rows.add_column(ROW, pa.Array.from_buffers(pa.int64(), len(rows), [None, places]))
