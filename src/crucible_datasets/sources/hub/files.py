"""The Hub's descriptions of commits and their files, parsed."""

from __future__ import annotations

import re
from typing import Any

from crucible_datasets.exceptions import DownloadError
from crucible_datasets.records import dataclass
from crucible_datasets.sources.fetching import Expected

COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_TOGETHER = 10_000  # the Hub truncates longer listings
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True)
class HubFile:
    """A file of a commit. Its hash is the sha256 of a large (LFS) file, else that of the git blob."""

    path: str
    size: int
    hash: str
    is_large: bool

    @property
    def expected(self) -> Expected:
        known = {"sha256" if self.is_large else "git_sha1": self.hash}
        return Expected(size=self.size, **known)


def parsed_commit(response: Any) -> str:
    """The commit of a revision."""
    found = str(response["sha"])
    if not COMMIT.fullmatch(found):
        raise ValueError(found)
    return found


def parsed_revision(response: Any) -> tuple[str, list[HubFile] | None]:
    """The commit of a revision and its files; None for the files if the listing may be incomplete."""
    found = response.get("siblings")
    if found is None or len(found) > _MOST_TOGETHER or any("blobId" not in one for one in found):
        return parsed_commit(response), None
    return parsed_commit(response), [_file(one, one["rfilename"], "sha256", one["blobId"]) for one in found]


def parsed_files(response: Any) -> list[HubFile]:
    """The files of one page of a listing."""
    return [_file(one, one["path"], "oid", one["oid"]) for one in response if one["type"] == "file"]


def _file(entry: Any, path: str, sha256: str, git: str) -> HubFile:
    """One entry; `sha256` is the key of a large file's hash, `git` the hash of any other file."""
    large = entry.get("lfs")
    hash = str(large[sha256] if large else git)
    if not _HASH.fullmatch(hash):  # it becomes the name of a file
        raise ValueError(hash)
    return HubFile(safe_path(path), int(entry["size"]), hash, bool(large))


def safe_path(path: str) -> str:
    """The path, if it stays inside the repository; else an error."""
    parts = path.split("/")
    if "\\" in path or "\0" in path or any(part in {"", ".", ".."} for part in parts) or _DRIVE.match(path):
        raise DownloadError(path, "the server named a file outside of its repository.")
    return path
