"""The HTTP server of the routes, with range requests, on loopback by default."""

from __future__ import annotations

import io
import json
import re
import ssl
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from crucible_datasets.hosts import LOOPBACK, is_one_of, own_names
from crucible_datasets.localhub import buckets, routes  # noqa: F401  they register what is response
from crucible_datasets.localhub.access import Access
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.routing import Request, Response, answer

_ABSOLUTE = re.compile(r"^https?://[^/?]*")  # the request target of a proxy


class HubServer(ThreadingHTTPServer):
    """Serves one hub folder."""

    daemon_threads = True
    # With the default backlog of 5, a client with twenty connections waits a second before it retries.
    request_queue_size = 128

    def __init__(
        self,
        root: str,
        host: str = "127.0.0.1",
        port: int = 0,
        access: Access | None = None,
        context: ssl.SSLContext | None = None,
        names: Collection[str] = (),
    ) -> None:
        # On loopback, only known host names are accepted, against DNS rebinding.
        self.names = own_names(host) | {name.lower() for name in names} if host in LOOPBACK else None
        self.hub, self.access, self.scheme = HubFolder(root), access or Access.of(root), "https" if context else "http"
        super().__init__((host, port), Handler)
        if context is not None:
            # The TLS handshake runs in the thread of the connection, so that a slow client does not block others.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have disconnected."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)

    @property
    def endpoint(self) -> str:
        """The value of `HF_ENDPOINT` for clients on this machine."""
        return f"{self.scheme}://127.0.0.1:{self.server_port}"


@contextmanager
def serving(
    root: str, access: Access | None = None, context: ssl.SSLContext | None = None, names: Collection[str] = ()
) -> Iterator[HubServer]:
    """A server in a thread of this process, while the block runs."""
    server = HubServer(root, access=access, context=context, names=names)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: HubServer
    protocol_version = "HTTP/1.1"
    server_version = "crucible-hub"
    timeout = 60
    disable_nagle_algorithm = True  # otherwise the body waits 40 ms for the client to acknowledge the head

    def handle_request(self) -> None:
        path, _, query = _ABSOLUTE.sub("", self.path).partition("?")
        body = _Body(self.rfile, int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.server.hub,
            self.server.access,
            self.command,
            path,
            parse_qs(query, keep_blank_values=True),
            self.headers,
            body,
            body.left,
            self._origin(),
            self._origin(lfs_origin=True),
        )
        try:
            self._require_own_name()
            self._send(answer(request))
            body.pass_over()
        except HubError as error:
            self._refuse(error)
        except (BrokenPipeError, ConnectionError):
            self.close_connection = True
        except Exception as error:  # noqa: BLE001 - whatever happened, the client gets a response
            self.log_error("%s %s: %r", self.command, path, error)
            self._refuse(HubError(500, "InternalError", f"{type(error).__name__} in the hub."))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request  # noqa: N815 - the names that http.server calls

    def _require_own_name(self) -> None:
        host, names = self.headers.get("Host"), self.server.names
        if host and names is not None and not is_one_of(host, names):
            raise HubError(403, "ForeignHost", f"This server is not called {host}: start it with --name to say that.")

    def _origin(self, lfs_origin: bool = False) -> str:
        host = self.headers.get("Host") or f"127.0.0.1:{self.server.server_port}"
        name, mark, port = host.partition(":")
        other = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
        scheme = self.headers.get("X-Forwarded-Proto") or self.server.scheme  # set by a reverse proxy
        return f"{scheme}://{other.get(name, name) if lfs_origin else name}{mark}{port}"

    def _send(self, response: Response) -> None:
        if response.file is not None:
            with response.file:
                self._send_file(response)
            return
        body = b"" if response.value is None else json.dumps(response.value).encode()
        self._head(response.status, {"Content-Type": "application/json", **response.headers}, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_file(self, response: Response) -> None:
        file: Any = response.file
        start, stop, status = 0, response.size, 200
        headers = {"Content-Type": "application/octet-stream", **response.headers}
        if asked := re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or ""):
            start, stop = _range(asked[1], asked[2], response.size)
            if start >= stop:
                raise HubError(416, "RangeNotSatisfiable", f"The file has {response.size} bytes.")
            status, headers["Content-Range"] = 206, f"bytes {start}-{stop - 1}/{response.size}"
        self._head(status, headers, stop - start)
        if self.command != "HEAD":
            file.seek(start)
            _copy(file, self.wfile, stop - start)

    def _refuse(self, error: HubError) -> None:
        # Unread parts of the request would be taken for the next one, so the connection is closed.
        self.close_connection = True
        headers = {"X-Error-Code": error.code, "X-Error-Message": error.sentence, "Connection": "close"}
        body = json.dumps({"error": error.sentence}).encode()
        self._head(error.status, {"Content-Type": "application/json", **headers}, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value.encode("latin-1", "replace").decode("latin-1").replace("\n", " "))
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Do not log requests."""


class _Body(io.BufferedIOBase):
    """The body of a request."""

    def __init__(self, stream: io.BufferedIOBase, length: int) -> None:
        self._stream, self.left = stream, length

    def read(self, size: int | None = -1) -> bytes:
        piece = self._stream.read(self.left if size is None or size < 0 else min(size, self.left))
        self.left = self.left - len(piece) if piece else 0
        return piece

    def pass_over(self) -> None:
        """Read the rest, which would otherwise be taken for the beginning of the next request."""
        while self.left:
            self.read(1 << 20)


def _range(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(0, size - int(last or 0)), size
    return int(first), min(size, int(last) + 1 if last else size)


def _copy(file: Any, to: Any, length: int) -> None:
    while length > 0 and (piece := file.read(min(length, 1 << 20))):
        to.write(piece)
        length -= len(piece)
