"""The running viewer: its socket, its URL, and its end."""

from __future__ import annotations

import secrets
import socket
import threading
from importlib.util import find_spec
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.hosts import EVERYWHERE, LOOPBACK, own_names
from crucible_datasets.registry import need
from crucible_datasets.viewer.opening import Opened


class Viewer:
    """A running viewer; open its `url`. It ends with the program, or by `close`."""

    def __init__(self, opened: Opened, host: str = "127.0.0.1", port: int = 0, remote: bool = False) -> None:
        if host not in LOOPBACK and not remote:
            raise ArgumentError("host", host, "others could reach it there; say so with remote=True (--allow-remote).")
        for package in ("starlette", "uvicorn"):
            # Imported late, so that the URL is available early, and a browser can start.
            find_spec(package) or need(package, "viewer")
        self._opened, self._socket = opened, _listening(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self._running: Any = None
        self._began, self._closed = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The URL with the token. Requests before the server has started wait."""
        host = socket.gethostname() if self.host in EVERYWHERE else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/?token={self.token}"

    def start(self) -> Viewer:
        """Serve in a background thread."""
        self._thread = threading.Thread(target=self.serve, daemon=True, name="crucible-viewer")
        self._thread.start()
        self._began.wait()
        return self

    def serve(self) -> None:
        """Serve until it is closed, or the program is interrupted."""
        from crucible_datasets.viewer.addresses import Pages, application
        from crucible_datasets.viewer.serving import server

        pages = Pages(self._opened)
        try:
            self._running = server(application(pages, self.token, own_names(self.host), f"crucible-{self.port}"))
            self._began.set()
            # In parallel to the server, which meanwhile serves static pages.
            threading.Thread(target=pages.prepare, daemon=True, name="crucible-opening").start()
            if not self._closed.is_set():
                self._running.run(sockets=[self._socket])
        finally:
            self._began.set()
            pages.close()

    def open_browser(self) -> Viewer:
        """Open it in the browser, if there is one."""
        import webbrowser

        webbrowser.open(self.url)
        return self

    def close(self) -> None:
        """Stop it; may be called again."""
        self._closed.set()
        if self._running is not None:
            self._running.should_exit = True
        if self._thread is not None:
            self._thread.join(5)
        self._socket.close()

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


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, asyncio sets TCP_NODELAY; otherwise small responses wait 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)  # requests before the server has started wait
    except (OSError, OverflowError) as error:  # a port beyond 65535 overflows
        made.close()
        reason = f"{host} cannot be listened on there: {str(error).rstrip('.')}. Choose another; 0 takes a free one."
        raise ArgumentError("port", port, reason) from error
    return made
