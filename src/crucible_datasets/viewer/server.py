"""The running viewer: its socket, its URL, and its end."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.hosts import EVERYWHERE, LOOPBACK, own_names
from crucible_datasets.registry import need
from crucible_datasets.viewer.entry import TICKET, Entry, write_way
from crucible_datasets.viewer.opening import Opened

_TRIES = 20  # ports


class Viewer:
    """A running viewer; open its `url`. It ends with the program, or by `close`."""

    def __init__(self, opened: Opened, host: str = "127.0.0.1", port: int = 0, remote: bool = False) -> None:
        if host not in LOOPBACK and not remote:
            raise ArgumentError("host", host, "others could reach it there; say so with remote=True (--allow-remote).")
        for package in ("starlette", "uvicorn"):
            # Imported late, so that the URL is available early, and a browser can start.
            find_spec(package) or need(package, "viewer")
        self._opened, self._sockets = opened, _listening(host, port)
        self.host, self.port = host, self._sockets[0].getsockname()[1]
        self._entry, self._files = Entry(), ExitStack()
        self._running: Any = None
        self._began, self._closed = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def token(self) -> str:
        """What programs send in the header `X-Crucible-Token`."""
        return self._entry.token

    @property
    def url(self) -> str:
        """The URL that opens it in one browser, once; then there is another. Requests before it has started wait."""
        return self._url(socket.gethostname() if self.host in EVERYWHERE else self.host)

    @property
    def origin(self) -> str:
        """Where its pages are in a browser on this machine."""
        host = self.host if self.host not in (*LOOPBACK, *EVERYWHERE) else self._entry.host
        return f"http://{_in_url(host)}:{self.port}"

    def _url(self, host: str) -> str:
        return f"http://{_in_url(host)}:{self.port}/?{TICKET}={self._entry.ticket}"

    def start(self) -> Viewer:
        """Serve in a background thread."""
        self._thread = threading.Thread(target=self.serve, daemon=True, name="crucible-viewer")
        self._thread.start()
        self._began.wait()
        return self

    def serve(self, announce: Callable[[str], object] | None = None) -> None:
        """Serve until it is closed, or the program is interrupted; `announce` gets each URL that follows a used one."""
        from crucible_datasets.viewer.addresses import Pages, application
        from crucible_datasets.viewer.serving import server

        pages, names = Pages(self._opened), {*own_names(self.host), self._entry.host}
        if announce is not None:
            self._entry.on_used = lambda: announce(self.url)
        try:
            self._running = server(application(pages, self._entry, names, f"crucible-{self.port}"))
            self._began.set()
            # In parallel to the server, which meanwhile serves static pages.
            threading.Thread(target=pages.prepare, daemon=True, name="crucible-opening").start()
            if not self._closed.is_set():
                self._running.run(sockets=self._sockets)
        finally:
            self._began.set()
            pages.close()

    def open_browser(self) -> Viewer:
        """Open it in the browser, if there is one."""
        import webbrowser

        if self.host in EVERYWHERE:
            url = self._url("127.0.0.1" if self.host == "0.0.0.0" else "::1")  # noqa: S104
        else:
            url = self.url
        folder = self._files.enter_context(scratch_folder("crucible-viewer"))
        webbrowser.open(Path(write_way(folder, url)).as_uri())
        return self

    def close(self) -> None:
        """Stop it; may be called again."""
        self._closed.set()
        if self._running is not None:
            self._running.should_exit = True
        if self._thread is not None:
            self._thread.join(5)
        for each in self._sockets:
            each.close()
        self._files.close()

    @property
    def closed(self) -> bool:
        """Whether it has been stopped."""
        return self._closed.is_set()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Viewer(closed)" if self.closed else f"Viewer({self.url!r})"

    def _repr_html_(self) -> str:
        if self.closed:
            return "<em>The viewer is closed.</em>"
        return f'<a href="{self.url}" target="_blank" rel="noopener">Open the viewer</a>'


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listening(host: str, port: int) -> list[socket.socket]:
    """The sockets of the server: those of both loopback addresses, or that of another address.

    Names below `localhost` are names of both, and on the other one somebody else could wait for our browser.
    """
    if host not in LOOPBACK:
        return [_bound(host, port)]
    first, second = ("::1", "127.0.0.1") if host == "::1" else ("127.0.0.1", "::1")
    for _ in range(_TRIES):
        found = _bound(first, port)
        try:
            return [found, _bound(second, found.getsockname()[1])]
        except ArgumentError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno != errno.EADDRINUSE:
                return [found]  # this machine has only one of the two
            found.close()
            if port:
                raise
    raise ArgumentError("port", port, "no port is free on both 127.0.0.1 and ::1.")


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, asyncio sets TCP_NODELAY; otherwise small responses wait 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
        made.bind((host, port))
        made.listen(128)  # requests before the server has started wait
    except (OSError, OverflowError) as error:  # a port beyond 65535 overflows
        made.close()
        reason = f"{host} cannot be listened on there: {str(error).rstrip('.')}. Choose another; 0 takes a free one."
        raise ArgumentError("port", port, reason) from error
    return made
