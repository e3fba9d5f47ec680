"""The routes. The modules behind them are imported on first use.

Static pages need only this module, so they are served while the modules that read data are still being imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.viewer.answers import Facts, answer, failure, missing
from crucible_datasets.viewer.frontend import asset
from crucible_datasets.viewer.guard import Guard
from crucible_datasets.viewer.opening import Opened

# Each: the path, another one for its JSON, the pages and the method that answer it, its title, its script.
_PAGES = (
    ("/", "/index", "data", "home", "Crucible", "home.js"),
    ("/data/{id}", None, "data", "data", "Data", "data.js"),
    ("/data/{id}/rows", None, "data", "rows", "Rows", None),
    ("/data/{id}/row/{row}", None, "data", "row", "Row", "row.js"),
    ("/data/{id}/place/{row}", None, "data", "place", "Row", None),
    ("/data/{id}/summary", None, "data", "summary", "Column", None),
    ("/results/{id}", None, "results", "runs", "Results", "results/runs.js"),
    ("/results/{id}/run/{run}", None, "results", "run", "Run", "results/run.js"),
    ("/results/{id}/compare", None, "results", "compare", "Comparison", "results/compare.js"),
    ("/results/{id}/samples", None, "results", "samples", "Samples", None),
    ("/results/{id}/sample/{sample:anything}", None, "results", "sample", "Sample", "results/sample.js"),
)
_FILES = (
    ("/data/{id}/media/{config}/{split}/{row}/{path:anything}", "media"),
    ("/data/{id}/media@{version}/{config}/{split}/{row}/{path:anything}", "media"),
    ("/data/{id}/download.{kind}", "download"),
)


class Pages:
    """The pages of data and those of runs, each created once."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self._made: dict[str, Any] = {}
        self._lock = Lock()

    def __getitem__(self, name: str) -> Any:
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def _make(self, name: str) -> Any:
        if name == "data":
            from crucible_datasets.viewer.pages import DataPages

            return DataPages(self.opened)
        from crucible_datasets.viewer.results.routes import ResultPages  # it imports statistics

        return ResultPages(self.opened)

    def prepare(self) -> None:
        """Import and open what the browser will request first: the rows, if a single dataset is shown."""
        with suppress(Exception):  # the page will show the error
            if self.opened.data:
                self["data"].prepare()
            if self.opened.stores:
                self["results"]

    def close(self) -> None:
        if "data" in self._made:
            self._made["data"].close()


def application(pages: Pages, token: str, hosts: Iterable[str], cookie: str) -> Guard:
    """The ASGI application."""
    routes = []
    for path, alias, group, name, title, script in _PAGES:
        answered = answer(_page(pages, group, name), title, script)
        routes += [Route(f"{alias or path}.json", answered), Route(path, answered)]
    routes += [Route(path, _file(pages, name)) for path, name in _FILES]
    routes += [Route("/assets/{name:anything}", asset)]

    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_there, Exception: _failed})
    app.router.redirect_slashes = False  # no redirects
    return Guard(app, token, frozenset(hosts), cookie, pages.opened.beginning)


async def _not_there(request: Request, error: Any) -> Response:
    return missing(request, error)


async def _failed(request: Request, error: Exception) -> Response:
    return failure(error)


def _page(pages: Pages, group: str, name: str) -> Callable[[Request], Facts]:
    def handler(request: Request) -> Facts:
        page: Callable[[Request], Facts] = getattr(pages[group], name)
        try:
            return page(request)
        except FileFormatError:
            if group != "data":
                raise
            # The file was rewritten since it was opened: read it again.
            pages["data"].forget(request.path_params["id"])
            return page(request)

    return handler


def _file(pages: Pages, name: str) -> Any:
    async def sent(request: Request) -> Response:
        try:
            response: Response = await run_in_threadpool(lambda: getattr(pages["data"], name)(request))
        except Exception as error:  # noqa: BLE001  (whatever the data or the question makes of it)
            return failure(error)
        return response

    return sent
