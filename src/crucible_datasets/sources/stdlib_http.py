"""HTTP by the standard library, for simple requests.

The HTTP client of huggingface_hub takes longer to import than a first row takes to arrive. It is used for the rest:
with proxies, if a host cannot be reached or its certificate is not trusted, and if the program has set its own client.
"""

from __future__ import annotations

import atexit
import os
import select
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from crucible_datasets.sources.client import is_client_configured
from crucible_datasets.sources.throughput import BrokenConnectionError, Throughput

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_LONGEST_RESPONSE = 1 << 24
_LONGEST_PAUSE = 5.0
_PIECE = 1 << 18
_SHORT = 1 << 16  # a rest of this size is read, so that the connection can be reused
_LONGEST_DRAIN = 0.1  # seconds without 100 bytes
_MOST_IDLE = 8

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

Origin = tuple[str, str, int | None]
_idle: dict[Origin, list[Any]] = {}
_lock = threading.Lock()
_inherited: list[Any] = []


class Response:
    """A response, with the interface of the client's responses."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse, origin: Origin, read_timeout: float) -> None:
        self._connection, self._response, self._origin, self._read_timeout = connection, response, origin, read_timeout
        self.status_code, self.reason_phrase, self.headers = response.status, response.reason, response.headers

    def iter_raw(self) -> Iterator[bytes]:
        """The bytes of the body, as they arrive."""
        import http.client

        try:
            while piece := self._response.read1(_PIECE):
                yield piece
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise BrokenConnectionError(f"{type(error).__name__}: {error}") from error

    @property
    def is_encoded(self) -> bool:
        """Whether the body is compressed, although identity was requested."""
        return bool(self.headers.get("Content-Encoding", "identity") != "identity")

    def iter_bytes(self) -> Iterator[bytes]:
        """The bytes of the body; an error if fewer arrive than announced."""
        yield from self.iter_raw()
        if self._response.length:
            raise BrokenConnectionError(f"the connection ended {self._response.length} bytes early")

    def body(self, most: int) -> bytes:
        """The whole body; an error if it is longer than `most` bytes."""
        found, throughput = bytearray(), Throughput(self._read_timeout)
        try:
            for piece in self.iter_bytes():
                throughput.count(len(piece))
                found += piece
                if len(found) > most:
                    raise BrokenConnectionError(f"the response is longer than {most} bytes")
        except BrokenConnectionError:
            self._abandon()
            raise
        self.close()
        return bytes(found)

    def close(self) -> None:
        """Finish reading; the connection is reused if nothing is left on it."""
        response = self._response
        if self._connection.sock is None:  # the server keeps none open
            response.close()
            return
        try:
            if response.length is not None and response.length <= _SHORT:
                self._drain()
        except Exception:  # noqa: BLE001 - the rest is not needed
            response.will_close = True
        reusable = (response.isclosed() or response.length == 0) and not response.will_close
        with _lock:
            others = _idle.setdefault(self._origin, [])
            if reusable and len(others) < _MOST_IDLE:
                response.close()
                others.append(self._connection)
                return
        self._abandon()

    def _abandon(self) -> None:
        self._response.close()
        self._connection.close()

    def _drain(self) -> None:
        self._connection.sock.settimeout(_LONGEST_DRAIN)
        throughput = Throughput(_LONGEST_DRAIN)
        while piece := self._response.read1(_PIECE):
            throughput.count(len(piece))


def send(method: str, url: str, headers: Mapping[str, str], read_timeout: float) -> Response | None:
    """The response, whatever its status; None if the request needs the client."""
    parts = urlsplit(url)
    if is_client_configured() or not _is_plain(parts):
        return None
    origin = parts.scheme, str(parts.hostname), parts.port
    target = f"{parts.path or '/'}?{parts.query}".rstrip("?")
    used = _reused(origin)
    if used is not None:
        try:
            return _request(used, origin, method, target, headers, read_timeout)
        except BrokenConnectionError:
            pass  # closed by the server in the meantime
    fresh = _connected(origin, read_timeout)
    return None if fresh is None else _request(fresh, origin, method, target, headers, read_timeout)


def try_get(url: str, headers: Mapping[str, str], read_timeout: float = 5.0) -> bytes | None:
    """The body if the status is 200; None otherwise, and after `read_timeout` seconds."""
    try:
        response = send("GET", url, headers, read_timeout)
        if response is None:
            return None
        is_short = int(response.headers.get("Content-Length", 0)) <= _LONGEST_RESPONSE
        if response.status_code == 200 and is_short and not response.is_encoded:
            return response.body(_LONGEST_RESPONSE)  # some servers state no length
        response.close()
    except (BrokenConnectionError, ValueError):
        return None
    _pause(response.headers.get("Retry-After", ""))
    return None


def _is_plain(parts: SplitResult) -> bool:
    try:
        named = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        return False
    return bool(named) and not parts.username and not _has_proxies()


def _has_proxies() -> bool:
    # By name: reading all variables takes longer than a request to localhost.
    return any(map(os.environ.get, _PROXIES))


def is_proxied(parts: SplitResult) -> bool:
    """Whether a request goes through a proxy, which can read what is not encrypted."""
    if not _has_proxies():
        return False
    from urllib.request import getproxies, proxy_bypass

    return bool(getproxies().keys() & {parts.scheme, "all"}) and not proxy_bypass(str(parts.hostname))


def _reused(origin: Origin) -> Any:
    while True:
        with _lock:
            waiting = _idle.get(origin)
            found = waiting.pop() if waiting else None
        if found is None or _is_silent(found.sock):
            return found
        found.close()


def _is_silent(sock: Any) -> bool:
    """Whether nothing waits on a connection: neither its end nor a response that nobody asked for."""
    if not hasattr(select, "poll"):
        return not select.select([sock], [], [], 0)[0]
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    return not waiting.poll(0)


def _connected(origin: Origin, read_timeout: float) -> HTTPConnection | None:
    import http.client

    from crucible_datasets.sources.header_timeout import HeaderTimeoutResponse

    scheme, host, port = origin
    connection: HTTPConnection
    if scheme == "https":
        connection = http.client.HTTPSConnection(host, port, timeout=read_timeout, context=_certificates())
    else:
        connection = http.client.HTTPConnection(host, port, timeout=read_timeout)
    connection.response_class = HeaderTimeoutResponse
    try:
        connection.connect()
    except (OSError, ValueError):
        connection.close()
        return None
    return connection


@cache
def _certificates() -> Any:
    import ssl

    return ssl.create_default_context()


def _request(
    connection: Any, origin: Origin, method: str, target: str, headers: Mapping[str, str], read_timeout: float
) -> Response | None:
    """The response; None if the standard library cannot make the request."""
    import http.client

    try:
        connection.sock.settimeout(read_timeout)
        connection.request(method, target, headers=dict(headers))
        return Response(connection, connection.getresponse(), origin, read_timeout)
    except (http.client.InvalidURL, ValueError):
        connection.close()
        return None
    except (OSError, http.client.HTTPException, AttributeError) as error:
        connection.close()
        raise BrokenConnectionError(f"{type(error).__name__}: {error}") from error


def _pause(asked: str) -> None:
    """Wait for the delay that a busy server asks for, up to a limit."""
    if asked.replace(".", "", 1).isdigit():
        time.sleep(min(float(asked), _LONGEST_PAUSE))


def _leave_to_parent() -> None:
    """In a forked process: leave connections to the parent."""
    global _idle, _lock
    _inherited.append(_idle)
    _idle, _lock = {}, threading.Lock()


def _close() -> None:
    with _lock:
        for connection in [one for waiting in _idle.values() for one in waiting]:
            connection.close()
        _idle.clear()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
