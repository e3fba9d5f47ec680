"""Remote calls between a candidate and its examiner, over one socket, with plain values only.

Either side may send requests while it waits for a reply, so that a function passed as an argument can be called back.
Each side decides what it serves: the candidate everything about its objects, the examiner almost nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import socket
from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.sandbox.inside import values

_LONGEST = 64 << 20


class LinkLostError(BaseException):
    """The other side has ended; a BaseException, so that tests do not catch it."""


class Link:
    """One end of the connection: sends requests, and serves those of the other side."""

    def __init__(
        self, connection: socket.socket, answer: Callable[[str, list[Any]], Any], stand_in: Callable[[Link, int], Any]
    ) -> None:
        self.connection, self.answer, self.stand_in = connection, answer, stand_in
        self.lost = False
        self.exported: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._stand_ins: dict[int, Any] = {}
        self._reader = connection.makefile("rb")

    def ask(self, operation: str, *arguments: Any) -> Any:
        """The reply to a request; an exception of the other side is raised here."""
        self.tell("ask", operation, self.encoded(list(arguments)))
        while True:
            kind, *content = self.received()
            if kind == "answer":
                return self.decoded(content[0])
            if kind == "error":
                raise exception_of(content[0], content[1])
            self._serve(*content)

    def serve(self) -> None:
        """Serve requests until the other side ends."""
        while True:
            try:
                kind, *content = self.received()
            except LinkLostError:
                return
            if kind == "ask":
                self._serve(*content)

    def encoded(self, value: Any) -> Any:
        """The value in the form that is sent."""
        return values.encode(value, self._export)

    def decoded(self, value: Any) -> Any:
        """The value of a received message."""
        return values.decode(value, self._import)

    def _serve(self, operation: str, arguments: Any) -> None:
        try:
            answer = self.encoded(self.answer(operation, self.decoded(arguments)))
        except Exception as error:  # noqa: BLE001 – it is the other side's to handle
            self.tell("error", *description_of(error))
        else:
            self.tell("answer", answer)

    def _export(self, value: object) -> Any:
        """The handle of an object; its sign tells which side has the object."""
        number = getattr(type(value), "_number_of", lambda _: None)(value)
        if isinstance(number, int):
            return -number
        if id(value) not in self._numbers:
            self.exported.append(value)  # kept alive, so that its id is not reused
            self._numbers[id(value)] = len(self.exported)
        return self._numbers[id(value)]

    def _import(self, number: Any) -> Any:
        if number < 0:
            return self.exported[-number - 1]
        if number not in self._stand_ins:
            self._stand_ins[number] = self.stand_in(self, number)
        return self._stand_ins[number]

    def tell(self, *message: Any) -> None:
        """Send a message without waiting for a reply."""
        data = json.dumps(message).encode()
        try:
            self.connection.sendall(len(data).to_bytes(8, "big") + data)
        except OSError as error:
            raise self._lost() from error

    def received(self) -> list[Any]:
        """The next message."""
        size = int.from_bytes(self._exactly(8), "big")
        if size > _LONGEST:
            raise self._lost()
        message = json.loads(self._exactly(size))
        return message if isinstance(message, list) else [message]

    def _exactly(self, size: int) -> bytes:
        try:
            data = self._reader.read(size)
        except OSError as error:
            raise self._lost() from error
        if len(data) < size:
            raise self._lost()
        return data

    def _lost(self) -> LinkLostError:
        self.lost = True
        return LinkLostError()


def description_of(error: BaseException) -> tuple[list[str], str]:
    """The class names of an exception, most specific first, and its text."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 – a class of the candidate's
        text = ""
    return [kind.__name__ for kind in type(error).__mro__], text[:10_000]


def exception_of(names: list[str], text: str) -> BaseException:
    """The most specific built-in exception, marked as one of the other side."""
    error: BaseException = Exception(text)
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            with contextlib.suppress(TypeError):  # UnicodeError subclasses need more arguments
                error = kind(text)
                break
    error.of_candidate = True  # type: ignore[attr-defined]
    return error
