"""What a Hub states about the files of a commit."""

from __future__ import annotations

import re
from typing import Any

from crucible_datasets.exceptions import DownloadError
from crucible_datasets.records import dataclass
from crucible_datasets.sources.fetching import Expected

COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_TOGETHER = 10_000  # of a very large repository the Hub names only some
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


def stated_revision(answer: Any) -> tuple[str, list[HubFile] | None]:
    """The commit of a revision and its files; None for these where it has too many, or they are not described."""
    found = answer.get("siblings")
    if found is None or len(found) > _MOST_TOGETHER or any("blobId" not in one for one in found):
        return stated_commit(answer), None
    return stated_commit(answer), [_file(one, one["rfilename"], "sha256", one["blobId"]) for one in found]


def stated_files(answer: Any) -> list[HubFile]:
    """The files of one page of a listing."""
    return [_file(one, one["path"], "oid", one["oid"]) for one in answer if one["type"] == "file"]


def _file(entry: Any, path: str, sha256: str, git: str) -> HubFile:
    """A file as it is stated: a large one has a `sha256` under that name, another what git calls it."""
    large = entry.get("lfs")
    hash = str(large[sha256] if large else git)
    if not _HASH.fullmatch(hash):  # it becomes the name of a file
        raise ValueError(hash)
    return HubFile(safe(path), int(entry["size"]), hash, bool(large))


def safe(path: str) -> str:
    """A path that a server stated, once it is known to stay inside its repository."""
    parts = path.split("/")
    if "\\" in path or "\0" in path or any(part in {"", ".", ".."} for part in parts) or ":" in parts[0]:
        raise DownloadError(path, "the server named a file outside of its repository.")
    return path
