"""All addresses behind the guard. What they show is brought in when it is first asked for.

The pages that browsers load need nothing but this server, so they are answered while what reads data is still imported.
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

# Each: the address, another one for its JSON, who tells what is there and by which method, its title, its script.
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


class Rooms:
    """The pages of data and those of runs, each made once."""

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
        from crucible_datasets.viewer.results.routes import ResultPages  # it brings statistics along

        return ResultPages(self.opened)

    def prepare(self) -> None:
        """Bring in what a browser asks for in a moment: the rows of data that is alone here."""
        with suppress(Exception):  # whoever opens the page is told
            if self.opened.data:
                self["data"].prepare()
            if self.opened.stores:
                self["results"]

    def close(self) -> None:
        if "data" in self._made:
            self._made["data"].close()


def application(rooms: Rooms, token: str, hosts: Iterable[str], cookie: str) -> Guard:
    """The application that answers requests."""
    routes = []
    for path, alias, room, name, title, script in _PAGES:
        answered = answer(_page(rooms, room, name), title, script)
        routes += [Route(f"{alias or path}.json", answered), Route(path, answered)]
    routes += [Route(path, _file(rooms, name)) for path, name in _FILES]
    routes += [Route("/assets/{name:anything}", asset)]

    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_there, Exception: _failed})
    app.router.redirect_slashes = False  # a path is right or wrong
    return Guard(app, token, frozenset(hosts), cookie, rooms.opened.beginning)


async def _not_there(request: Request, error: Any) -> Response:
    return missing(request, error)


async def _failed(request: Request, error: Exception) -> Response:
    return failure(error)


def _page(rooms: Rooms, room: str, name: str) -> Callable[[Request], Facts]:
    def told(request: Request) -> Facts:
        page: Callable[[Request], Facts] = getattr(rooms[room], name)
        try:
            return page(request)
        except FileFormatError:
            if room != "data":
                raise
            # Somebody has written the file anew since it was opened; who looks again wants to see it as it is now.
            rooms["data"].forget(request.path_params["id"])
            return page(request)

    return told


def _file(rooms: Rooms, name: str) -> Any:
    async def sent(request: Request) -> Response:
        try:
            response: Response = await run_in_threadpool(lambda: getattr(rooms["data"], name)(request))
        except Exception as error:  # noqa: BLE001  (whatever the data or the question makes of it)
            return failure(error)
        return response

    return sent
