"""HTTP that does not give up early: retries, ranges, and a token that goes to one host only.

A request is repeated after an answer or an accident that may pass (429, 5xx, a cut or silent connection), with
growing pauses or the one that the server asks for, until `patience` seconds have gone by. A body that was cut goes on
from the byte where it ended.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any, cast
from urllib.parse import urljoin

from crucible_datasets import config
from crucible_datasets.exceptions import (
    AccessDeniedError,
    ContentMismatchError,
    DownloadError,
    OfflineError,
    without_secrets,
)
from crucible_datasets.records import dataclass
from crucible_datasets.sources import quick
from crucible_datasets.sources.client import client as made_client
from crucible_datasets.sources.client import is_client_loaded

Response = Any
_PASSING = {408, 429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 10
_FIRST_PAUSE = 0.05  # a line that is cut every few kilobytes still delivers
_PATIENCE_WITH_NOBODY = 15.0
_LONGEST_PAUSE = 30.0
_UNTRUSTED = re.compile(r"certificate verify failed: ([^(]*)")
_WHOM_TO_TRUST = (
    "its certificate is not trusted: {}. If an authority of your own has signed it, set SSL_CERT_FILE to its file."
)


def no_headers(url: str) -> Mapping[str, str]:
    """Nothing to say to any host."""
    return {}


def no_check(headers: Mapping[str, str]) -> None:
    """Any answer will do."""


@dataclass(frozen=True)
class Web:
    """How requests are made: what is said to which host, and for how long one goes on trying."""

    headers: Callable[[str], Mapping[str, str]] = no_headers
    patience: float = 120.0
    silence: float = 20.0  # seconds without a byte after which a connection counts as dead
    check: Callable[[Mapping[str, str]], None] = no_check  # raises when an answer, or one on the way to it, is wrong

    def head(self, url: str) -> Response:
        """The answer to HEAD."""
        return self._patiently(url, lambda: self._answered("HEAD", url, {}))

    def page(self, url: str, sent: Any = None) -> tuple[Mapping[str, str], bytes]:
        """The headers and the whole of a small body; `sent` is a question as JSON, which changes nothing there."""
        method = "GET" if sent is None else "POST"
        answer = self._patiently(url, lambda: self._answered(method, url, {}, sent=sent))
        return answer.headers, answer.content

    def body(self, url: str, start: int = 0, stop: int | None = None, version: str = "") -> Iterator[bytes]:
        """The bytes from `start` on, in pieces; a connection that breaks is replaced, and no byte comes twice.

        What goes on after other bytes must be of the same `version` as they are, where the server states one.
        """
        trial, at, began = 0, start, time.monotonic()
        while True:
            try:
                for piece in self._stretch(url, at, stop, version):
                    at, trial, began = at + len(piece), 0, time.monotonic()
                    yield piece
                return
            except _PassingError as accident:
                trial += 1
                self._pause(url, accident, trial, began)

    def _stretch(self, url: str, at: int, stop: int | None, version: str) -> Iterator[bytes]:
        """What one connection gives of the bytes from `at` on."""
        asked = {} if at == 0 and stop is None else {"Range": f"bytes={at}-{'' if stop is None else stop - 1}"}
        with self._opened(url, asked) as (answer, expected):
            if at and version and answer.headers.get("ETag", version) != version:
                raise ContentMismatchError(without_secrets(url), f"version {version}", answer.headers["ETag"])
            drop = _surplus(url, answer, at) if asked else 0
            left = None if expected is None else expected - drop
            if stop is not None:
                left = min(stop - at, left if left is not None else stop - at)
            # As they come: bytes collected to larger pieces would be lost with the connection.
            for piece in answer.iter_raw():
                dropped = min(drop, len(piece))
                drop, piece = drop - dropped, piece[dropped:]
                if left is not None:
                    piece, left = piece[:left], left - len(piece[:left])
                if piece:
                    yield piece
                if left == 0:
                    return
            if left:
                raise _PassingError(f"the connection ended {left} bytes early")

    @contextmanager
    def _opened(self, url: str, headers: Mapping[str, str]) -> Iterator[tuple[Response, int | None]]:
        try:
            answer = self._answered("GET", url, headers, stream=True)
            try:
                if answer.headers.get("Content-Encoding", "identity") != "identity":
                    raise DownloadError(url, "the server sent it in an encoding that was not asked for.")
                length = answer.headers.get("Content-Length")
                yield answer, int(length) if length is not None else None
            finally:
                answer.close()
        except quick.BrokenError as error:
            raise _PassingError(str(error)) from error
        except _accidents() as error:
            raise _PassingError(f"{type(error).__name__}: {error}") from error

    def _answered(
        self, method: str, url: str, headers: Mapping[str, str], stream: bool = False, sent: Any = None
    ) -> Response:
        """The answer at the end of all redirects, or an error."""
        asked = url
        for _ in range(_MOST_REDIRECTS):
            answer = self._sent(method, asked, headers, stream, sent)
            if answer.status_code not in _REDIRECTS or "Location" not in answer.headers:
                return self._right(_checked(answer, url))
            self._right(answer).close()
            asked = urljoin(asked, answer.headers["Location"])
        raise DownloadError(url, f"it was redirected more than {_MOST_REDIRECTS} times.")

    def _right(self, answer: Response) -> Response:
        try:
            self.check(answer.headers)
        except BaseException:
            answer.close()
            raise
        return answer

    def _sent(self, method: str, url: str, headers: Mapping[str, str], stream: bool, sent: Any) -> Response:
        if config.HF_HUB_OFFLINE:
            raise OfflineError(without_secrets(url))
        everything = {"Accept-Encoding": "identity", **self.headers(url), **headers}
        answer = None if sent is not None else self._sent_quickly(method, url, everything, stream)
        if answer is not None:
            return answer
        client = made_client()
        request = client.build_request(method, url, headers=everything, timeout=self.silence, json=sent)
        try:
            return client.send(request, stream=stream, follow_redirects=False)
        except _accidents() as error:
            if untrusted := _UNTRUSTED.search(str(error)):
                raise DownloadError(url, _WHOM_TO_TRUST.format(untrusted[1].strip())) from error
            raise _PassingError(f"{type(error).__name__}: {error}") from error

    def _sent_quickly(self, method: str, url: str, headers: Mapping[str, str], stream: bool) -> Response | None:
        try:
            answer = quick.sent(method, url, headers, self.silence)
            if answer is not None and not stream and answer.is_encoded:
                answer.close()
                return None  # the client takes it apart
            if answer is not None and not stream:
                _ = answer.content  # while a broken connection still counts as an accident of the request
        except quick.BrokenError as error:
            raise _PassingError(str(error)) from error
        return answer

    def _patiently(self, url: str, attempt: Callable[[], Response]) -> Response:
        trial, began = 0, time.monotonic()
        while True:
            try:
                return attempt()
            except _PassingError as accident:
                trial += 1
                self._pause(url, accident, trial, began)

    def _pause(self, url: str, accident: _PassingError, trial: int, began: float) -> None:
        """Wait before the next trial, or give up."""
        grown = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(trial, 12)) * random.uniform(0.5, 1)
        pause = max(grown, accident.wait)
        # A host that cannot be reached at all is more often misspelt, or the network down, than busy.
        patience = min(self.patience, _PATIENCE_WITH_NOBODY) if "ConnectError" in str(accident) else self.patience
        if time.monotonic() - began + pause > patience:
            raise DownloadError(url, f"{accident} (tried {trial} times).") from accident
        time.sleep(pause)


def _accidents() -> tuple[type[Exception], ...]:
    """What the HTTP library behind huggingface_hub raises when a connection fails; nothing while it is not in use."""
    if not is_client_loaded():
        return ()
    library: Any = import_module(type(made_client()).__module__.partition(".")[0])
    return (cast(type[Exception], library.TransportError),)


class _PassingError(Exception):
    """An accident after which another trial may succeed, in `wait` seconds at the earliest."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


def _checked(answer: Response, url: str) -> Response:
    status = answer.status_code
    if status < 400:
        return answer
    wait, code = _asked_pause(answer.headers.get("Retry-After")), answer.headers.get("X-Error-Code", "")
    reason = answer.headers.get("X-Error-Message") or answer.reason_phrase
    answer.close()
    if status in _PASSING:
        raise _PassingError(f"the server answered {status} {reason}", wait)
    kind = AccessDeniedError if status in {401, 403} else DownloadError
    raise kind(url, f"the server answered {status} {reason}.", status, code)


def _asked_pause(stated: str | None) -> float:
    """The seconds of a Retry-After header, which may be a number or a date."""
    if not stated:
        return 0.0
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(stated).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0


def _surplus(url: str, answer: Response, at: int) -> int:
    """How many bytes of an answer lie before the range that was asked for."""
    if answer.status_code == 200:
        return at  # the server knows no ranges
    stated = answer.headers.get("Content-Range", "")
    if not stated.startswith(f"bytes {at}-"):
        raise _PassingError(f"the server sent the range {stated!r} instead of the one from {at}")
    return 0
