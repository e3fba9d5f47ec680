"""The HTTP server of the routes, with range requests, on loopback by default."""

from __future__ import annotations

import io
import json
import re
import ssl
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from crucible_datasets.hosts import LOOPBACK, is_one_of, own_names
from crucible_datasets.localhub import buckets, routes  # noqa: F401  they register what is response
from crucible_datasets.localhub.access import Access
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.routing import Request, Response, answer
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)
_MAX_CONNECTIONS = 1024
_MAX_HEAD, _MAX_PARAMETERS, _PASSED_OVER = 128 << 10, 1000, 16 << 20
_LINGER_SECONDS = 2.0
_ABSOLUTE = re.compile(r"^https?://[^/?]*")  # the request target of a proxy
_TARGET = re.compile(r"[!-~]+")
_REQUEST_LINE = re.compile(rb"[!-~]+ [^\r\n]+\r\n")
_HEADER_LINE = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,18}")
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)
_SINGLE = ("Host", "Content-Length", "Content-Type", "Authorization", "Range")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


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
        self._free = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        super().__init__((host, port), Handler)
        if context is not None:
            # The TLS handshake runs in the thread of the connection, so that a slow client does not block others.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own, or close it if there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

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

    def handle_one_request(self) -> None:
        """Read a request and answer it."""
        self.head = self.rfile = _Head(self.rfile)
        self.expects_continue = False
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        finally:
            self.rfile = self.head.stream

    def parse_request(self) -> bool:
        """Read the head; what follows is the body."""
        try:
            return super().parse_request()
        finally:
            self.rfile = self.head.stream

    def handle_expect_100(self) -> bool:
        """The client waits before it sends its body, which is asked for only if it is read."""
        self.expects_continue = True
        return True

    def handle_request(self) -> None:
        body = _Body(self.rfile, 0)
        try:
            self._require_understood()
            body = _Body(self.rfile, int(self.headers.get("Content-Length", 0)), self._ask_for_body)
            self._send(answer(self._request(body)))
            self._pass_over(body)
        except HubError as error:
            self._refuse(error, body)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            logger.exception("%s %s failed.", self.command, self.path.partition("?")[0])
            self._refuse(HubError(500, "InternalError", f"{type(error).__name__} in the hub."), body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request  # noqa: N815 - the names that http.server calls

    def _request(self, body: _Body) -> Request:
        path, _, query = _ABSOLUTE.sub("", self.path).partition("?")
        try:
            parameters = parse_qs(query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS)
        except ValueError as error:
            raise HubError(400, "BadRequest", "The query is not UTF-8, or has too many parameters.") from error
        origins = self._origin(), self._origin(lfs_origin=True)
        hub, access = self.server.hub, self.server.access
        return Request(hub, access, self.command, path, parameters, self.headers, body, body.left, *origins)

    def _require_understood(self) -> None:
        """Raise if another program might read this request differently, or if it is for another server."""
        if self.head.is_malformed or self.request_version not in {"HTTP/1.0", "HTTP/1.1"}:
            raise HubError(400, "BadRequest", "The head of the request is not valid HTTP/1.1.")
        if not _TARGET.fullmatch(self.path):
            raise HubError(400, "BadRequest", "The target of the request has letters that must be percent-encoded.")
        if "Transfer-Encoding" in self.headers:
            raise HubError(400, "BadRequest", "Transfer-Encoding is not supported: send a Content-Length.")
        for name in _SINGLE:
            if len(self.headers.get_all(name, [])) > 1:
                raise HubError(400, "BadRequest", f"{name} is stated more than once.")
        if not _LENGTH.fullmatch(self.headers.get("Content-Length", "0")):
            raise HubError(400, "BadRequest", "Content-Length is not a number.")
        host, names = self.headers.get("Host", ""), self.server.names
        if not _HOST.fullmatch(host):
            raise HubError(400, "BadRequest", "Host is missing, or not a name and a port.")
        if names is not None and not is_one_of(host, names):
            raise HubError(403, "ForeignHost", f"This server is not called {host}: start it with --name to say that.")

    def _ask_for_body(self) -> None:
        if self.expects_continue:
            self.expects_continue = False
            self.send_response_only(100)
            self.end_headers()

    def _pass_over(self, body: _Body) -> None:
        """Read the rest of the body, which would otherwise be taken for the beginning of the next request."""
        if body.left > _PASSED_OVER or (body.left and self.expects_continue):
            self.close_connection = True
        else:
            body.pass_over()

    def _origin(self, lfs_origin: bool = False) -> str:
        name, mark, port = self.headers["Host"].partition(":")
        other = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
        forwarded = self.headers.get("X-Forwarded-Proto")  # set by a reverse proxy
        scheme = forwarded if forwarded in {"http", "https"} else self.server.scheme
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
        if asked := re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", self.headers.get("Range") or ""):
            start, stop = _range(asked[1], asked[2], response.size)
            if start >= stop:
                raise HubError(416, "RangeNotSatisfiable", f"The file has {response.size} bytes.")
            status, headers["Content-Range"] = 206, f"bytes {start}-{stop - 1}/{response.size}"
        self._head(status, headers, stop - start)
        if self.command != "HEAD":
            file.seek(start)
            if not _copy(file, self.wfile, stop - start):
                self.close_connection = True  # the file was truncated, and the next response must not fill the gap

    def _refuse(self, error: HubError, body: _Body | None = None) -> None:
        # Unread parts of the request would be taken for the next one, so the connection is closed.
        self.close_connection = True
        headers = {"X-Error-Code": error.code, "X-Error-Message": error.sentence, "Connection": "close"}
        content = json.dumps({"error": error.sentence}).encode()
        self._head(error.status, {"Content-Type": "application/json", **headers}, len(content))
        if self.command != "HEAD":
            self.wfile.write(content)
        if body is not None and not self.expects_continue:
            # A client that is still sending would not see the response: the system discards it with the connection.
            self.connection.settimeout(_LINGER_SECONDS)
            body.pass_over(_PASSED_OVER)

    def _head(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, _CONTROL.sub(" ", value.encode("latin-1", "replace").decode("latin-1")))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Do not log requests."""


class _Head(io.BufferedIOBase):
    """The head of a request: its size is bounded, and each header is on a line of its own."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self.stream, self.is_malformed, self._left, self._is_first = stream, False, _MAX_HEAD, True

    def readline(self, size: int | None = -1) -> bytes:
        line = self.stream.readline(self._left if size is None or size < 0 else min(size, self._left))
        self._left -= len(line)
        if self._left <= 0:
            raise LineTooLong("head")
        pattern, self._is_first = _REQUEST_LINE if self._is_first else _HEADER_LINE, False
        self.is_malformed |= not pattern.fullmatch(line)
        return line


class _Body(io.BufferedIOBase):
    """The body of a request."""

    def __init__(self, stream: io.BufferedIOBase, length: int, before: Callable[[], None] = lambda: None) -> None:
        self._stream, self.left, self._before = stream, length, before

    def read(self, size: int | None = -1) -> bytes:
        return self._taken(self._stream.read, size)

    def readline(self, size: int | None = -1) -> bytes:
        return self._taken(self._stream.readline, size)

    def _taken(self, read: Callable[[int], bytes], size: int | None) -> bytes:
        self._before()
        piece = read(self.left if size is None or size < 0 else min(size, self.left))
        self.left = self.left - len(piece) if piece else 0
        return piece

    def pass_over(self, most: int = sys.maxsize) -> None:
        """Read the rest, or some of it, to no end."""
        while self.left and most > 0:
            most -= len(self.read(1 << 20)) or 1


def _range(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(0, size - int(last or 0)), size
    return int(first), min(size, int(last) + 1 if last else size)


def _copy(file: Any, to: Any, length: int) -> bool:
    while length > 0 and (piece := file.read(min(length, 1 << 20))):
        to.write(piece)
        length -= len(piece)
    return length == 0
