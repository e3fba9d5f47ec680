"""Access control: read-only requests of programs with the token, and of browsers that have entered (`entry`).

A page of another site can make a browser send requests here, and can resolve its own host name to 127.0.0.1 (DNS
rebinding). So Host and Origin are checked, and every request needs the token or the session.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response

from crucible_datasets.hosts import is_one_of
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.answers import refusal
from crucible_datasets.viewer.entry import TICKET, Entry

logger = get_logger(__name__)
HEADER = "x-crucible-token"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_OWN_SITES = ("none", "same-origin")
_PORT = re.compile(r":\d{1,5}\Z")

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Guard:
    """An ASGI application behind the checks."""

    app: Any
    entry: Entry
    hosts: frozenset[str]  # without a port, which a tunnel may change
    cookie: str
    beginning: str = "/"  # the page to which the URL with the token redirects

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets; the server starts and stops without asking
            await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
            return
        answer = self._objection(scope) or self.app
        answering = _Answering(send)
        try:
            await answer(scope, receive, answering)
        except Exception as error:
            # An error before the response began has been sent in it.
            if not answering.is_over:
                logger.error("An answer broke off.", exc_info=error)

    def _objection(self, scope: Any) -> Response | None:
        """The error response to an invalid request; None if the request is valid."""
        headers = Headers(scope=scope)
        if not is_one_of(headers.get("host", ""), self.hosts):
            return refusal(403, "ForeignHost", "This server answers only to its own name.", scope)
        if not self._is_own(headers):
            return refusal(403, "ForeignOrigin", "This server answers only to its own pages.", scope)
        if scope["method"] not in ("GET", "HEAD"):
            return refusal(405, "ReadOnly", "This server only shows things.", scope)
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if scope["method"] == "GET" and TICKET in query and self.entry.redeem(query.pop(TICKET)):
            return self._entered(headers.get("host", ""), scope["path"], query)
        if _same(headers.get(HEADER, ""), self.entry.token):
            return None
        if self.entry.keeps_session(headers.get("host", "")) and _same(self._cookie(headers), self.entry.session):
            return None
        hint = "Each address of the viewer opens it once: print `viewer.url`, or see where `crucible view` runs."
        return refusal(401, "TokenNeeded", "The token is missing, wrong or has been used.", scope, hint)

    def _is_own(self, headers: Headers) -> bool:
        own = f"http://{headers.get('host', '')}"
        if headers.get("origin", own).lower() != own.lower():
            return False
        # Links on other sites may lead here; their scripts, images and frames may not. For browsers, other ports of
        # this machine are "same-site".
        return headers.get("sec-fetch-site", "none") in _OWN_SITES or headers.get("sec-fetch-dest") == "document"

    def _cookie(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie, "")

    def _entered(self, host: str, path: str, query: dict[str, str]) -> Response:
        """A redirect to the private host name; from there to the page without the ticket, with the cookie."""
        if self.entry.moves(host):
            port = _PORT.search(host)
            query = {**query, TICKET: self.entry.passed_on()}
            return RedirectResponse(f"http://{self.entry.host}{port[0] if port else ''}{_place(path, query)}", 303)
        response = RedirectResponse(_place(self.beginning if path == "/" else path, query), 303)
        response.set_cookie(self.cookie, self.entry.session, httponly=True, samesite="lax")
        return response


def _place(path: str, query: dict[str, str]) -> str:
    # Two slashes would begin a host name.
    return quote("/" + path.lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


class _Answering:
    """Sends a response with the common headers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_over = False

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        self.is_over = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)
