"""The server: all addresses behind the guard, on one port of this machine."""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.opening import Opened

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  (only where the caller says so)


def application(opened: Opened, token: str, hosts: Iterable[str], cookie: str) -> Any:
    """What answers to requests."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from crucible_datasets.viewer.answers import answer, failure
    from crucible_datasets.viewer.guard import Guard
    from crucible_datasets.viewer.pages import DataPages

    data = DataPages(opened)
    pages = [
        ("/", "/index", data.home, "Crucible"),
        ("/data/{id}", None, data.data, "Data"),
        ("/data/{id}/rows", None, data.rows, "Rows"),
        ("/data/{id}/row/{row}", None, data.row, "Row"),
        ("/data/{id}/place/{row}", None, data.place, "Row"),
        ("/data/{id}/summary", None, data.summary, "Column"),
        *(_result_pages(opened) if opened.stores else ()),
    ]
    routes: list[Any] = []
    for path, alias, page, title in pages:
        routes += [Route(f"{alias or path}.json", answer(page, title)), Route(path, answer(page, title))]
    routes += [
        Route("/data/{id}/media/{config}/{split}/{row}/{path:anything}", data.media),
        Route("/data/{id}/download.{kind}", data.download),
        # Charts, tables and differences between texts are drawn by the scripts that the reports have for it.
        Mount("/assets/report", StaticFiles(packages=[("crucible_datasets.evaluation.report", "assets")])),
        Mount("/assets", StaticFiles(packages=[("crucible_datasets.viewer", "assets")])),
    ]

    async def failed(request: Any, error: Exception) -> Any:
        return failure(error)

    app = Starlette(routes=routes, exception_handlers={HTTPException: failed, Exception: failed})
    app.router.redirect_slashes = False  # a path is right or wrong
    app.state.close = data.close
    return Guard(app, token, frozenset(hosts), cookie)


def _result_pages(opened: Opened) -> list[tuple[str, str | None, Any, str]]:
    from crucible_datasets.viewer.results.routes import result_pages  # it brings statistics along

    return result_pages(opened)


class Viewer:
    """A running viewer; `url` opens it. It ends with the program, or with `close`."""

    def __init__(self, opened: Opened, host: str = "127.0.0.1", port: int = 0, remote: bool = False) -> None:
        if host not in _LOOPBACK and not remote:
            raise ArgumentError("host", host, "others could reach it there; say so with remote=True (--allow-remote).")
        self._socket = _listening(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self._app = application(opened, self.token, _names(host), f"crucible-{self.port}")
        self._server = _server(self._app)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address, with the token."""
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/?token={self.token}"

    def start(self) -> Viewer:
        """Answer from a thread of its own."""
        self._thread = threading.Thread(target=self.serve, daemon=True, name="crucible-viewer")
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        return self

    def serve(self) -> None:
        """Answer until it is closed, or the program is interrupted."""
        self._server.run(sockets=[self._socket])

    def open_browser(self) -> Viewer:
        """Show it in the browser, if there is one."""
        webbrowser.open(self.url)
        return self

    def close(self) -> None:
        """End it."""
        self._app.app.state.close()
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(5)
        self._socket.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.url!r})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank" rel="noopener">Open the viewer</a>'


def _names(host: str) -> set[str]:
    """What a browser writes into Host when it asks this server, but for the port."""
    names = {*_LOOPBACK} if host in (*_LOOPBACK, *_EVERYWHERE) else {host.lower(), socket.gethostname().lower()}
    if host in _EVERYWHERE:
        names |= {socket.gethostname().lower()}
        with suppress(OSError):  # a machine need not know itself by its name
            names |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return {f"[{name}]" if ":" in name else name for name in names}


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its name: asyncio sends small answers at once only where it is told that this is TCP; else they wait 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()  # who opens the address before the server is up, waits
    except OSError as error:
        made.close()
        raise ArgumentError("port", port, f"{host} cannot be listened on there: {error}.") from error
    return made


def _server(app: Any) -> Any:
    from crucible_datasets.registry import need

    uvicorn = need("uvicorn", "viewer")
    config = uvicorn.Config(app, log_level="warning", server_header=False, date_header=False, lifespan="off")
    return uvicorn.Server(config)
