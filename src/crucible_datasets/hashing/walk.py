"""`Walk`: feeds values into a digest in a canonical form."""

from __future__ import annotations

import dataclasses
import os
import re
import struct
import types
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import xxhash

from crucible_datasets.exceptions import DatasetsError

if TYPE_CHECKING:
    from collections.abc import Iterator


class UnhashableError(DatasetsError, TypeError):
    """A value contains something that cannot be hashed, such as a lock or an open file."""

    def message(self, kind: str, path: tuple[str, ...] = ()) -> str:
        self.kind, self.path = kind, path
        return f"Cannot hash {', in '.join(path) or 'the value'}: {kind} has no content that could be hashed."

    def inside(self, place: str) -> UnhashableError:
        """The same error, with the path from the enclosing value."""
        return UnhashableError(self.kind, (*self.path, place))


Walker = Callable[["Walk", Any], None]
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_LONGEST_NAME = 200  # characters of a text that may name a variable of the environment

_ATOMS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"",
    type(...): lambda value: b"",
    type(NotImplemented): lambda value: b"",
    bool: lambda value: b"1" if value else b"0",
    int: lambda value: hex(value).encode(),
    float: lambda value: struct.pack("<d", value),
    complex: lambda value: struct.pack("<dd", value.real, value.imag),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: lambda value: value,
    bytearray: bytes,
}


class Mentions:
    """What a walk came across that may name something outside of the values: short texts, and installed packages."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.packages: set[str] = set()
        self.reads_environment = False


class Walk:
    """Feeds values into a digest, each part as tag, length and bytes, so that different values differ.

    Every value that is being walked has a number, which is written when it occurs again; so cycles end. Functions,
    classes and objects keep their number, so shared ones are walked once.
    """

    skips_changing = False  # whether versions of packages, and variables that functions assign, are left out

    def __init__(self, digest: Any, choose: Callable[[type], tuple[Walker, bool]], around: Walk | None = None) -> None:
        self.digest, self._choose = digest, choose
        self._numbers: dict[int, int] = dict(around._numbers) if around else {}
        self._count: int = around._count if around else 0
        # Whether the order of dicts matters, because a function could depend on it.
        self.order_counts: bool = around.order_counts if around else False
        self.mentions: Mentions = around.mentions if around else Mentions()
        # Keeps values alive: the id of a freed object could be reused.
        self._kept: list[Any] = []

    def write(self, tag: str, content: Any = b"") -> None:
        self.digest.update(f"{tag}:{len(content)}:".encode())
        self.digest.update(content)

    def feed(self, value: Any) -> None:
        """Add a value."""
        if self._feed(value) and isinstance(value, (types.FunctionType, type)):
            self._describe(value)

    def end(self) -> None:
        """Add the variables of the environment that texts name, if some code reads the environment."""
        if self.mentions.reads_environment:
            names = {name for text in self.mentions.texts for name in _IDENTIFIER.findall(text)}
            for name in sorted(names & os.environ.keys()):
                self.write("environment", name.encode())
                self.feed(os.environ[name])

    def feed_called(self, value: Any) -> None:
        """Add a function that is only called, so that its name, docstring and annotations do not matter."""
        self._feed(value)

    def _feed(self, value: Any) -> bool:
        """Add a value; whether it is compound."""
        kind = type(value)
        atom = _ATOMS.get(kind)
        if atom is not None:
            self.write(kind.__name__, atom(value))
            if kind is str and len(value) <= _LONGEST_NAME:
                self.mentions.texts.add(value)
            return False
        if id(value) in self._numbers:
            self.write("again", b"%d" % self._numbers[id(value)])
            return True
        walker, by_value = self._choose(kind)
        self._count += 1
        self._numbers[id(value)] = self._count
        walker(self, value)
        if by_value or dataclasses.is_dataclass(kind):
            # Equal lists hash alike, identical or not.
            del self._numbers[id(value)]
        else:
            self._kept.append(value)
        return True

    def _describe(self, value: Any) -> None:
        annotations = value.__annotations__ if isinstance(value, types.FunctionType) else {}
        names = {name: _annotation(each) for name, each in annotations.items()}
        documentation = value.__doc__ if isinstance(value.__doc__, str) else ""
        self.write("seen", repr((value.__name__, documentation, names)).encode("utf-8", "surrogatepass"))

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """A context in which errors are located at `place`."""
        try:
            yield
        except UnhashableError as error:
            raise error.inside(place) from error.__cause__

    def feed_at(self, place: str, value: Any) -> None:
        try:
            self.feed(value)
        except UnhashableError as error:
            raise error.inside(place) from error.__cause__

    def feed_all(self, tag: str, values: Iterable[Any]) -> None:
        items = list(values)
        self.write(tag, b"%d" % len(items))
        for position, item in enumerate(items):
            try:
                self.feed(item)
            except UnhashableError as error:
                raise error.inside(f"item {position} of a {tag}") from error.__cause__

    def feed_attributes(self, owner: str, attributes: dict[str, Any]) -> None:
        self.write("attributes", b"%d" % len(attributes))
        for name in sorted(attributes):
            self.write("name", name.encode("utf-8", "surrogatepass"))
            self.feed_at(f"attribute {name!r} of {owner}", attributes[name])

    def alone(self, value: Any) -> bytes:
        """The digest of a single value, for unordered collections."""
        walk = type(self)(xxhash.xxh64(), self._choose, self)
        walk.feed(value)
        return bytes(walk.digest.digest())


def _annotation(value: Any) -> str:
    # The `repr` of other values may contain a memory address.
    return value.__qualname__ if isinstance(value, type) else str(value).partition(" at 0x")[0]
