"""HTTP by the standard library alone, where nothing special is needed.

The HTTP client of huggingface_hub takes longer to import than a first row takes to come. It is used for whatever is not
plain: when there are proxies, when a host cannot be reached or its certificate is not known here, and once somebody has
told it how to connect.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from crucible_datasets.sources.client import is_client_told
from crucible_datasets.sources.throughput import BrokenError, Pace

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_LONGEST_ANSWER = 1 << 24
_LONGEST_PAUSE = 5.0
_PIECE = 1 << 18
_SHORT = 1 << 16  # what is left of an answer is read, so that its connection can be used again
_LONGEST_DRAIN = 0.1  # seconds without 100 bytes
_MOST_IDLE = 8

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

Origin = tuple[str, str, int | None]
_idle: dict[Origin, list[Any]] = {}
_lock = threading.Lock()
_of_others: list[Any] = []


class Answer:
    """What a server answered, with the names that answers of the client have."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse, origin: Origin, silence: float) -> None:
        self._connection, self._response, self._origin, self._silence = connection, response, origin, silence
        self.status_code, self.reason_phrase, self.headers = response.status, response.reason, response.headers

    def iter_raw(self) -> Iterator[bytes]:
        """The bytes of the body, as they come."""
        import http.client

        try:
            while piece := self._response.read1(_PIECE):
                yield piece
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise BrokenError(f"{type(error).__name__}: {error}") from error

    @property
    def is_encoded(self) -> bool:
        """Whether the body is compressed, which nobody asked for."""
        return bool(self.headers.get("Content-Encoding", "identity") != "identity")

    def iter_bytes(self) -> Iterator[bytes]:
        """The bytes of the body, all that were promised."""
        yield from self.iter_raw()
        if self._response.length:
            raise BrokenError(f"the connection ended {self._response.length} bytes early")

    def body(self, most: int) -> bytes:
        """The whole body; one of more than `most` bytes is given up."""
        found, pace = bytearray(), Pace(self._silence)
        try:
            for piece in self.iter_bytes():
                pace.see(len(piece))
                found += piece
                if len(found) > most:
                    raise BrokenError(f"the answer is longer than {most} bytes")
        except BrokenError:
            self._abandon()
            raise
        self.close()
        return bytes(found)

    def close(self) -> None:
        """Be done with it; a connection on which nothing is left serves the next request."""
        response = self._response
        try:
            if response.length is not None and response.length <= _SHORT:
                self._drain()
        except Exception:  # noqa: BLE001 - nobody wants what is left
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
        pace = Pace(_LONGEST_DRAIN)
        while piece := self._response.read1(_PIECE):
            pace.see(len(piece))


def sent(method: str, url: str, headers: Mapping[str, str], silence: float) -> Answer | None:
    """The answer to a request, whatever it says; None when the client is to make the request."""
    parts = urlsplit(url)
    if is_client_told() or not _is_plain(parts):
        return None
    origin = parts.scheme, str(parts.hostname), parts.port
    target = f"{parts.path or '/'}?{parts.query}".rstrip("?")
    used = _taken(origin)
    if used is not None:
        try:
            return _asked(used, origin, method, target, headers, silence)
        except BrokenError:
            pass  # the server has closed it in the meantime
    fresh = _connected(origin, silence)
    return None if fresh is None else _asked(fresh, origin, method, target, headers, silence)


def answered(url: str, headers: Mapping[str, str], silence: float = 5.0) -> bytes | None:
    """The body of an answer 200, or None, also after some seconds of silence."""
    try:
        answer = sent("GET", url, headers, silence)
        if answer is None:
            return None
        is_short = int(answer.headers.get("Content-Length", 0)) <= _LONGEST_ANSWER
        if answer.status_code == 200 and is_short and not answer.is_encoded:
            return answer.body(_LONGEST_ANSWER)  # some servers state no length
        answer.close()
    except (BrokenError, ValueError):
        return None
    _pause(answer.headers.get("Retry-After", ""))
    return None


def _is_plain(parts: SplitResult) -> bool:
    try:
        named = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        return False
    return bool(named) and not parts.username and not _has_proxies()


def _has_proxies() -> bool:
    # By name: a look at every variable takes longer than a request to this machine.
    return any(map(os.environ.get, _PROXIES))


def is_proxied(parts: SplitResult) -> bool:
    """Whether a request goes to a proxy first, which reads what is not encrypted."""
    if not _has_proxies():
        return False
    from urllib.request import getproxies, proxy_bypass

    return bool(getproxies().keys() & {parts.scheme, "all"}) and not proxy_bypass(str(parts.hostname))


def _taken(origin: Origin) -> Any:
    with _lock:
        waiting = _idle.get(origin)
        return waiting.pop() if waiting else None


def _connected(origin: Origin, silence: float) -> HTTPConnection | None:
    import http.client

    from crucible_datasets.sources.prompt import PromptResponse

    scheme, host, port = origin
    connection: HTTPConnection
    if scheme == "https":
        connection = http.client.HTTPSConnection(host, port, timeout=silence, context=_certificates())
    else:
        connection = http.client.HTTPConnection(host, port, timeout=silence)
    connection.response_class = PromptResponse
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


def _asked(
    connection: Any, origin: Origin, method: str, target: str, headers: Mapping[str, str], silence: float
) -> Answer | None:
    """What is answered; None when this is no question for the standard library."""
    import http.client

    try:
        connection.sock.settimeout(silence)
        connection.request(method, target, headers=dict(headers))
        return Answer(connection, connection.getresponse(), origin, silence)
    except (http.client.InvalidURL, ValueError):
        connection.close()
        return None
    except (OSError, http.client.HTTPException, AttributeError) as error:
        connection.close()
        raise BrokenError(f"{type(error).__name__}: {error}") from error


def _pause(asked: str) -> None:
    """Wait as long as a busy server asks for, within limits, before it is asked as usual."""
    if asked.replace(".", "", 1).isdigit():
        time.sleep(min(float(asked), _LONGEST_PAUSE))


def _leave_to_parent() -> None:
    """In a forked process: connections go on in the one that made them."""
    global _idle, _lock
    _of_others.append(_idle)
    _idle, _lock = {}, threading.Lock()


def _close() -> None:
    with _lock:
        for connection in [one for waiting in _idle.values() for one in waiting]:
            connection.close()
        _idle.clear()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
