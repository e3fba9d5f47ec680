"""Members with the same key are one sample, which is complete when another key or the end of the archive follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crucible_datasets.exceptions import ArgumentError, FileFormatError
from crucible_datasets.formats.webdataset.member import Entry

WAYS = ("error", "gather")
KEY, URL = "__key__", "__url__"  # fields of every sample besides its files


class RawSample(NamedTuple):
    """The files of one sample by extension; None for a content that was not requested."""

    begin: int  # offset of the headers of its first member
    key: str
    files: dict[str, bytes | None]


def grouped(entries: Iterable[Entry], path: str, scattered: str = "error") -> Iterator[RawSample]:
    """The samples in the order of their first members; `scattered="gather"` keeps all of them in memory."""
    if scattered not in WAYS:
        raise ArgumentError("scattered", scattered, f"expected one of {', '.join(WAYS)}.")
    return _gathered(entries, path) if scattered == "gather" else _side_by_side(entries, path)


def _side_by_side(entries: Iterable[Entry], path: str) -> Iterator[RawSample]:
    key, begin, seen = None, 0, set[int]()  # hashes, since the keys of a long archive take much memory
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
    """The error for a file with the field name of another file or of a metadata field."""
    return FileFormatError(path, f"member {member!r} takes the place of another {name!r}", None, offset)


def _twice(name: str, path: str, offset: int) -> FileFormatError:
    return FileFormatError(path, f"member {name!r} is there twice", None, offset)
