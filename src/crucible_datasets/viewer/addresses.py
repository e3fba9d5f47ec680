"""The routes. The modules behind them are imported on first use.

Static pages need only this module, so they are served while the modules that read data are still being imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.viewer.answers import Facts, answer, failure, missing, while_connected
from crucible_datasets.viewer.entry import Entry
from crucible_datasets.viewer.frontend import asset
from crucible_datasets.viewer.guard import Guard
from crucible_datasets.viewer.opening import Opened
from crucible_datasets.viewer.query import PARAMETERS, refuse_unknown_parameters


class Address(NamedTuple):
    """A page and its JSON: the path, the pages and the method that answer it, its query, title and script."""

    path: str
    group: str
    name: str
    parameters: tuple[str, ...]
    title: str
    script: str | None = None
    json_paths: tuple[str, ...] = ()  # by default the path with .json


class File(NamedTuple):
    """The path of a file, the method that answers it, its query."""

    path: str
    name: str
    parameters: tuple[str, ...]


_QUOTED = 200  # characters of a path in an error
_SOME = ("offset", "limit")
_ROW = ("config", "split", "sql")
_RUNS = ("runs", "metric")
ADDRESSES = (
    Address("/", "data", "home", (), "Crucible", "home.js", ("/index.json", "/.json")),
    Address("/data/{id}", "data", "data", PARAMETERS, "Data", "data.js"),
    Address("/data/{id}/rows", "data", "rows", (*PARAMETERS, *_SOME), "Rows"),
    Address("/data/{id}/row/{row}", "data", "row", _ROW, "Row", "row.js"),
    Address("/data/{id}/place/{row}", "data", "place", PARAMETERS, "Row"),
    Address("/data/{id}/summary", "data", "summary", ("column", *PARAMETERS), "Column"),
    Address("/results/{id}", "results", "runs", (), "Results", "results/runs.js"),
    Address("/results/{id}/run/{run}", "results", "run", (), "Run", "results/run.js"),
    Address("/results/{id}/compare", "results", "compare", _RUNS, "Comparison", "results/compare.js"),
    Address("/results/{id}/samples", "results", "samples", (*_RUNS, "kind", *_SOME), "Samples"),
    Address(
        "/results/{id}/sample/{sample:anything}", "results", "sample", (*_RUNS, "kind"), "Sample", "results/sample.js"
    ),
)
FILES = (
    File("/data/{id}/media/{config}/{split}/{row}/{path:anything}", "media", ("sql",)),
    File("/data/{id}/media@{version}/{config}/{split}/{row}/{path:anything}", "media", ("sql",)),
    File("/data/{id}/download.{kind}", "download", (*PARAMETERS, "formula_safe")),
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


def application(pages: Pages, entry: Entry, hosts: Iterable[str], cookie: str) -> Guard:
    """The ASGI application."""
    routes = []
    for each in ADDRESSES:
        answered = answer(_page(pages, each), each.title, each.script)
        routes += [Route(path, answered) for path in (*json_paths(each), each.path)]
    routes += [Route(each.path, _file(pages, each)) for each in FILES]
    routes += [Route("/assets/{name:anything}", asset), Route("/{path:anything}", _nowhere)]

    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_there, Exception: _failed})
    app.router.redirect_slashes = False  # no redirects
    return Guard(app, entry, frozenset(hosts), cookie, pages.opened.beginning)


def json_paths(address: Address) -> tuple[str, ...]:
    """The paths of the JSON of a page."""
    return address.json_paths or (f"{address.path}.json",)


async def _nowhere(request: Request) -> Response:
    known = [json_paths(each)[0] for each in ADDRESSES] + [each.path for each in FILES]
    hint = f"/index.json lists the ids of data and results. Addresses: {', '.join(known)}.".replace(":anything", "")
    return missing(request, 404, f"There is nothing at {request.url.path[:_QUOTED]}.", hint)


async def _not_there(request: Request, error: Any) -> Response:
    return missing(request, error.status_code, str(error.detail))


async def _failed(request: Request, error: Exception) -> Response:
    return failure(error)


def _page(pages: Pages, address: Address) -> Callable[[Request], Facts]:
    def handler(request: Request) -> Facts:
        refuse_unknown_parameters(request.query_params, address.parameters)
        page: Callable[[Request], Facts] = getattr(pages[address.group], address.name)
        try:
            return page(request)
        except FileFormatError:
            if address.group != "data":
                raise
            # The file was rewritten since it was opened: read it again.
            pages["data"].forget(request.path_params["id"])
            return page(request)

    return handler


def _file(pages: Pages, file: File) -> Any:
    async def sent(request: Request) -> Response:
        try:
            refuse_unknown_parameters(request.query_params, file.parameters)
            response: Response = await while_connected(request, lambda asked: getattr(pages["data"], file.name)(asked))
        except Exception as error:  # noqa: BLE001  (whatever the data or the question makes of it)
            return failure(error)
        return response

    return sent
