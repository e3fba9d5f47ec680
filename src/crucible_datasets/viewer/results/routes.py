"""The pages of runs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.answers import Facts
from crucible_datasets.viewer.opening import Opened
from crucible_datasets.viewer.query import stretch
from crucible_datasets.viewer.results.comparing import compared
from crucible_datasets.viewer.results.runs import StoredRuns
from crucible_datasets.viewer.results.samples import listed, whole


class ResultPages:
    """All pages of runs, for one viewer."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.shelves = {key: StoredRuns(store) for key, store in opened.stores.items()}

    def runs(self, request: Request) -> Facts:
        """Every run of a store."""
        return self._store_runs(request).table()

    def run(self, request: Request) -> Facts:
        """One run."""
        return self._store_runs(request).one(request.path_params["run"])

    def compare(self, request: Request) -> Facts:
        """A comparison of runs."""
        return compared(self._chosen(request), request.query_params.get("metric") or None)

    def samples(self, request: Request) -> Facts:
        """Samples of one kind."""
        query = request.query_params
        places = stretch(query)
        return listed(self._chosen(request), query.get("kind") or "all", query.get("metric") or None, places)

    def sample(self, request: Request) -> Facts:
        """One sample in the given runs."""
        query = request.query_params
        kind, metric = query.get("kind") or "all", query.get("metric") or None
        return whole(self._chosen(request), request.path_params["sample"], kind, metric)

    def _store_runs(self, request: Request) -> StoredRuns:
        key = request.path_params["id"]
        self.opened.store_of(key)
        return self.shelves[key]

    def _chosen(self, request: Request) -> list[Any]:
        names = [name for name in request.query_params.get("runs", "").split(",") if name]
        if not names:
            raise ArgumentError("runs", None, "name the runs, with commas between them.")
        return [self._store_runs(request).run(name) for name in names]
