"""Uploads: the mode of each file, large contents, and the commit that refers to them.

A commit refers to a large content by its hash. The hash alone is not enough: the committer must have uploaded the
content, or the repository must hold it already, whose files every writer may read.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from crucible_datasets.forking import cached_property
from crucible_datasets.localhub import names
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo, StoredFile, is_large, stored
from crucible_datasets.localhub.routing import parsed

MAX_COMMIT = 1 << 30
MAX_LINE = 16 << 20  # a file of 10 MiB, beyond which LFS is used, in base64
_MAX_CHANGES = 100_000
_Size = Annotated[int, msgspec.Meta(ge=0, lt=1 << 50)]


class UploadedFile(msgspec.Struct):
    """A file that a client is about to upload."""

    path: str
    size: _Size = 0


class LargeObject(msgspec.Struct):
    """A content that a client has, or is about to upload."""

    oid: str
    size: _Size = 0


class _Line(msgspec.Struct):
    key: str
    value: msgspec.Raw


class _Header(msgspec.Struct, rename="camel"):
    summary: str = ""
    description: str = ""
    parent_commit: str | None = None


class _Path(msgspec.Struct):
    path: str


class _SmallFile(_Path):
    content: str
    encoding: str = "utf-8"


class _LargeFile(_Path):
    oid: str


@dataclass(eq=False)
class LargeFiles:
    """The large files that commits of a user to a repository may refer to."""

    hub: HubFolder
    repo: Repo
    user: str

    def find(self, oid: str) -> StoredFile | None:
        """The file with a content that the user has uploaded, or that the repository holds; None if neither is so."""
        if self.hub.uploads.has(self.user, oid) and self.hub.blobs.has(oid):
            return StoredFile(oid, oid[:40], self.hub.blobs.size(oid), True)
        return self._of_repo.get(oid)

    @cached_property
    def _of_repo(self) -> dict[str, StoredFile]:
        return {file.sha256: file for commit in self.repo.heads() for file in commit.files.values()}


def upload_modes(repo: Repo, revision: str, files: Iterable[UploadedFile]) -> list[dict[str, Any]]:
    """For each file, whether it is sent inside the commit or by LFS before it."""
    known = repo.find(revision).files
    entries = []
    for file in files:
        path = names.path(file.path)
        mode = "lfs" if is_large(path, file.size) else "regular"
        entry: dict[str, Any] = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        if path in known:
            entry["oid"] = known[path].sha256 if known[path].is_lfs else known[path].git_sha1
        entries.append(entry)
    return entries


def lfs_batch(
    known: LargeFiles, objects: Iterable[LargeObject], upload_url: Callable[[LargeObject], str], verify_url: str
) -> list[dict[str, Any]]:
    """Where each large content is uploaded; nothing for those that the user may refer to already."""
    entries: list[dict[str, Any]] = []
    for content in objects:
        entry: dict[str, Any] = {"oid": content.oid, "size": content.size, "authenticated": True}
        if not names.is_oid(content.oid):
            entry["error"] = {"code": 422, "message": "The oid is not a sha256."}
        elif known.find(content.oid) is None:
            href = upload_url(content)
            entry["actions"] = {"upload": {"href": href, "header": {}}, "verify": {"href": verify_url, "header": {}}}
        entries.append(entry)
    return entries


def commit(hub: HubFolder, repo: Repo, revision: str, lines: Iterable[bytes], author: str, pull: bool) -> Commit:
    """Create the commit described by JSON lines, on a branch or as a pull request."""
    header = _Header()
    changes: dict[str, StoredFile | None] = {}
    base, known = repo.find(revision), LargeFiles(hub, repo, author)
    for line in lines:
        sent = parsed(line, _Line)
        if sent.key == "header":
            header = parsed(sent.value, _Header)
        elif sent.key == "file":
            small = parsed(sent.value, _SmallFile)
            path = names.path(small.path)
            changes[path] = stored(path, hub.blobs.add([_content(small)]))
        elif sent.key == "lfsFile":
            large = parsed(sent.value, _LargeFile)
            path, file = names.path(large.path), known.find(large.oid)
            if file is None:
                raise HubError(400, "BadRequest", f"The content of {path} was never uploaded.")
            changes[path] = file
        elif sent.key == "deletedFile":
            changes[names.path(parsed(sent.value, _Path).path)] = None
        elif sent.key in {"deletedFolder", "deletedEntry"}:
            folder = names.path(parsed(sent.value, _Path).path.rstrip("/"))
            changes |= {path: None for path in base.files if path == folder or path.startswith(f"{folder}/")}
        else:
            raise HubError(400, "BadRequest", f"A commit cannot contain {sent.key[:100]!a}.")
        if len(changes) > _MAX_CHANGES:
            raise HubError(413, "PayloadTooLarge", f"A commit changes at most {_MAX_CHANGES} files.")
    with repo.lock:  # so that no two pull requests get the same number
        onto = f"refs/pr/{_next_pull_request(repo)}" if pull else branch(repo, revision)
        return repo.commit(changes, header.summary, header.description, author, onto, header.parent_commit, base.id)


def merge(repo: Repo, number: str, author: str) -> Commit:
    """Make the changes of a pull request on the branch main, unless a file was changed there too."""
    asked, main = repo.find(f"refs/pr/{number}"), repo.find("main")
    known = {commit.id for commit in repo.history("main")}
    base = next((commit for commit in repo.history(asked.id) if commit.id in known), None)
    if base is None:
        raise HubError(409, "Conflict", f"Pull request {number} and main have no commit in common: main was squashed.")
    changes: dict[str, StoredFile | None] = {}
    for path in {**base.files, **asked.files}:
        before, now, wanted = (commit.files.get(path) for commit in (base, main, asked))
        if wanted not in (before, now):
            if now != before:
                raise HubError(409, "Conflict", f"{path} was changed on main too.")
            changes[path] = wanted
    return repo.commit(changes, f"Merge pull request {number}: {asked.title}", author=author, expected=main.id)


def _content(file: _SmallFile) -> bytes:
    if file.encoding != "base64":
        return file.content.encode()
    try:
        return base64.b64decode(file.content, validate=True)
    except ValueError as error:  # no base64, or not ASCII
        raise HubError(400, "BadRequest", f"The content of {file.path} is not base64.") from error


def branch(repo: Repo, revision: str) -> str:
    """The ref of a branch, a conversion or a pull request, which commits can be added to."""
    ref = names.ref(revision)
    if ref.startswith("refs/tags/") or ref not in repo.refs():
        raise HubError(404, "RevisionNotFound", f"{repo.id} has no branch {revision!r}.")
    return ref


def _next_pull_request(repo: Repo) -> int:
    numbers = [int(ref.rpartition("/")[2]) for ref in repo.refs() if ref.startswith("refs/pr/")]
    return max(numbers, default=0) + 1
