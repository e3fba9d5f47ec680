"""Requests, responses, and the routes between them.

A route is a method, a pattern of the raw path (a `%2F` inside a revision is not a `/`), a permission, a bound for the
body, and a function from request to response. The permission is checked before any of the body is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlencode

import msgspec

from crucible_datasets.localhub import names
from crucible_datasets.localhub.access import Access, User
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo

PAGE = 1000
JSON_BYTES = 1 << 20
_BLOCK = 1 << 20
_NUMBER = re.compile(r"[0-9]{1,9}")
T = TypeVar("T")


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
    def user(self) -> User | None:
        return self.access.user(self.headers.get("Authorization"))

    @property
    def id(self) -> str:
        """The name of the repository or bucket in the path."""
        return names.repo(names.decoded(self.parts["id"]))

    @property
    def repo(self) -> Repo:
        return self.hub.repo(self.id)

    @property
    def writer(self) -> str:
        """The name of the user, who may write."""
        return self.access.require_writer(self.user)["name"]

    @property
    def revision(self) -> str:
        return names.decoded(self.parts.get("revision") or "main")

    @property
    def commit(self) -> Commit:
        return self.repo.find(self.revision)

    @property
    def file(self) -> str:
        """The path of a file inside the repository or bucket."""
        return names.path(names.decoded(self.parts["path"]))

    @property
    def folder(self) -> str:
        """The path of a folder inside the repository or bucket; empty for all of it."""
        text = names.decoded(self.parts["path"]).strip("/")
        return names.path(text) if text else ""

    def flag(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in {"1", "true"}

    def number(self, name: str, default: int, least: int = 0) -> int:
        """A number of the query."""
        text = self.query.get(name, [str(default)])[0]
        if not _NUMBER.fullmatch(text) or int(text) < least:
            raise HubError(400, "BadRequest", f"{name}={text[:20]!a} is not a number from {least} to 999999999.")
        return int(text)

    def pieces(self) -> Iterator[bytes]:
        """The body in blocks."""
        left = self.length
        while left > 0 and (piece := self.body.read(min(left, _BLOCK))):
            left -= len(piece)
            yield piece
        if left > 0:
            raise HubError(400, "BadRequest", "The connection ended before the content did.")

    def lines(self, most: int) -> Iterator[bytes]:
        """The lines of the body, none of them longer than `most` bytes."""
        left = self.length
        while left > 0 and (line := self.body.readline(most + 1)):
            left -= len(line)
            if len(line) > most:
                raise HubError(413, "PayloadTooLarge", f"A line has more than {most} bytes: send the file by LFS.")
            if line.strip():
                yield line
        if left > 0:
            raise HubError(400, "BadRequest", "The connection ended before the content did.")

    def content(self) -> bytes:
        return b"".join(self.pieces())

    def json(self, type: type[T]) -> T:
        """The body as a value of a type."""
        return parsed(self.content() or b"{}", type)


def parsed(content: bytes | msgspec.Raw, type: type[T]) -> T:
    """JSON of a client as a value of a type."""
    try:
        return msgspec.json.decode(content, type=type)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HubError(400, "BadRequest", f"The content is not the expected JSON: {str(error)[:200]}.") from error


@dataclass(frozen=True)
class Response:
    """The response to a client: JSON, or a file."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    file: BinaryIO | None = None
    size: int = 0


Function = Callable[[Request], Response]
Permission = Callable[[Request], object]


@dataclass(frozen=True)
class Route:
    """What answers the requests of one method whose paths match a pattern."""

    method: str
    pattern: re.Pattern[str]
    permission: Permission
    max_bytes: int
    function: Function


ROUTES: list[Route] = []


def route(
    method: str, pattern: str, permission: Permission, max_bytes: int = JSON_BYTES
) -> Callable[[Function], Function]:
    """Register a function for a method and a path."""

    def register(function: Function) -> Function:
        ROUTES.append(Route(method, re.compile(pattern), permission, max_bytes, function))
        return function

    return register


def anyone(request: Request) -> None:
    """Whoever asks; a token that is not valid is an error nevertheless."""
    _ = request.user


def reader(request: Request) -> None:
    """Whoever may see the repository."""
    request.access.require_visible(request.repo, request.user)


def contents_reader(request: Request) -> None:
    """Whoever may read the files of the repository."""
    request.access.require_contents(request.repo, request.user)


def writer(request: Request) -> None:
    """Whoever may write at all."""
    request.access.require_writer(request.user)


def repo_writer(request: Request) -> None:
    """Whoever may write to the repository."""
    request.access.require_writer(request.user)  # before the repository is looked for
    request.access.require_write(request.repo, request.user)


def owner(request: Request) -> None:
    """Who owns the repository."""
    request.access.require_writer(request.user)
    request.access.require_owner(request.repo, request.user)


def answer(request: Request) -> Response:
    """The response of the route of a request."""
    method = "GET" if request.method == "HEAD" else request.method
    for route in ROUTES:
        if route.method == method and (match := route.pattern.fullmatch(request.path)):
            request = replace(request, parts=match.groupdict(default=""))
            route.permission(request)
            if request.length > route.max_bytes:
                most = f"{request.length} bytes are more than the {route.max_bytes} that are read here."
                raise HubError(413, "PayloadTooLarge", most)
            return route.function(request)
    raise HubError(404, "EntryNotFound", f"This hub does not know {request.method} {request.path[:200]}.")


def paged(request: Request, entries: list[Any], headers: Mapping[str, str] | None = None) -> Response:
    """The requested page of a listing, with a link to the next."""
    start = request.number("cursor", 0)
    stop = start + min(request.number("limit", PAGE, least=1), PAGE)
    known = dict(headers or {})
    if stop < len(entries):
        rest = urlencode({**request.query, "cursor": [str(stop)]}, doseq=True)
        known["Link"] = f'<{request.origin}{request.path}?{rest}>; rel="next"'
    return Response(entries[start:stop], headers=known)
