"""The rows that a question asks for: a view of the data, never a copy of it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Lock
from typing import Any
from urllib.parse import quote

import numpy as np

from crucible_datasets import IterableDataset
from crucible_datasets.features.media import Media
from crucible_datasets.viewer.answers import NotFoundHereError
from crucible_datasets.viewer.asked import Asked
from crucible_datasets.viewer.cells import cell
from crucible_datasets.viewer.opening import Data
from crucible_datasets.viewer.searching import rows_with

ROW = "__row__"  # the column that tells where a row stands in its split
_ANSWERS_KEPT = 8
HEAD = 1_000  # rows of a stream that are shown


@dataclass
class Desk:
    """One set of data and the answers to the last questions about it."""

    data: Data
    _answers: OrderedDict[Asked, Any] = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)

    def split(self, asked: Asked) -> tuple[str, Any]:
        """The split that is meant, the first one by default, and its rows, undecoded."""
        splits = self.data.splits(asked.config)
        name = asked.split or next(iter(splits), None)
        if name is None or name not in splits:
            raise NotFoundHereError(f"There is no split {name!r}; there are {', '.join(splits)}.")
        return name, undecoded(splits[name])

    def rows(self, asked: Asked) -> Any:
        """The rows in the order that is asked for, with the column `ROW`."""
        question = replace(asked, columns=None)
        with self._lock:
            if question not in self._answers:
                self._answers[question] = _chosen(self.split(question)[1], question)
                while len(self._answers) > _ANSWERS_KEPT:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(question)
            return self._answers[question]

    def page(self, asked: Asked, places: range, media: str, whole: bool = False) -> list[dict[str, Any]]:
        """Some rows as cells; `media` is the address below which their media lie."""
        rows = self.rows(asked)
        names = shown_columns(rows, asked)
        chosen = rows.select(range(places.start, min(places.stop, len(rows)))).select_columns([*names, ROW])
        return [_as_cells(row, names, rows.features, media, whole) for row in chosen]


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
        if isinstance(feature, Media) and feature.decode:
            rows = rows.cast_column(name, _reference(feature))
    return rows.with_format(None)


def _reference(feature: Any) -> Any:
    import copy

    made = copy.copy(feature)
    made.decode = False
    return made


def _chosen(rows: Any, asked: Asked) -> Any:
    if isinstance(rows, IterableDataset):
        from crucible_datasets import Dataset

        head = list(islice(rows, HEAD))
        rows = Dataset.from_list(head, features=rows.features) if head else Dataset.from_dict({})
    if asked.sql:
        rows = rows.sql(asked.sql)
    rows = rows.add_column(ROW, np.arange(len(rows)))
    if asked.where:
        rows = rows.filter(asked.where)
    if asked.q:
        rows = rows.select(rows_with(rows, asked.q))
    if asked.order:
        names, down = zip(*asked.order, strict=True)
        rows = rows.sort(list(names), reverse=list(down))
    return rows if asked.seed is None else rows.shuffle(seed=asked.seed)
