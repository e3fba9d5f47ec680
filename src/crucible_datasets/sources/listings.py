"""Cached listings of URLs, by which downloaded files are found offline.

    <downloads>/listings/<key>    the files of one URL: paths, sizes, identities

A URL may contain a password or a signature, which must not be stored. So of each file's URL only the difference from
the listed URL is stored; the whole is rebuilt when the same URL is listed again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import xxhash

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.private import make_private, open_own
from crucible_datasets.exceptions import OfflineError, without_secrets
from crucible_datasets.sources.base import Options, SourceFile, scheme_of, source_of
from crucible_datasets.sources.downloads import already_downloaded

_HERE = {"", "file", "local", "memory", "data"}
_ENDPOINT = re.compile(r"\w+://[^;@]*")


def listed(url: str, options: Options) -> list[SourceFile]:
    """The files at a URL; offline, those of the last listing."""
    if not _needs_network(url):
        return source_of(url).listed(url, options)
    if not config.is_offline():
        found = source_of(url).listed(url, options)
        _keep(url, options, found)
        return found
    known = _kept(url, options)
    if known is None:
        raise OfflineError(without_secrets(url))
    return known


def fetched(url: str, files: Sequence[SourceFile], options: Options) -> list[str]:
    """Download files of a URL; offline, those that have been downloaded before."""
    if config.is_offline() and _needs_network(url):
        return already_downloaded(files)
    return source_of(url).fetched(files, options)


def _needs_network(url: str) -> bool:
    """Whether a URL can be listed only online. The last URL of a chain decides; datasets of the Hub have a cache."""
    return scheme_of(url.rpartition("::")[2]) not in _HERE and not url.startswith("hf://datasets/")


def _keep(url: str, options: Options, files: Sequence[SourceFile]) -> None:
    facts = [[_difference(url, file.url), file.path, file.size, _masked(file)] for file in files]
    path = _note_of(url, options)
    with suppress(OSError):  # a read-only cache
        make_private(os.path.dirname(path))
        with atomic_file(path, is_lasting=False) as temporary, open(temporary, "w", encoding="utf-8") as note:
            json.dump(facts, note)


def _kept(url: str, options: Options) -> list[SourceFile] | None:
    try:
        with open_own(_note_of(url, options), encoding="utf-8") as note:
            return [_file(url, *facts) for facts in json.load(note)]
    except (OSError, ValueError, TypeError):
        return None


def _note_of(url: str, options: Options) -> str:
    """The path of a cached listing: it depends on URL and endpoint, not on credentials."""
    key = xxhash.xxh3_128_hexdigest("\n".join([url, *sorted(_endpoints(options))]).encode())
    return os.path.join(config.DOWNLOADED_DATASETS_PATH, "listings", key)


def _endpoints(options: Any) -> Iterator[str]:
    if isinstance(options, Mapping):
        for value in options.values():
            yield from _endpoints(value)
    elif isinstance(options, str) and _ENDPOINT.fullmatch(options):
        yield options


def _difference(url: str, other: str) -> tuple[int, str, int]:
    """How many characters another URL shares with this one at its start and its end, and those between."""
    start = _shared(url, other)
    left = other[start:]
    end = _shared(url[start:][::-1], left[::-1])
    return start, left[: len(left) - end], end


def _shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _masked(file: SourceFile) -> list[str | int | None]:
    return [None if part == file.url else part for part in file.identity]


def _file(url: str, difference: tuple[int, str, int], path: str, size: int | None, masked: list[Any]) -> SourceFile:
    start, between, end = difference
    whole = url[:start] + between + url[len(url) - end :]
    return SourceFile(whole, path, size, tuple(whole if part is None else part for part in masked))
