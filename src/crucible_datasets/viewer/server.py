"""The server: all addresses behind the guard, on one port of this machine."""

from __future__ import annotations

import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.opening import Opened

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def application(opened: Opened, token: str, hosts: Iterable[str]) -> Any:
    """What answers to requests."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    from crucible_datasets.viewer.answers import answer, failure
    from crucible_datasets.viewer.guard import Guard
    from crucible_datasets.viewer.pages import DataPages
    from crucible_datasets.viewer.results.routes import result_pages

    data = DataPages(opened)
    pages = [
        ("/", "/index", data.home, "Crucible"),
        ("/data/{id}", None, data.data, "Data"),
        ("/data/{id}/rows", None, data.rows, "Rows"),
        ("/data/{id}/row/{row:int}", None, data.row, "Row"),
        ("/data/{id}/place/{row:int}", None, data.place, "Row"),
        ("/data/{id}/summary", None, data.summary, "Column"),
        *result_pages(opened),
    ]
    routes: list[Any] = []
    for path, alias, page, title in pages:
        routes += [Route(f"{alias or path}.json", answer(page, title)), Route(path, answer(page, title))]
    routes += [
        Route("/data/{id}/media/{config}/{split}/{row:int}/{path:path}", data.media),
        Route("/data/{id}/download.{kind}", data.download),
        Mount("/assets", StaticFiles(directory=str(files("crucible_datasets.viewer") / "assets"))),
    ]

    async def failed(request: Any, error: Exception) -> Any:
        return failure(error)

    app = Starlette(routes=routes, exception_handlers={HTTPException: failed, Exception: failed})
    app.state.close = data.close
    return Guard(app, token, frozenset(hosts))


class Viewer:
    """A running viewer; `url` opens it. It ends with the program, or with `close`."""

    def __init__(self, opened: Opened, host: str = "127.0.0.1", port: int = 0, remote: bool = False) -> None:
        if host not in _LOOPBACK and not remote:
            raise ArgumentError("host", host, "others could reach it there; say so with remote=True (--allow-remote).")
        self._socket = _listening(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self._app = application(opened, self.token, _names(host, self.port))
        self._server = _server(self._app)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address, with the token."""
        name = f"[{self.host}]" if ":" in self.host else self.host
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


def _names(host: str, port: int) -> list[str]:
    """What a browser writes into Host when it asks this server."""
    names = ["127.0.0.1", "localhost", "[::1]"] if host in _LOOPBACK else [host, socket.gethostname().lower()]
    if host in ("0.0.0.0", "::"):  # noqa: S104  (every address of this machine, as the caller said)
        names += [str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)] + [
            "127.0.0.1",
            "localhost",
        ]
    return [f"{f'[{name}]' if ':' in str(name) and not str(name).startswith('[') else name}:{port}" for name in names]


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise ArgumentError("port", port, f"{host} cannot be listened on there: {error}.") from error
    return made


def _server(app: Any) -> Any:
    from crucible_datasets.registry import need

    uvicorn = need("uvicorn", "viewer")
    config = uvicorn.Config(app, log_level="warning", server_header=False, date_header=False, lifespan="off")
    return uvicorn.Server(config)
