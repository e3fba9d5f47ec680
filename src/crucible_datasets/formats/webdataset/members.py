"""The members of a tar archive in one pass: what each is called, where its content lies, and the content itself.

Nothing is ever written under a name that an archive chose. Folders, links, devices and pipes are no members;
files without an extension, hidden ones and those of `__MACOSX` belong to no sample. An archive that breaks off
is an error with the byte at which it does, after its last whole member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.webdataset.crowded import crowded
from crucible_datasets.formats.webdataset.headers import (
    ABOUT_NEXT,
    BLOCK,
    EMPTY,
    REGULAR,
    SPARSE,
    WITHOUT_DATA,
    decimal,
    header_of,
    told,
)
from crucible_datasets.formats.webdataset.member import Entry, Member, Runs, key_and_extension, reason_to_skip, text_of
from crucible_datasets.formats.webdataset.ordinary import Endings, ordinary
from crucible_datasets.formats.webdataset.sparse import filled, runs_of_gnu, runs_of_pax
from crucible_datasets.formats.webdataset.window import Window

__all__ = ["Member", "entries", "nothing", "walk"]

Wanted = Callable[[str], bool]  # whether the content of members with this extension is wanted


def nothing(_extension: str) -> bool:
    """Wants no content."""
    return False


def walk(
    stream: BinaryIO, path: str, *, start: int = 0, wanted: Wanted | None = None, skipped: Counter[str] | None = None
) -> Iterator[tuple[Member, bytes | None]]:
    """Every member that belongs to a sample, with its content where that is wanted; all is by default.

    `start` is the `begin` of a member; `skipped` counts what was passed over, by reason.
    """
    for key, extension, content, begin, offset, size, runs in entries(stream, path, start, wanted, skipped):
        yield Member(f"{key}.{extension}", offset, size, key, extension, begin, runs), content


def entries(
    stream: BinaryIO, path: str, start: int = 0, wanted: Wanted | None = None, skipped: Counter[str] | None = None
) -> Iterator[Entry]:
    """What `walk` gives, as plain tuples, which are quicker to make."""
    window, endings, looked_through = Window(stream, path, start), Endings(), -1
    skipped = Counter() if skipped is None else skipped
    while True:
        if window.data and window.base != looked_through:  # once, since every block of it is looked at
            looked_through = window.base
            yield from crowded(window, wanted, endings)
        yield from ordinary(window, wanted, endings)
        begin, described = window.position, _described(window)
        if described is None:
            return
        name, size, stored, runs, reason = described
        (key, extension), offset, content = key_and_extension(name), window.position, None
        if reason is None and (wanted is None or wanted(extension)):
            content = _content(name, size, stored, runs, window)
        else:
            window.skip(stored + -stored % BLOCK, name)
        if reason is None:
            yield key, extension, content, begin, offset, size, runs
        else:
            skipped[reason] += 1


def _described(window: Window) -> tuple[str, int, int, Runs | None, str | None] | None:
    """The next member, as all its headers tell: name, size, how much is stored, in which runs, why it is skipped."""
    records: list[tuple[bytes, bytes]] = []
    while (block := window.at_most(BLOCK)) != EMPTY:
        name, size, kind = header_of(block, window)
        if kind in ABOUT_NEXT:
            records += told(kind, size, window)
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
    """Name, size, how much is stored and in which runs, as records say that stand before a header."""
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
