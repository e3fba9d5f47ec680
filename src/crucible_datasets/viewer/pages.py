"""The pages of data. Pages of runs are in `results`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from crucible_datasets.features.typetext import type_text
from crucible_datasets.internal_api import media_roots
from crucible_datasets.viewer.answers import Facts
from crucible_datasets.viewer.downloads import TYPES, pieces
from crucible_datasets.viewer.errors import NotFoundHereError
from crucible_datasets.viewer.kinds import kind_of
from crucible_datasets.viewer.media import Content, content_at
from crucible_datasets.viewer.opening import Opened
from crucible_datasets.viewer.query import Query, stretch, whole_number
from crucible_datasets.viewer.rows import ROW, DatasetRows, shown_columns
from crucible_datasets.viewer.sending import sent
from crucible_datasets.viewer.summaries import Summaries


class DataPages:
    """All pages of data, for one viewer."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.datasets = {key: DatasetRows(data) for key, data in opened.data.items()}
        self.summaries = {key: Summaries(dataset) for key, dataset in self.datasets.items()}
        self.version = secrets.token_hex(4)  # another viewer at this address has another one

    def prepare(self) -> None:
        """Open a single dataset, which the browser will show first."""
        if len(self.opened.data) == 1 and not self.opened.stores:
            for dataset in self.datasets.values():
                dataset.page(Query(), range(1), "")

    def home(self, request: Request) -> Facts:
        """The list of datasets and stores."""
        return {
            "datasets": [
                {"id": key, "name": data.name, "splits": _lengths(data.known()), "columns": _names(data.known())}
                for key, data in self.opened.data.items()
            ],
            "stores": [
                {"id": key, "path": store.path, "runs": len(store)} for key, store in self.opened.stores.items()
            ],
        }

    def data(self, request: Request) -> Facts:
        """The columns and the number of rows of a query."""
        key, dataset, query = self._query(request)
        name, _ = dataset.split(query)
        rows, extent = dataset.rows(query), dataset.extent(query)
        return {
            "id": key,
            "dataset": dataset.data.name,
            "configs": dataset.data.configs(),
            "config": query.config,
            "splits": _lengths(dataset.data.splits(query.config)),
            "split": name,
            "num_rows": len(rows),
            "read_rows": extent.rows,
            "total_rows": extent.total,
            "columns": columns_of(rows),
            "shown": shown_columns(rows, query),
            "note": extent.note,
            "asked": query.facts(),
        }

    def rows(self, request: Request) -> Facts:
        """Some rows, cell by cell."""
        key, dataset, query = self._query(request)
        places = stretch(request.query_params)
        rows = dataset.page(query, places, self._media(key, dataset, query))
        total = len(dataset.rows(query)) if dataset.extent(query).is_all else None
        return {"offset": places.start, "total": total, "rows": rows}

    def row(self, request: Request) -> Facts:
        """One row of the split, whole."""
        key, dataset, query = self._query(request)
        name, _ = dataset.split(query)
        number, whole = row_number(request), Query(query.config, name, sql=query.sql)
        rows = dataset.rows(whole)
        if not 0 <= number < len(rows):
            raise NotFoundHereError(f"There is no row {number:,}; there are {len(rows):,}.")
        (found,) = dataset.page(whole, range(number, number + 1), self._media(key, dataset, whole), whole=True)
        return {"row": number, "split": name, "columns": columns_of(rows), "cells": found["cells"]}

    def place(self, request: Request) -> Facts:
        """The position of a row of the split in the result of a query; None if it is not in it."""
        import numpy as np

        _, dataset, query = self._query(request)
        if query.is_whole:
            number = row_number(request)
            return {"place": number if 0 <= number < len(dataset.rows(query)) else None}
        numbers = dataset.rows(query).select_columns([ROW]).with_format("numpy")[:][ROW]
        found = np.flatnonzero(numbers == row_number(request))
        return {"place": int(found[0]) if len(found) else None}

    def summary(self, request: Request) -> Facts:
        """The summary of the values of a column."""
        key, _, query = self._query(request)
        return self.summaries[key].of(query, request.query_params.get("column", ""))

    def media(self, request: Request) -> Response:
        """The bytes of one cell."""
        version = request.path_params.get("version")
        if version not in (None, self.version):
            raise NotFoundHereError("This viewer shows something else by now.")
        return sent(self._content(request), request.headers, is_lasting=version is not None)

    def download(self, request: Request) -> Response:
        """The rows of a query as a file."""
        kind = request.path_params["kind"]
        _, dataset, query = self._query(request)
        rows = dataset.rows(query)
        is_safe = request.query_params.get("formula_safe", "true") != "false"
        content = pieces(rows.select_columns(shown_columns(rows, query)), kind, is_safe)
        headers = {"Content-Disposition": f'attachment; filename="rows.{kind}"'}
        return StreamingResponse(content, media_type=TYPES[kind], headers=headers)

    def forget(self, key: str) -> None:
        """Read data again whose files have changed."""
        self.datasets[key].forget()
        self.summaries[key].forget()

    def close(self) -> None:
        for summaries in self.summaries.values():
            summaries.close()

    def _query(self, request: Request) -> tuple[str, DatasetRows, Query]:
        key = request.path_params["id"]
        self.opened.data_of(key)
        return key, self.datasets[key], Query.of(request.query_params)

    def _media(self, key: str, dataset: DatasetRows, query: Query) -> str:
        name, _ = dataset.split(query)
        return f"/data/{key}/media@{self.version}/{quote(query.config or '-', safe='')}/{quote(name, safe='')}"

    def _content(self, request: Request) -> Content:
        key, parts = request.path_params["id"], request.path_params
        self.opened.data_of(key)
        config = None if parts["config"] == "-" else parts["config"]
        sql = request.query_params.get("sql") or None
        rows = self.datasets[key].rows(Query(config, parts["split"], sql=sql))
        # SQL can construct a path, which must stay inside the allowed folders.
        opens_files = sql is None or media_roots(rows) is not None
        return content_at(rows, row_number(request), parts["path"].split("/"), opens_files)


def columns_of(rows: Any) -> list[Facts]:
    """The columns, with their types and kinds."""
    return [
        {"name": name, "kind": kind_of(feature), "type": type_text(feature)}
        for name, feature in rows.features.items()
        if name != ROW
    ]


def row_number(request: Request) -> int:
    """The row number in a URL."""
    return whole_number("row", request.path_params["row"]) or 0


def _names(splits: Mapping[str, Any]) -> list[str]:
    """The columns of the first split."""
    return [*(getattr(next(iter(splits.values()), None), "features", None) or ())]


def _lengths(splits: Mapping[str, Any]) -> list[Facts]:
    return [
        {"name": name, "rows": len(rows) if hasattr(rows, "__len__") else None}  # a stream has no length
        for name, rows in splits.items()
    ]
