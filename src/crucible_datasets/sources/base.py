"""`Source`, the interface, and the registry of sources.

A source is one file with one `SOURCE`. It handles the URLs of one kind of storage and does three things: list files in
one pass, read any byte range, and download whole files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Any, BinaryIO, Protocol

from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry

Options = Mapping[str, Any]  # of the storage: credentials, endpoints


@dataclass(frozen=True)
class SourceFile:
    """A file of a source: its URL, its path below what was listed, an identity that changes with its content.

    A URL may contain a signature or a password, so it is not shown.
    """

    url: str = field(repr=False)
    path: str
    size: int | None
    identity: tuple[str | int, ...] = field(repr=False)
    known: Any = field(default=None, compare=False, repr=False)  # private to the source
    is_below: bool = field(default=False, compare=False, repr=False)  # found below a folder or by a pattern
    modified: float | None = field(default=None, compare=False, repr=False)  # in seconds since 1970, if known


class Listing(Protocol):
    """Every file at or below a URL, sorted by path; a URL with wildcards is a pattern."""

    def __call__(self, url: str, options: Options) -> list[SourceFile]: ...


def never_changes(file: SourceFile, options: Options) -> None:
    """Nothing to check: every response states its version, or the content of a URL never changes."""


@dataclass(frozen=True)
class Source:
    """One kind of storage. `require_same` raises if a file has changed since it was listed."""

    name: str
    schemes: tuple[str, ...]
    listed: Listing
    opened: Callable[[SourceFile, Options], BinaryIO]
    fetched: Callable[[Sequence[SourceFile], Options], list[str]]
    aliases: tuple[str, ...] = ()
    require_same: Callable[[SourceFile, Options], None] = never_changes


@dataclass(frozen=True)
class Elsewhere:
    """A file that is read remotely, with the options to reach it."""

    file: SourceFile
    options: Options = field(default_factory=dict, repr=False)

    def open(self) -> BinaryIO:
        """A stream that fetches bytes as they are read."""
        return source_of(self.file.url).opened(self.file, self.options)

    def require_same(self) -> None:
        """Raise if it has changed."""
        source_of(self.file.url).require_same(self.file, self.options)


SOURCES: Registry[Source] = Registry("source", "crucible_datasets.sources", "SOURCE")
_OWN = ("local", "hub", "http", "cloud")


def scheme_of(url: str) -> str:
    """The scheme of a URL: `s3` of `s3://…`, the outermost one of `zip://…::s3://…`; empty for a path."""
    head, mark, _ = url.partition("://")
    return head if mark and head.replace("+", "").replace("-", "").isalnum() else ""


def source_of(url: str) -> Source:
    """The source that handles a URL; `cloud` handles everything that fsspec does, including chained URLs."""
    scheme = scheme_of(url)
    if "::" not in url:
        for name in chain(_OWN, SOURCES):  # third-party sources last: finding them is slow
            if scheme in SOURCES[name].schemes:
                return SOURCES[name]
    return SOURCES["cloud"]
