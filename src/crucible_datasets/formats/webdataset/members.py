"""The members of a tar archive in one pass: name, offset and content of each.

No file is ever written under a name from an archive. Directories, links, devices and pipes are skipped, and so are
files without extension, hidden files and `__MACOSX`. A truncated archive raises an error with the offset of its end,
after its last complete member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.webdataset.headers import (
    ABOUT_NEXT,
    BLOCK,
    EMPTY,
    REGULAR,
    SPARSE,
    WITHOUT_DATA,
    decimal,
    extended_records,
    header_of,
)
from crucible_datasets.formats.webdataset.member import Entry, Member, Runs, key_and_extension, reason_to_skip, text_of
from crucible_datasets.formats.webdataset.ordinary import Endings, ordinary
from crucible_datasets.formats.webdataset.sparse import filled, runs_of_gnu, runs_of_pax
from crucible_datasets.formats.webdataset.vectorized import close_members
from crucible_datasets.formats.webdataset.window import Window

__all__ = ["Member", "entries", "nothing", "walk"]

Wanted = Callable[[str], bool]  # whether the content of members with this extension is needed


def nothing(_extension: str) -> bool:
    """A `Wanted` that needs no content."""
    return False


def walk(
    stream: BinaryIO, path: str, *, start: int = 0, wanted: Wanted | None = None, skipped: Counter[str] | None = None
) -> Iterator[tuple[Member, bytes | None]]:
    """Every member that belongs to a sample, with its content if `wanted` (default: all).

    `start` is the `begin` of a member; `skipped` counts the skipped members by reason.
    """
    for key, extension, content, begin, offset, size, runs in entries(stream, path, start, wanted, skipped):
        yield Member(f"{key}.{extension}", offset, size, key, extension, begin, runs), content


def entries(
    stream: BinaryIO, path: str, start: int = 0, wanted: Wanted | None = None, skipped: Counter[str] | None = None
) -> Iterator[Entry]:
    """What `walk` yields, as plain tuples, which are faster to create."""
    window, endings, looked_through = Window(stream, path, start), Endings(), -1
    skipped = Counter() if skipped is None else skipped
    while True:
        if window.data and window.base != looked_through:  # once per buffer, since it scans every block of it
            looked_through = window.base
            yield from close_members(window, wanted, endings)
        yield from ordinary(window, wanted, endings)
        begin, described = window.position, _described(window)
        if described is None:
            return
        name, size, stored, runs, reason = described
        (key, extension), offset, content = key_and_extension(name), window.position, None
        try:
            if reason is None and (wanted is None or wanted(extension)):
                content = _content(name, size, stored, runs, window)
            else:
                window.skip(stored + -stored % BLOCK, name)
        except FileFormatError:
            if reason is None:  # the name of a broken member tells whether the sample before it is complete
                yield key, extension, None, begin, offset, size, runs
            raise
        if reason is None:
            yield key, extension, content, begin, offset, size, runs
        else:
            skipped[reason] += 1


def _described(window: Window) -> tuple[str, int, int, Runs | None, str | None] | None:
    """The next member from all its headers: name, size, stored size, runs, and the reason to skip it."""
    records: list[tuple[bytes, bytes]] = []
    while (block := window.at_most(BLOCK)) != EMPTY:
        name, size, kind = header_of(block, window)
        if kind in ABOUT_NEXT:
            records += extended_records(kind, size, window)
            continue
        name, size, stored, runs = _amended(name, size, records, window) if records else (name, size, size, None)
        size, stored = (0, 0) if kind in WITHOUT_DATA else (size, stored)
        if kind == SPARSE:
            size, runs = runs_of_gnu(block, window)
        if runs is not None and sum(length for _, length in runs) > stored:
            raise FileFormatError(window.path, "a member states more content than it has", None, window.position)
        text = text_of(name)
        is_file = kind in REGULAR or kind == SPARSE
        return text, size, stored, runs, reason_to_skip(text) if is_file else "folder" if kind == b"5" else "no file"
    if records:
        raise FileFormatError(window.path, "a header tells of a member that does not follow", None, window.position)
    return None


def _amended(
    name: bytes, size: int, records: list[tuple[bytes, bytes]], window: Window
) -> tuple[bytes, int, int, Runs | None]:
    """Name, size, stored size and runs, after the records of extended headers are applied."""
    last = dict(records)
    name, size = last.get(b"path", name), decimal(last[b"size"], window) if last.get(b"size") else size
    if not any(key.startswith(b"GNU.sparse") for key in last):
        return name, size, size, None
    real_size, runs, used = runs_of_pax(records, size, window)
    return last.get(b"GNU.sparse.name", name), real_size, size - used, runs


def _content(name: str, size: int, stored: int, runs: Runs | None, window: Window) -> bytes:
    if max(size, stored) > config.MAX_MEMBER_BYTES:
        limit, setting = config.MAX_MEMBER_BYTES, "config.MAX_MEMBER_BYTES"
        raise LimitExceededError(window.path, f"member {name!r}", limit, setting)
    content = window.take(stored, name, -stored % BLOCK)
    return content if runs is None else filled(content, runs, size)
