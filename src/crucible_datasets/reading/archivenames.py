"""Archives by name: which files are called like one, and how a path leads to a member of one."""

from __future__ import annotations

import re

EXTENSIONS = (
    *(".zip", ".7z", ".rar", ".tar", ".tgz", ".tbz2", ".txz"),
    *(".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar.lz4"),
)
_CHAIN = re.compile(r"(?P<kind>zip|tar|7z)://(?P<inner>.*?)::(?P<outer>.+)", re.DOTALL)


def has_archive_name(path: str) -> bool:
    """Whether a file is called like an archive."""
    return path.lower().endswith(EXTENSIONS)


def chain_of(path: str) -> tuple[str, str | None]:
    """The archive and the member that `zip://member::archive` names; any other path is no member of anything.

    >>> chain_of("zip://data/a.csv::b.zip"), chain_of("a.csv")
    (('b.zip', 'data/a.csv'), ('a.csv', None))
    """
    chain = _CHAIN.fullmatch(path)
    return (chain["outer"].removeprefix("file://"), chain["inner"]) if chain else (path, None)


def chained(name: str, archive: str) -> str:
    """The path of a member of an archive, as `chain_of` takes it apart."""
    kind = "zip" if archive.lower().endswith(".zip") else "7z" if archive.lower().endswith(".7z") else "tar"
    return f"{kind}://{name}::{archive}"
