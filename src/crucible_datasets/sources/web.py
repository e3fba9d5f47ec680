"""HTTP that does not give up early: retries, ranges, and a token that goes to one host only.

A request is repeated after an answer or an accident that may pass (429, 5xx, a cut or silent connection), with
growing pauses or the one that the server asks for, until `patience` seconds have gone by. A body that was cut, or that
crawls, goes on from the byte where it ended.
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
    PASSING,
    PATIENCE,
    PassingError,
    patience_with_nobody,
    paused,
    see,
)
from crucible_datasets.sources.client_errors import accidents, client_for, lasting
from crucible_datasets.sources.headers import content_length, redirect_target, retry_after
from crucible_datasets.sources.throughput import BrokenError, Pace

Response = Any
T = TypeVar("T")
_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 10


def no_headers(url: str) -> Mapping[str, str]:
    """Nothing to say to any host."""
    return {}


def no_check(headers: Mapping[str, str]) -> None:
    """Any answer will do."""


@dataclass(frozen=True)
class Web:
    """How requests are made: what is said to which host, and for how long one goes on trying."""

    headers: Callable[[str], Mapping[str, str]] = field(default=no_headers, repr=False)  # they may hold a token
    patience: float = PATIENCE
    silence: float = 20.0  # seconds without a byte after which a connection counts as dead
    check: Callable[[Mapping[str, str]], None] = no_check  # raises when an answer, or one on the way to it, is wrong
    # Where redirects from addresses that mean one content for ever led; None where they are to be asked each time.
    places: dict[str, str] | None = field(default=None, compare=False, repr=False)

    def head(self, url: str) -> Mapping[str, str]:
        """The headers of the answer to HEAD."""
        return self._patiently(url, lambda: self._whole("HEAD", url))[0]

    def page(self, url: str, sent: Any = None) -> tuple[Mapping[str, str], bytes]:
        """The headers and the whole of a small body; `sent` is a question as JSON, which changes nothing there."""
        return self._patiently(url, lambda: self._whole("GET" if sent is None else "POST", url, sent))

    def _whole(self, method: str, url: str, sent: Any = None) -> tuple[Mapping[str, str], bytes]:
        found, pace = bytearray(), Pace(self.silence)
        with self._opened(method, url, {}, sent, is_raw=False) as answer:
            for piece in answer.iter_bytes():
                pace.see(len(piece))
                found += piece
        return answer.headers, bytes(found)

    def body(
        self, url: str, start: int = 0, stop: int | None = None, version: str = "", size: int | None = None
    ) -> Iterator[bytes]:
        """The bytes from `start` on, in pieces; a connection that breaks is replaced, and no byte comes twice.

        What goes on after other bytes must be of the same `version` as they are, where the server states one. Ranges
        must be those of a file of that `size`: the first bytes of a longer one are not the file that was listed.
        """
        trial, at, pace = 0, start, Pace(self.silence)
        while True:
            try:
                for piece in self._stretch(url, at, stop, version, size, pace):
                    at, trial, given = at + len(piece), 0, time.monotonic()
                    yield piece
                    pace.pass_over(time.monotonic() - given)
                return
            except PassingError as accident:
                trial += 1
                self._pause(url, accident, trial, pace.began, is_under_way=at > start)

    def _stretch(
        self, url: str, at: int, stop: int | None, version: str, size: int | None, pace: Pace
    ) -> Iterator[bytes]:
        """What one connection gives of the bytes from `at` on."""
        asked = {} if at == 0 and stop is None else {"Range": f"bytes={at}-{'' if stop is None else stop - 1}"}
        with self._opened("GET", url, asked) as answer:
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise DownloadError(url, "the server sent it in an encoding that was not asked for.")
            expected = content_length(answer.headers, url)
            pace.connect()
            if at and version and answer.headers.get("ETag", version) != version:
                raise ContentMismatchError(without_secrets(url), f"version {version}", answer.headers["ETag"])
            drop = _surplus(url, answer, at) if asked else 0
            left = None if expected is None else expected - drop
            if stop is not None:
                _require_some(answer, expected, stop)
                _require_size(url, answer, size)
                left = min(stop - at, left if left is not None else stop - at)
            # As they come: bytes collected to larger pieces would be lost with the connection.
            for piece in answer.iter_raw():
                pace.see(len(piece))
                dropped = min(drop, len(piece))
                drop, piece = drop - dropped, piece[dropped:]
                if left is not None:
                    piece, left = piece[:left], left - len(piece[:left])
                if piece:
                    yield piece
                if left == 0:
                    return
            if left:
                raise PassingError(f"the connection ended {left} bytes early")

    @contextmanager
    def _opened(
        self, method: str, url: str, headers: Mapping[str, str], sent: Any = None, is_raw: bool = True
    ) -> Iterator[Response]:
        """The answer at the end of all redirects, its body unread; `is_raw` if that is wanted as it is on the line."""
        try:
            answer = self._answered(method, url, headers, sent, is_raw)
            try:
                yield answer
            finally:
                answer.close()
        except BrokenError as error:
            raise PassingError(str(error)) from error
        except accidents() as error:
            raise PassingError(f"{type(error).__name__}: {error}") from error

    def _answered(self, method: str, url: str, headers: Mapping[str, str], sent: Any, is_raw: bool) -> Response:
        if self.places and (known := self.places.pop(url, None)) is not None:
            answer = self._sent(method, known, headers, sent, is_raw)
            if answer.status_code in {200, 206}:
                self.places[url] = known
                return self._right(answer)
            answer.close()  # the place was open for some time only
        asked = url
        for _ in range(_MOST_REDIRECTS):
            answer = self._sent(method, asked, headers, sent, is_raw)
            see(urlsplit(asked).netloc)
            if answer.status_code not in _REDIRECTS or "Location" not in answer.headers:
                right = self._right(_checked(answer, url))
                if self.places is not None and asked != url:
                    self.places[url] = asked
                return right
            self._right(answer).close()
            asked = redirect_target(answer.headers, asked)
        raise DownloadError(url, f"it was redirected more than {_MOST_REDIRECTS} times.")

    def _right(self, answer: Response) -> Response:
        try:
            self.check(answer.headers)
        except BaseException:
            answer.close()
            raise
        return answer

    def _sent(self, method: str, url: str, headers: Mapping[str, str], sent: Any, is_raw: bool) -> Response:
        if config.is_offline():
            raise OfflineError(without_secrets(url))
        everything = {"Accept-Encoding": "identity", **self.headers(url), **headers}
        answer = stdlib_http.sent(method, url, everything, self.silence) if sent is None else None
        if answer is not None and (is_raw or not answer.is_encoded):
            return answer
        if answer is not None:
            answer.close()  # the client takes it apart
        client = client_for(url)
        request = client.build_request(method, url, headers=everything, timeout=self.silence, json=sent)
        try:
            return client.send(request, stream=True, follow_redirects=False)
        except accidents() as error:
            if reason := lasting(error):
                raise DownloadError(url, reason) from error
            raise

    def _patiently(self, url: str, attempt: Callable[[], T]) -> T:
        trial, began = 0, time.monotonic()
        while True:
            try:
                return attempt()
            except PassingError as accident:
                trial += 1
                self._pause(url, accident, trial, began)

    def _pause(self, url: str, accident: PassingError, trial: int, began: float, is_under_way: bool = False) -> None:
        """Wait before the next trial, or give up."""
        patience = self.patience
        if accident.is_nobody_there and not is_under_way:
            patience = min(patience / 5, patience_with_nobody(urlsplit(url).netloc))
        if not paused(accident, trial, began, patience):
            raise DownloadError(url, f"{accident} (tried {trial} times).") from accident


def _checked(answer: Response, url: str) -> Response:
    status = answer.status_code
    if status < 400:
        return answer
    wait, code = retry_after(answer.headers), answer.headers.get("X-Error-Code", "")
    reason = (answer.headers.get("X-Error-Message") or answer.reason_phrase).rstrip(".")
    answer.close()
    if status in PASSING:
        raise PassingError(f"the server answered {status} {reason}", wait)
    kind = AccessDeniedError if status in {401, 403} else DownloadError
    raise kind(url, f"the server answered {status} {reason}.", status, code)


def _surplus(url: str, answer: Response, at: int) -> int:
    """How many bytes of an answer lie before the range that was asked for."""
    if answer.status_code == 200:
        return at  # the server knows no ranges
    stated = answer.headers.get("Content-Range", "")
    if not stated.startswith(f"bytes {at}-"):
        raise PassingError(f"the server sent the range {stated!r} instead of the one from {at}")
    return 0


def _require_some(answer: Response, expected: int | None, stop: int) -> None:
    """Raise where nothing of a range comes, or something else as a whole: a page of somebody in between."""
    least = stop if answer.status_code == 200 else 1
    if expected is not None and expected < least:
        raise PassingError(f"the server sent {expected} bytes instead of a range that ends at {stop}")


def _require_size(url: str, answer: Response, size: int | None) -> None:
    """Raise where an answer states that a file is longer or shorter than it was."""
    stated = answer.headers.get("Content-Range" if answer.status_code == 206 else "Content-Length", "").rpartition("/")[
        2
    ]
    if size is not None and stated.isdigit() and int(stated) != size:
        raise ContentMismatchError(without_secrets(url), f"{size} bytes", f"{stated} bytes")
