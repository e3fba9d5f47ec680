"""HTTP with retries, ranges, and headers per host.

A request is retried after a transient failure (429, 5xx, a dropped or stalled connection), with exponential backoff or
after the delay that the server asks for, for up to `retry_timeout` seconds. A body whose connection drops or stalls is
resumed at the next byte.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from crucible_datasets import config
from crucible_datasets.exceptions import (
    AccessDeniedError,
    ContentMismatchError,
    DownloadError,
    OfflineError,
    without_secrets,
)
from crucible_datasets.records import dataclass
from crucible_datasets.sources import stdlib_http
from crucible_datasets.sources.backoff import (
    RETRY_TIMEOUT,
    RETRYABLE_STATUSES,
    TransientError,
    note_reachable,
    unreachable_timeout,
    wait_to_retry,
)
from crucible_datasets.sources.client_errors import client_for, permanent_reason, transport_errors
from crucible_datasets.sources.headers import content_length, redirect_target, retry_after
from crucible_datasets.sources.throughput import BrokenConnectionError, Throughput

Response = Any
T = TypeVar("T")
_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 10


def no_headers(url: str) -> Mapping[str, str]:
    """No headers for any host."""
    return {}


def no_check(headers: Mapping[str, str]) -> None:
    """Accept any response."""


@dataclass(frozen=True)
class Web:
    """How requests are made: the headers for each host, and the time limits."""

    headers: Callable[[str], Mapping[str, str]] = field(default=no_headers, repr=False)  # may contain a token
    retry_timeout: float = RETRY_TIMEOUT
    read_timeout: float = 20.0  # seconds
    check: Callable[[Mapping[str, str]], None] = no_check  # raises if headers, also those of a redirect, are wrong
    # Targets of redirects from immutable URLs; None if every redirect must be followed again.
    redirects: dict[str, str] | None = field(default=None, compare=False, repr=False)

    def head(self, url: str) -> Mapping[str, str]:
        """The response headers of a HEAD request."""
        return self._with_retries(url, lambda: self._whole("HEAD", url))[0]

    def page(self, url: str, payload: Any = None) -> tuple[Mapping[str, str], bytes]:
        """The headers and body of a small response; `payload` is JSON to POST, which must be safe to repeat."""
        return self._with_retries(url, lambda: self._whole("GET" if payload is None else "POST", url, payload))

    def _whole(self, method: str, url: str, payload: Any = None) -> tuple[Mapping[str, str], bytes]:
        found, throughput = bytearray(), Throughput(self.read_timeout)
        with self._opened(method, url, {}, payload, is_raw=False) as response:
            for piece in response.iter_bytes():
                throughput.count(len(piece))
                found += piece
        return response.headers, bytes(found)

    def body(
        self, url: str, start: int = 0, stop: int | None = None, version: str = "", size: int | None = None
    ) -> Iterator[bytes]:
        """The bytes from `start` on, in chunks; after a broken connection, it resumes at the next byte.

        Resumed bytes must have the same `version`, if the server states one. Ranges must belong to a file of that
        `size`: the first bytes of a longer file are not the file that was listed.
        """
        attempt, at, throughput = 0, start, Throughput(self.read_timeout)
        while True:
            try:
                for piece in self._stretch(url, at, stop, version, size, throughput):
                    at, attempt, given = at + len(piece), 0, time.monotonic()
                    yield piece
                    throughput.exclude(time.monotonic() - given)
                return
            except TransientError as failure:
                attempt += 1
                self._pause(url, failure, attempt, throughput.began, is_started=at > start)

    def _stretch(
        self, url: str, at: int, stop: int | None, version: str, size: int | None, throughput: Throughput
    ) -> Iterator[bytes]:
        """The bytes from `at` on that one connection delivers."""
        asked = {} if at == 0 and stop is None else {"Range": f"bytes={at}-{'' if stop is None else stop - 1}"}
        with self._opened("GET", url, asked) as response:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise DownloadError(url, "the server sent it in an encoding that was not asked for.")
            expected = content_length(response.headers, url)
            throughput.connect()
            if at and version and response.headers.get("ETag", version) != version:
                raise ContentMismatchError(without_secrets(url), f"version {version}", response.headers["ETag"])
            drop = _surplus(url, response, at) if asked else 0
            left = None if expected is None else expected - drop
            if stop is not None:
                _require_range(response, expected, stop)
                _require_size(url, response, size)
                left = min(stop - at, left if left is not None else stop - at)
            # Raw, since buffered bytes would be lost with the connection.
            for piece in response.iter_raw():
                throughput.count(len(piece))
                dropped = min(drop, len(piece))
                drop, piece = drop - dropped, piece[dropped:]
                if left is not None:
                    piece, left = piece[:left], left - len(piece[:left])
                if piece:
                    yield piece
                if left == 0:
                    return
            if left:
                raise TransientError(f"the connection ended {left} bytes early")

    @contextmanager
    def _opened(
        self, method: str, url: str, headers: Mapping[str, str], payload: Any = None, is_raw: bool = True
    ) -> Iterator[Response]:
        """The final response after redirects, its body unread; `is_raw` if the body must not be decoded."""
        try:
            response = self._follow_redirects(method, url, headers, payload, is_raw)
            try:
                yield response
            finally:
                response.close()
        except BrokenConnectionError as error:
            raise TransientError(str(error)) from error
        except transport_errors() as error:
            raise TransientError(f"{type(error).__name__}: {error}") from error

    def _follow_redirects(
        self, method: str, url: str, headers: Mapping[str, str], payload: Any, is_raw: bool
    ) -> Response:
        if self.redirects and (known := self.redirects.pop(url, None)) is not None:
            response = self._send(method, known, headers, payload, is_raw)
            if response.status_code in {200, 206}:
                self.redirects[url] = known
                return self._validated(response)
            response.close()  # a signed URL has expired
        asked = url
        for _ in range(_MOST_REDIRECTS):
            response = self._send(method, asked, headers, payload, is_raw)
            note_reachable(urlsplit(asked).netloc)
            if response.status_code not in _REDIRECTS or "Location" not in response.headers:
                validated = self._validated(_require_success(response, url))
                if self.redirects is not None and asked != url:
                    self.redirects[url] = asked
                return validated
            self._validated(response).close()
            asked = redirect_target(response.headers, asked)
        raise DownloadError(url, f"it was redirected more than {_MOST_REDIRECTS} times.")

    def _validated(self, response: Response) -> Response:
        try:
            self.check(response.headers)
        except BaseException:
            response.close()
            raise
        return response

    def _send(self, method: str, url: str, headers: Mapping[str, str], payload: Any, is_raw: bool) -> Response:
        if config.is_offline():
            raise OfflineError(without_secrets(url))
        everything = {"Accept-Encoding": "identity", **self.headers(url), **headers}
        response = stdlib_http.send(method, url, everything, self.read_timeout) if payload is None else None
        if response is not None and (is_raw or not response.is_encoded):
            return response
        if response is not None:
            response.close()  # the client can decode it
        client = client_for(url)
        request = client.build_request(method, url, headers=everything, timeout=self.read_timeout, json=payload)
        try:
            return client.send(request, stream=True, follow_redirects=False)
        except transport_errors() as error:
            if reason := permanent_reason(error):
                raise DownloadError(url, reason) from error
            raise

    def _with_retries(self, url: str, send: Callable[[], T]) -> T:
        attempt, began = 0, time.monotonic()
        while True:
            try:
                return send()
            except TransientError as failure:
                attempt += 1
                self._pause(url, failure, attempt, began)

    def _pause(self, url: str, failure: TransientError, attempt: int, began: float, is_started: bool = False) -> None:
        """Wait before the next attempt; raise if the time is up."""
        retry_timeout = self.retry_timeout
        if failure.is_unreachable and not is_started:
            retry_timeout = min(retry_timeout / 5, unreachable_timeout(urlsplit(url).netloc))
        if not wait_to_retry(failure, attempt, began, retry_timeout):
            raise DownloadError(url, f"{failure} (tried {attempt} times).") from failure


def _require_success(response: Response, url: str) -> Response:
    status = response.status_code
    if status < 400:
        return response
    wait, code = retry_after(response.headers), response.headers.get("X-Error-Code", "")
    reason = (response.headers.get("X-Error-Message") or response.reason_phrase).rstrip(".")
    response.close()
    if status in RETRYABLE_STATUSES:
        raise TransientError(f"the server answered {status} {reason}", wait)
    kind = AccessDeniedError if status in {401, 403} else DownloadError
    raise kind(url, f"the server answered {status} {reason}.", status, code)


def _surplus(url: str, response: Response, at: int) -> int:
    """How many bytes of a response precede the requested range."""
    if response.status_code == 200:
        return at  # the server does not support ranges
    stated = response.headers.get("Content-Range", "")
    if not stated.startswith(f"bytes {at}-"):
        raise TransientError(f"the server sent the range {stated!r} instead of one that starts at {at}")
    return 0


def _require_range(response: Response, expected: int | None, stop: int) -> None:
    """Raise if no byte of the range is sent, or a body too short to contain it, such as the page of a proxy."""
    least = stop if response.status_code == 200 else 1
    if expected is not None and expected < least:
        raise TransientError(f"the server sent {expected} bytes instead of a range that ends at {stop}")


def _require_size(url: str, response: Response, size: int | None) -> None:
    """Raise if a response states another file size than was listed."""
    header = "Content-Range" if response.status_code == 206 else "Content-Length"
    stated = response.headers.get(header, "").rpartition("/")[2]
    if size is not None and stated.isdigit() and int(stated) != size:
        raise ContentMismatchError(without_secrets(url), f"{size} bytes", f"{stated} bytes")
