"""What a Hub states about the files of a commit."""

from __future__ import annotations

import re
from typing import Any

from crucible_datasets.exceptions import DownloadError
from crucible_datasets.records import dataclass
from crucible_datasets.sources.fetching import Expected

COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class HubFile:
    """A file of a commit. A large one is known by its sha256, another by what git calls it."""

    path: str
    size: int
    hash: str
    is_large: bool

    @property
    def expected(self) -> Expected:
        known = {"sha256" if self.is_large else "git_sha1": self.hash}
        return Expected(size=self.size, **known)


def stated_commit(answer: Any) -> str:
    """The commit that an answer about a revision names."""
    found = str(answer["sha"])
    if not COMMIT.fullmatch(found):
        raise ValueError(found)
    return found


def stated_files(answer: Any) -> list[HubFile]:
    """The files of one page of a listing."""
    return [
        HubFile(safe(one["path"]), int(one["size"]), _hash(one), bool(one.get("lfs")))
        for one in answer
        if one["type"] == "file"
    ]


def _hash(entry: Any) -> str:
    """The sha256 of a large file, what git calls another; both become names of files."""
    found = str((entry.get("lfs") or entry)["oid"])
    if not _HASH.fullmatch(found):
        raise ValueError(found)
    return found


def safe(path: str) -> str:
    """A path that a server stated, once it is known to stay inside its repository."""
    parts = path.split("/")
    if "\\" in path or "\0" in path or any(part in {"", ".", ".."} for part in parts) or ":" in parts[0]:
        raise DownloadError(path, "the server named a file outside of its repository.")
    return path
