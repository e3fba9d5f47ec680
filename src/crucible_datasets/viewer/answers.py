"""Responses: the result of a page function as JSON, or the page that shows it; and one format for all errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from html import escape
from threading import Event
from typing import Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from crucible_datasets.exceptions import DatasetsError, MissingPackageError, RunNotFoundError
from crucible_datasets.logging import get_logger
from crucible_datasets.viewer.errors import NotFoundHereError
from crucible_datasets.viewer.frontend import shell

T = TypeVar("T")
Facts = dict[str, Any]
Page = Callable[[Request], Facts]

CLIENT_LEFT: ContextVar[Event | None] = ContextVar("CLIENT_LEFT", default=None)  # of the request
logger = get_logger(__name__)
_ENDING = ".json"
_STATUSES = {404: "NotFound", 405: "ReadOnly"}
_OF_QUESTIONS = (
    DatasetsError,
    ValueError,
    TypeError,
    LookupError,
    OSError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
)


class _Anything(Convertor[str]):
    """A path parameter that may contain slashes and line ends, as names in data do."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("anything", _Anything())


def answer(page: Page, title: str, script: str | None = None) -> Callable[[Request], Any]:
    """The handler of a page function: JSON if the path ends with .json, else the page that loads it."""

    async def answered(request: Request) -> Response:
        if not request.url.path.endswith(_ENDING):
            return HTMLResponse(shell(title, script))
        try:
            return as_json(await while_connected(request, page))
        except Exception as error:  # noqa: BLE001  (whatever the data or the question makes of it)
            return failure(error)

    return answered


async def while_connected(request: Request, work: Callable[[Request], T]) -> T:
    """The result of work in a thread, since it would block the event loop; the work learns when the client leaves."""
    left = Event()
    CLIENT_LEFT.set(left)
    watching = asyncio.ensure_future(_watch(request, left))
    try:
        return await run_in_threadpool(work, request)
    finally:
        watching.cancel()


async def _watch(request: Request, left: Event) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    left.set()


def as_json(facts: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(msgspec.json.encode(facts, enc_hook=str), status, media_type="application/json")


def failure(error: Exception) -> Response:
    """The response to an error of the query or of the data, or to a bug of the viewer, which is logged."""
    if isinstance(error, HTTPException):
        return _problem(error.status_code, str(error.detail))
    if not isinstance(error, _OF_QUESTIONS):
        logger.error("A page failed.", exc_info=error)
        return as_json(_shape("ViewerError", "The viewer failed at this; its log says where.", None), 500)
    hint = f"pip install '/path/to/clone[{error.extra}]'" if isinstance(error, MissingPackageError) else None
    status = 404 if isinstance(error, (NotFoundHereError, RunNotFoundError)) else 400
    return as_json(_shape(type(error).__name__, str(error), hint), status)


def refusal(status: int, kind: str, message: str, scope: Any, hint: str | None = None) -> Response:
    """The response to a refused request."""
    if str(scope["path"]).endswith(_ENDING):
        return as_json(_shape(kind, message, hint), status)
    text = f"<!doctype html><title>{escape(kind)}</title><h1>{escape(message)}</h1><p>{escape(hint or '')}</p>"
    return HTMLResponse(text, status)


def bad_request(message: str) -> bytes:
    """The response to a request that is not valid HTTP."""
    return msgspec.json.encode(_shape("BadRequest", message, None))


def missing(request: Request, status: int, message: str, hint: str | None = None) -> Response:
    """The response to an unknown path: a page for browsers, JSON for others."""
    is_page = "text/html" in request.headers.get("accept", "") and not request.url.path.endswith(_ENDING)
    return HTMLResponse(shell("Not found"), status) if is_page else _problem(status, message, hint)


def _problem(status: int, message: str, hint: str | None = None) -> Response:
    return as_json(_shape(_STATUSES.get(status, "Refused"), message, hint), status)


def _shape(kind: str, message: str, hint: str | None) -> Facts:
    return {"error": {"type": kind, "message": message, "hint": hint}}
