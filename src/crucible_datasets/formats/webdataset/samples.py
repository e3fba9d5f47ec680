"""Members with one key are one sample, which is whole as soon as another key follows, or the end of the archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crucible_datasets.exceptions import ArgumentError, FileFormatError
from crucible_datasets.formats.webdataset.member import Entry

WAYS = ("error", "gather")
KEY, URL = "__key__", "__url__"  # what every sample has besides its files


class RawSample(NamedTuple):
    """The files of one sample by their extensions; None is a content that was not wanted."""

    begin: int  # where the headers of its first member begin
    key: str
    files: dict[str, bytes | None]


def grouped(entries: Iterable[Entry], path: str, scattered: str = "error") -> Iterator[RawSample]:
    """The samples in the order of their first members; one is held at a time, or all to `gather` scattered ones."""
    if scattered not in WAYS:
        raise ArgumentError("scattered", scattered, f"expected one of {', '.join(WAYS)}.")
    return _gathered(entries, path) if scattered == "gather" else _side_by_side(entries, path)


def _side_by_side(entries: Iterable[Entry], path: str) -> Iterator[RawSample]:
    key, begin, seen = None, 0, set[int]()  # hashes: a long archive has more keys than one likes to hold
    files: dict[str, bytes | None] = {}
    for of_sample, extension, content, at, _, _, _ in entries:
        if of_sample != key:
            if key is not None:
                yield RawSample(begin, key, files)
            key, begin, files = of_sample, at, {}
            if (mark := hash(key)) in seen:
                raise _scattered(key, path, at)
            seen.add(mark)
        elif extension in files:
            raise _twice(f"{key}.{extension}", path, at)
        files[extension] = content
    if key is not None:
        yield RawSample(begin, key, files)


def _gathered(entries: Iterable[Entry], path: str) -> Iterator[RawSample]:
    samples: dict[str, RawSample] = {}
    for key, extension, content, at, _, _, _ in entries:
        sample = samples.setdefault(key, RawSample(at, key, {}))
        if extension in sample.files:
            raise _twice(f"{key}.{extension}", path, at)
        sample.files[extension] = content
    yield from samples.values()


def _scattered(key: str, path: str, offset: int) -> FileFormatError:
    reason = f"the files of sample {key!r} do not lie side by side; scattered='gather' collects them, in memory"
    return FileFormatError(path, reason, None, offset)


def in_the_place_of(name: str, member: str, path: str, offset: int) -> FileFormatError:
    """The error for a file that would be called as another one, or as what every sample has."""
    return FileFormatError(path, f"member {member!r} takes the place of another {name!r}", None, offset)


def _twice(name: str, path: str, offset: int) -> FileFormatError:
    return FileFormatError(path, f"member {name!r} is there twice", None, offset)
