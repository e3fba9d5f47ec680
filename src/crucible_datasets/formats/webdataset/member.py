"""What a member of a tar shard is, and what its name says: the sample it belongs to, or none."""

from __future__ import annotations

from typing import NamedTuple

Runs = tuple[tuple[int, int], ...]  # where each stored run of bytes lies in the file, and how long it is


# A member while it is read: key, extension, content or None, where its headers begin, where its content does, its size,
# its runs. Naming these for each member would take a third of the time of a walk.
Entry = tuple[str, str, bytes | None, int, int, int, Runs | None]


class Member(NamedTuple):
    """A file in an archive. `offset` is where its content begins once all compression is off."""

    name: str
    offset: int
    size: int
    key: str
    extension: str
    begin: int  # where its headers begin: a walk can start there
    runs: Runs | None = None  # of a file with gaps: what is stored of it, one run behind the other from `offset` on


def text_of(name: bytes) -> str:
    """A name as text; bytes that are none are written out."""
    return name.decode("utf-8", "backslashreplace")


def key_and_extension(name: str) -> tuple[str, str]:
    """The sample that a name belongs to, and what it is in it, as it is written.

    >>> key_and_extension("train/0001.seg.PNG"), key_and_extension("README")
    (('train/0001', 'seg.PNG'), ('README', ''))
    """
    dot = name.find(".", name.rfind("/") + 1)
    return (name, "") if dot < 0 else (name[:dot], name[dot + 1 :])


def reason_to_skip(name: str) -> str | None:
    """Why a file belongs to no sample, None if it does."""
    if name.endswith("/"):
        return "folder"
    if "__MACOSX" in name and "__MACOSX" in name.split("/"):
        return "__MACOSX"
    if name.startswith(".", name.rfind("/") + 1):
        return "hidden"
    return None if key_and_extension(name)[1] else "no extension"
