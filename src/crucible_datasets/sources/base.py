"""What a source is, and where sources are found.

A source is one file with one `SOURCE`. It knows the addresses of one kind of place and does three things: list
what is there in one pass, give bytes of any range, and bring whole files to this disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Any, BinaryIO, Protocol

from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry

Options = Mapping[str, Any]  # what a user says about a place: credentials, endpoints


@dataclass(frozen=True)
class SourceFile:
    """A file at a source: its address, its path below what was listed, an identity that changes with its content.

    An address may hold a signature or a password, so it is not shown.
    """

    url: str = field(repr=False)
    path: str
    size: int | None
    identity: tuple[str | int, ...] = field(repr=False)
    known: Any = field(default=None, compare=False, repr=False)  # what the source itself wants to remember
    is_below: bool = field(
        default=False, compare=False, repr=False
    )  # whether what was listed is a folder, or a pattern


class Listing(Protocol):
    """Every file at or below an address, sorted by path; an address with `*` is a pattern."""

    def __call__(self, url: str, options: Options) -> list[SourceFile]: ...


def stays_as_it_is(file: SourceFile, options: Options) -> None:
    """Nothing to check: every answer tells its version, or an address means one content for ever."""


@dataclass(frozen=True)
class Source:
    """One kind of place. `require_same` raises if a file is not the one any more that was listed."""

    name: str
    schemes: tuple[str, ...]
    listed: Listing
    opened: Callable[[SourceFile, Options], BinaryIO]
    fetched: Callable[[Sequence[SourceFile], Options], list[str]]
    aliases: tuple[str, ...] = ()
    require_same: Callable[[SourceFile, Options], None] = stays_as_it_is


@dataclass(frozen=True)
class Elsewhere:
    """A file that is read where it is, and what it takes to reach it."""

    file: SourceFile
    options: Options = field(default_factory=dict, repr=False)

    def open(self) -> BinaryIO:
        """Its bytes, fetched where they are read."""
        return source_of(self.file.url).opened(self.file, self.options)

    def require_same(self) -> None:
        """Raise if it is another file by now."""
        source_of(self.file.url).require_same(self.file, self.options)


SOURCES: Registry[Source] = Registry("source", "crucible_datasets.sources", "SOURCE")
_OWN = ("local", "hub", "http", "cloud")


def scheme_of(url: str) -> str:
    """The scheme of an address: `s3` of `s3://…`, that of the outermost of `zip://…::s3://…`; empty for a path."""
    head, mark, _ = url.partition("://")
    return head if mark and head.replace("+", "").replace("-", "").isalnum() else ""


def source_of(url: str) -> Source:
    """The source that knows an address; `cloud` knows whatever fsspec does, also one place inside another."""
    scheme = scheme_of(url)
    if "::" not in url:
        for name in chain(_OWN, SOURCES):  # Those of others are looked for last: that takes a while.
            if scheme in SOURCES[name].schemes:
                return SOURCES[name]
    return SOURCES["cloud"]
