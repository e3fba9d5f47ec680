"""Uploads: the mode of each file, large contents, and the commit that refers to them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo, StoredFile, is_large, stored


def upload_modes(repo: Repo, revision: str, files: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each file, whether it is sent inside the commit or by LFS before it."""
    known = repo.find(revision).files
    entries = []
    for file in files:
        path = checked(file["path"])
        mode = "lfs" if is_large(path, int(file.get("size", 0))) else "regular"
        entry: dict[str, Any] = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        if path in known:
            entry["oid"] = known[path].sha256 if known[path].is_lfs else known[path].git_sha1
        entries.append(entry)
    return entries


def lfs_batch(hub: HubFolder, objects: Iterable[Mapping[str, Any]], upload_url: str, verify_url: str) -> list[Any]:
    """Where each large content is uploaded; nothing for those that exist already."""
    entries: list[Any] = []
    for wanted in objects:
        sha256, entry = str(wanted["oid"]), {"oid": wanted["oid"], "size": wanted["size"], "authenticated": True}
        if not _is_sha256(sha256):
            entry["error"] = {"code": 422, "message": "The oid is not a sha256."}
        elif not hub.blobs.has(sha256):
            href = f"{upload_url}/{sha256}"
            entry["actions"] = {"upload": {"href": href, "header": {}}, "verify": {"href": verify_url, "header": {}}}
        entries.append(entry)
    return entries


def commit(hub: HubFolder, repo: Repo, revision: str, lines: Iterable[bytes], author: str, pull: bool) -> Commit:
    """Create the commit described by JSON lines, on a branch or as a pull request."""
    header: Mapping[str, Any] = {}
    changes: dict[str, StoredFile | None] = {}
    base = repo.find(revision)
    for line in lines:
        if not line.strip():
            continue
        sent = json.loads(line)
        key, value = sent["key"], sent["value"]
        if key == "header":
            header = value
        elif key == "file":
            blob = hub.blobs.add([_content(value)])
            changes[checked(value["path"])] = stored(value["path"], blob)
        elif key == "lfsFile":
            changes[checked(value["path"])] = _large(hub, base, value)
        elif key == "deletedFile":
            changes[checked(value["path"])] = None
        elif key in {"deletedFolder", "deletedEntry"}:
            folder = value["path"].rstrip("/")
            changes |= {path: None for path in base.files if path == folder or path.startswith(f"{folder}/")}
        else:
            raise HubError(400, "BadRequest", f"A commit cannot contain {key!r}.")
    onto = f"refs/pr/{_next_pull_request(repo)}" if pull else branch(repo, revision)
    title, message = str(header.get("summary", "")), str(header.get("description", ""))
    return repo.commit(changes, title, message, author, onto, header.get("parentCommit"), base.id)


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


def checked(path: str) -> str:
    """The path, checked to stay inside a repository."""
    parts = path.split("/")
    if not path or "\\" in path or "\0" in path or any(part in {"", ".", "..", ".git"} for part in parts):
        raise HubError(400, "BadRequest", f"{path!r} is not a path inside a repository.")
    return path


def _content(value: Mapping[str, Any]) -> bytes:
    content = str(value["content"])
    if value.get("encoding") != "base64":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise HubError(400, "BadRequest", f"The content of {value['path']} is not base64.") from error


def _large(hub: HubFolder, base: Commit, value: Mapping[str, Any]) -> StoredFile:
    sha256 = str(value["oid"])
    if _is_sha256(sha256) and hub.blobs.has(sha256):
        with hub.blobs.open(sha256) as file:
            size = file.seek(0, 2)
        return StoredFile(sha256, sha256[:40], size, True)
    for known in base.files.values():
        if known.sha256 == sha256:
            return known
    raise HubError(400, "BadRequest", f"The content of {value['path']} was never uploaded.")


def branch(repo: Repo, revision: str) -> str:
    """The ref of a branch or a pull request."""
    for ref in (f"refs/heads/{revision}", revision):
        if ref in repo.refs():
            return ref
    raise HubError(404, "RevisionNotFound", f"{repo.id} has no branch {revision!r}.")


def _next_pull_request(repo: Repo) -> int:
    numbers = [int(ref.rpartition("/")[2]) for ref in repo.refs() if ref.startswith("refs/pr/")]
    return max(numbers, default=0) + 1


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")
