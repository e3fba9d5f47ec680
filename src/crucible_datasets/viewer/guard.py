"""Who may ask: programs and pages of this machine that know the token, and they may only read.

A page of another site can make a browser send requests here, and can give its own name the address 127.0.0.1. So the
names in Host and Origin count, not the address, and nothing is answered without the token.
"""

from __future__ import annotations

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
_YEAR = 365 * 24 * 3600

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Guard:
    """An application behind the checks."""

    app: Any
    token: str
    hosts: frozenset[str]  # without a port, which a tunnel may change
    cookie: str
    beginning: str = "/"  # the page that the address with the token leads to

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets; the server starts and stops without asking
            await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
            return
        answer = self._objection(scope) or self.app
        answering = _Answering(send)
        try:
            await answer(scope, receive, answering)
        except Exception as error:
            # What went wrong before an answer began has been told in it.
            if not answering.is_over:
                logger.error("An answer broke off.", exc_info=error)

    def _objection(self, scope: Any) -> Response | None:
        """The error to send instead of an answer; None when the request is in order."""
        headers = Headers(scope=scope)
        if not is_one_of(headers.get("host", ""), self.hosts):
            return refusal(403, "ForeignHost", "This server answers only to its own name.", scope)
        if not self._is_own(headers):
            return refusal(403, "ForeignOrigin", "This server answers only to its own pages.", scope)
        if scope["method"] not in ("GET", "HEAD"):
            return refusal(405, "ReadOnly", "This server only shows things.", scope)
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if "token" in asked and self._is_known(asked.pop("token")):
            return self._with_cookie(self.beginning if scope["path"] == "/" else scope["path"], asked)
        if self._is_known(headers.get(HEADER, "")) or self._is_known(self._cookie(headers)):
            return None
        hint = "Open the address that was printed when the viewer started: it holds the token."
        return refusal(401, "TokenNeeded", "The token is missing or wrong.", scope, hint)

    def _is_own(self, headers: Headers) -> bool:
        own = f"http://{headers.get('host', '')}"
        if headers.get("origin", own).lower() != own.lower():
            return False
        # A link on another page may lead here; its scripts, pictures and frames may not. Browsers call pages of
        # another port of this machine "same-site".
        return headers.get("sec-fetch-site", "none") in _OWN_SITES or headers.get("sec-fetch-dest") == "document"

    def _is_known(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.token.encode())

    def _cookie(self, headers: Headers) -> str:
        return cookie_parser(headers.get("cookie", "")).get(self.cookie, "")

    def _with_cookie(self, path: str, asked: dict[str, str]) -> Response:
        """The same page at an address without the token, which then is in no history and no screenshot."""
        # Two slashes would begin the name of another host.
        place = quote("/" + path.lstrip("/\\")) + (f"?{urlencode(asked)}" if asked else "")
        response = RedirectResponse(place, status_code=303)
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", max_age=_YEAR)
        return response


class _Answering:
    """An answer on its way, with the headers that all have."""

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
