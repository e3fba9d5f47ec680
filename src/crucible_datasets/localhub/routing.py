"""Requests, responses, and the routes between them.

A route is a method, a pattern of the raw path (a `%2F` inside a revision is not a `/`), and a function from request
to response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from typing import Any, BinaryIO
from urllib.parse import unquote, urlencode

from crucible_datasets.localhub.access import Access
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo

PAGE = 1000


@dataclass(frozen=True)
class Request:
    """The request of a client."""

    hub: HubFolder
    access: Access
    method: str
    path: str
    query: Mapping[str, list[str]] = field(repr=False)  # links are signed
    headers: Any = field(repr=False)  # a case-insensitive mapping
    body: BufferedIOBase
    length: int
    origin: str  # the origin under which the client reaches this server
    lfs_origin: str  # the same server under another origin, since the Hub has large files on another host
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def user(self) -> dict[str, str] | None:
        return self.access.user(self.headers.get("Authorization"))

    @property
    def repo(self) -> Repo:
        """The repository of the path, checked to be visible to the user."""
        repo = self.hub.repo(unquote(self.parts["id"]))
        self.access.require_read(repo, self.user)
        return repo

    def writable_repo(self) -> tuple[Repo, str]:
        """The repository of the path, checked to be writable by the user, and the user's name."""
        user = self.access.require_write(self.user)
        return self.repo, user["name"]

    @property
    def revision(self) -> str:
        return unquote(self.parts.get("revision") or "main")

    @property
    def commit(self) -> Commit:
        return self.repo.find(self.revision)

    def flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in {"1", "true"}

    def pieces(self) -> Iterator[bytes]:
        left = self.length
        while left > 0 and (piece := self.body.read(min(left, 1 << 20))):
            left -= len(piece)
            yield piece
        if left > 0:
            raise HubError(400, "BadRequest", "The connection ended before the content did.")

    def content(self) -> bytes:
        return b"".join(self.pieces())

    def json(self) -> Any:
        try:
            return json.loads(self.content() or b"{}")
        except ValueError as error:
            raise HubError(400, "BadRequest", "The content is not JSON.") from error


@dataclass(frozen=True)
class Response:
    """The response to a client: JSON, or a file."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    file: BinaryIO | None = None
    size: int = 0


Route = Callable[[Request], Response]
ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


def route(method: str, pattern: str) -> Callable[[Route], Route]:
    """Register a function for a method and a path."""

    def register(function: Route) -> Route:
        ROUTES.append((method, re.compile(pattern), function))
        return function

    return register


def answer(request: Request) -> Response:
    """The response of the route of a request."""
    method = "GET" if request.method == "HEAD" else request.method
    for known, pattern, function in ROUTES:
        if known == method and (found := pattern.fullmatch(request.path)):
            return function(replace(request, parts=found.groupdict(default="")))
    raise HubError(404, "EntryNotFound", f"This hub does not know {request.method} {request.path}.")


def paged(request: Request, entries: list[Any], headers: Mapping[str, str] | None = None) -> Response:
    """The requested page of a listing, with a link to the next."""
    start = int(request.query.get("cursor", ["0"])[0])
    stop = start + int(request.query.get("limit", [str(PAGE)])[0])
    known = dict(headers or {})
    if stop < len(entries):
        rest = urlencode({**request.query, "cursor": [str(stop)]}, doseq=True)
        known["Link"] = f'<{request.origin}{request.path}?{rest}>; rel="next"'
    return Response(entries[start:stop], headers=known)
