"""`Member`, a file in a tar shard, and the sample and extension in its name."""

from __future__ import annotations

from typing import NamedTuple

Runs = tuple[tuple[int, int], ...]  # offset in the file and length of each stored run of bytes


# A member while it is read: key, extension, content or None, offset of its headers, offset of its content, size,
# runs. Creating a named tuple for each member would take a third of the time of a walk.
Entry = tuple[str, str, bytes | None, int, int, int, Runs | None]


class Member(NamedTuple):
    """A file in an archive. `offset` is the offset of its content in the decompressed archive."""

    name: str
    offset: int
    size: int
    key: str
    extension: str
    begin: int  # offset of its headers: a walk can start there
    runs: Runs | None = None  # of a sparse file: the stored runs, which follow each other from `offset` on


def text_of(name: bytes) -> str:
    """A name as text; invalid UTF-8 is escaped."""
    return name.decode("utf-8", "backslashreplace")


def key_and_extension(name: str) -> tuple[str, str]:
    """The key and the extension of a name.

    >>> key_and_extension("train/0001.seg.PNG"), key_and_extension("README")
    (('train/0001', 'seg.PNG'), ('README', ''))
    """
    dot = name.find(".", name.rfind("/") + 1)
    return (name, "") if dot < 0 else (name[:dot], name[dot + 1 :])


def reason_to_skip(name: str) -> str | None:
    """Why a file does not belong to a sample; None if it does."""
    if name.endswith("/"):
        return "folder"
    if "__MACOSX" in name and "__MACOSX" in name.split("/"):
        return "__MACOSX"
    if name.startswith(".", name.rfind("/") + 1):
        return "hidden"
    return None if key_and_extension(name)[1] else "no extension"
