"""Remote calls between a candidate and its examiner, over one socket, with plain values only.

Either side may send requests while it waits for a reply, so that a function passed as an argument can be called back.
Each side decides what it serves: the candidate everything about its objects, the examiner almost nothing.

Objects are sent as handles. Instances of shared classes, which the code that both sides run defines (the prompt), are
sent with their attributes: each side has a copy that belongs to its own class, brought up to date by every message.
"""

from __future__ import annotations

import contextlib
import enum
import json
import socket
from collections.abc import Callable
from typing import Any

from crucible_datasets.evaluation.sandbox.inside import values
from crucible_datasets.evaluation.sandbox.inside.errors import description_of, exception_of

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
        self.shared: dict[str, type] = {}
        self.own: values.Own = self.shared.get
        self.exported: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._stand_ins: dict[int, Any] = {}
        self._copies: dict[int, int] = {}  # the id of a copy → the number of the other side's object
        self._unsent: list[tuple[int, Any]] = []
        self._reader = connection.makefile("rb")

    def ask(self, operation: str, *arguments: Any) -> Any:
        """The reply to a request; an exception of the other side is raised here."""
        self.tell("ask", operation, self.encoded(list(arguments)))
        while True:
            kind, *content = self.received()
            if kind == "answer":
                return self.decoded(content[0])
            if kind == "error":
                raise exception_of(content[0], content[2], self.own)
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

    def encoded(self, value: Any) -> list[Any]:
        """The value in the form that is sent, and the attributes of all copied objects that it refers to."""
        self._unsent, sent = [], set()
        content, states = values.encode(value, self._export), []
        while self._unsent:
            number, each = self._unsent.pop()
            if number not in sent:
                sent.add(number)
                states.append([number, type(each).__name__, values.encode(_attributes(each), self._export)])
        return [content, states]

    def decoded(self, message: list[Any]) -> Any:
        """The value of a received message."""
        content, states = message
        known = [(self._copy(number, name), state) for number, name, state in states]
        for own, state in known:
            if own is not None:
                _set_attributes(own, values.decode(state, self._import, self.own))
        return values.decode(content, self._import, self.own)

    def _copy(self, number: int, name: str) -> Any:
        """This side's object of a shared class, created when it is first mentioned; None if the class is not shared."""
        if number < 0:
            own = self.exported[-number - 1]
            return own if type(own) is self.shared.get(type(own).__name__) else None
        if number not in self._stand_ins and name in self.shared:
            self._stand_ins[number] = object.__new__(self.shared[name])
            self._copies[id(self._stand_ins[number])] = number
        own = self._stand_ins.get(number)
        return own if id(own) in self._copies else None

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
        number = -self._copies[id(value)] if id(value) in self._copies else self._numbers.get(id(value))
        if isinstance(value, enum.Enum) and type(value) is self.shared.get(type(value).__name__):
            return [type(value).__name__, value.name]
        if number is None:
            self.exported.append(value)  # kept alive, so that its id is not reused
            number = self._numbers[id(value)] = len(self.exported)
        if type(value) is self.shared.get(type(value).__name__):
            self._unsent.append((number, value))
        return number

    def share(self, classes: dict[str, type]) -> list[str]:
        """Share those of the classes whose instances can be copied; returns their names."""
        for name, kind in classes.items():
            with contextlib.suppress(TypeError):  # exceptions, abstract classes
                if not issubclass(kind, enum.Enum):
                    object.__new__(kind)
                self.shared[name] = kind
        return list(self.shared)

    def _import(self, number: Any) -> Any:
        if isinstance(number, list):
            return self.shared[number[0]][number[1]]  # type: ignore[index]
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


def _attributes(value: Any) -> dict[str, Any]:
    """All attributes of an instance, also those in slots."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if not _special(name)]
    return {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})


def _set_attributes(value: Any, attributes: dict[str, Any]) -> None:
    if hasattr(value, "__dict__"):
        value.__dict__.clear()
    for name, each in attributes.items():
        if not _special(name):
            object.__setattr__(value, name, each)


def _special(name: str) -> bool:
    return name.startswith("__")
