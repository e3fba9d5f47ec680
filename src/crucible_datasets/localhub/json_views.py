"""Repositories, commits and files as the JSON that clients of the Hub expect."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any

from crucible_datasets import frontmatter
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo, StoredFile

_MAX_CARD = 1 << 20
# The fields of a card that the Hub shows as tags, such as `license:mit`.
_TAGGED = {
    *("annotations_creators", "language", "language_creators", "license", "multilinguality"),
    *("size_categories", "source_datasets", "task_categories", "task_ids"),
}


def repo_info(
    hub: HubFolder, repo: Repo, commit: Commit, blobs: bool = False, only: Collection[str] | None = None
) -> dict[str, Any]:
    """A repository at a commit, with the names of its files; or only some of its properties."""
    settings = repo.settings
    facts: dict[str, Callable[[], Any]] = {
        "_id": lambda: _id(repo.id),
        "id": lambda: repo.id,
        "author": lambda: repo.id.partition("/")[0],
        "sha": lambda: commit.id,
        "lastModified": lambda: commit.date,
        "createdAt": lambda: settings["created"],
        "private": lambda: settings["private"],
        "gated": lambda: settings["gated"],
        "disabled": lambda: False,
        "tags": lambda: _tags(card_data(hub, commit)),
        "downloads": int,
        "likes": int,
        "cardData": lambda: card_data(hub, commit),
        "siblings": lambda: _siblings(commit, blobs),
    }
    return {name: fact() for name, fact in facts.items() if only is None or name in {"_id", "id", *only}}


def _siblings(commit: Commit, blobs: bool) -> list[dict[str, Any]]:
    return [
        {"rfilename": path, **({"size": file.size, "blobId": oid(file), **_lfs(file, "sha256")} if blobs else {})}
        for path, file in commit.files.items()
    ]


def card_data(hub: HubFolder, commit: Commit) -> Any:
    """The YAML at the head of the README, as the Hub shows it."""
    readme = commit.files.get("README.md")
    if readme is None:
        return None
    with hub.open(readme) as file:
        content = file.read(_MAX_CARD)
    try:
        card = frontmatter.parsed(frontmatter.block_of(content.decode("utf-8")), "README.md")
        if not isinstance(card, dict) or not all(isinstance(key, str) for key in card):
            return None
        return json.loads(json.dumps(card, default=str, skipkeys=True))  # dates, and keys of any type
    except (ValueError, TypeError, RecursionError, DatasetsError):
        return None


def unreadable(id: str, reason: str) -> dict[str, Any]:
    """The entry of a repository that cannot be read."""
    moment = "1970-01-01T00:00:00.000Z"
    known = {"lastModified": moment, "createdAt": moment, "private": True, "gated": False, "tags": [], "siblings": []}
    return {"_id": _id(id), "id": id, "author": id.partition("/")[0], "disabled": True, "error": reason, **known}


def _id(id: str) -> str:
    return hashlib.sha1(id.encode(), usedforsecurity=False).hexdigest()[:24]


def _tags(card: Any) -> list[str]:
    """What the card says about the dataset, in the form that listings are filtered by."""
    stated = {name: _listed(value) for name, value in (card or {}).items() if name in _TAGGED}
    return [
        *_listed((card or {}).get("tags")),
        *(f"{name}:{one}" for name, several in stated.items() for one in several),
    ]


def _listed(value: Any) -> list[str]:
    several = value if isinstance(value, list) else [] if value is None else [value]
    return [str(one) for one in several]


@lru_cache(maxsize=4)
def tree(commit: Commit, folder: str, recursive: bool) -> list[dict[str, Any]]:
    """The files and folders in a folder, or all below it; cached, since the next page will be requested soon."""
    return list(_tree(commit, folder, recursive))


def _tree(commit: Commit, folder: str, recursive: bool) -> Iterator[dict[str, Any]]:
    start = f"{folder}/" if folder else ""
    seen: set[str] = set()
    for path, file in commit.files.items():
        if not path.startswith(start):
            continue
        parts = path[len(start) :].split("/")
        depth = len(parts) if recursive else 2
        for end in range(1, min(depth, len(parts))):
            above = start + "/".join(parts[:end])
            if above not in seen:
                seen.add(above)
                yield {"type": "directory", "oid": _folder_oid(commit, above), "size": 0, "path": above}
        if recursive or len(parts) == 1:
            yield entry(path, file, commit)


def entry(path: str, file: StoredFile, commit: Commit) -> dict[str, Any]:
    """A file as listings show it."""
    last = {"lastCommit": {"id": commit.id, "title": commit.title, "date": commit.date}}
    return {"type": "file", "oid": oid(file), "size": file.size, "path": path, **_lfs(file, "oid"), **last}


def refs(repo: Repo) -> dict[str, Any]:
    """All branches, tags, conversions and pull requests."""
    kinds = {"heads": "branches", "tags": "tags", "convert": "converts", "pr": "pullRequests"}
    shown: dict[str, Any] = {kind: [] for kind in kinds.values()}
    for ref, commit in repo.refs().items():
        _, kind, name = ref.split("/", 2)
        shown[kinds[kind]].append({"name": name, "ref": ref, "targetCommit": commit})
    return shown


def commits(repo: Repo, revision: str) -> list[dict[str, Any]]:
    """The history of a revision."""
    return [
        {
            "id": commit.id,
            **_words(commit),
            "authors": [{"user": commit.author}],
            "date": commit.date,
        }
        for commit in repo.history(revision)
    ]


def _words(commit: Commit) -> dict[str, str]:
    """As in git, the first line is the title and the rest the message."""
    title, _, message = f"{commit.title}\n\n{commit.message}".partition("\n")
    return {"title": title, "message": message.strip("\n")}


def oid(file: StoredFile) -> str:
    """The git hash of the file; for a large one, that of its LFS pointer."""
    if not file.is_lfs:
        return file.git_sha1
    pointer = _pointer(file)
    return hashlib.sha1(b"blob %d\0" % len(pointer) + pointer, usedforsecurity=False).hexdigest()


def _pointer(file: StoredFile) -> bytes:
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{file.sha256}\nsize {file.size}\n"
    return text.encode()


def _lfs(file: StoredFile, name: str) -> dict[str, Any]:
    if not file.is_lfs:
        return {}
    return {"lfs": {name: file.sha256, "size": file.size, "pointerSize": len(_pointer(file))}}


def _folder_oid(commit: Commit, folder: str) -> str:
    return hashlib.sha1(f"{commit.id}/{folder}".encode(), usedforsecurity=False).hexdigest()
