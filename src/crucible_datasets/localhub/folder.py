"""A hub folder: its repositories, and plain folders that are shown as such.

datasets/<org>/<name>/…  a repository, see `repos`
<org>/<name>/…           a plain folder: its files are the branch main
buckets/<org>/<name>/…   the files of a bucket
blobs/…                  the contents of committed files
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crucible_datasets.forking import cached_property
from crucible_datasets.localhub.blobs import Blobs, blob_of
from crucible_datasets.localhub.errors import HubError, is_name, require_name
from crucible_datasets.localhub.repos import Repo, StoredFile, Where, stored

_TAKEN = {"datasets", "blobs", "buckets"}  # folders that are not organizations


@dataclass(eq=False)
class HubFolder:
    """All repositories of a folder."""

    root: str
    _repos: dict[str, Repo] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _looked: dict[str, float] = field(default_factory=dict)

    @cached_property
    def blobs(self) -> Blobs:
        return Blobs(os.path.join(self.root, "blobs"))

    def repo(self, id: str) -> Repo:
        """The repository, which may not exist; changes in a plain folder of that name are committed first."""
        require_name(id)
        with self._lock:
            if id not in self._repos:
                self._repos[id] = Repo(id, os.path.join(self.root, "datasets", *id.split("/")))
            self._import(self._repos[id])
            return self._repos[id]

    def names(self) -> list[str]:
        """The names of all repositories."""
        found = set()
        for folder in (os.path.join(self.root, "datasets"), self.root):
            for org in _folders(folder):
                if folder == self.root and org in _TAKEN:
                    continue
                if os.path.isfile(os.path.join(folder, org, "repo.json")):
                    found.add(org)
                found.update(
                    f"{org}/{name}" for name in _folders(os.path.join(folder, org)) if name not in {"refs", "commits"}
                )
        return sorted(name for name in found if all(map(is_name, name.split("/"))))

    def open(self, file: StoredFile) -> Any:
        """The content of a file of a commit."""
        if file.where is None:
            return self.blobs.open(file.sha256)
        path, size, changed = file.where
        facts = os.stat(path)
        if (facts.st_size, facts.st_mtime_ns) != (size, changed):
            raise HubError(404, "EntryNotFound", "The file was changed after this commit, and its old content is gone.")
        return open(path, "rb")

    def plain(self, repo: Repo) -> str | None:
        """The plain folder of a repository, if it has one."""
        plain = os.path.join(self.root, *repo.id.split("/"))
        if "/" not in repo.id or repo.id.partition("/")[0] in _TAKEN or not os.path.isdir(plain):
            return None
        return None if os.path.realpath(plain) == os.path.realpath(repo.folder) else plain

    def _import(self, repo: Repo) -> None:
        """Commit what has changed in a plain folder; what clients have committed since the last time stays."""
        plain = self.plain(repo)
        if plain is None or time.monotonic() - self._looked.get(repo.id, float("-inf")) < 1:
            return
        self._looked[repo.id] = time.monotonic()
        noted, present = repo.imported, dict(plain_files(plain))
        if noted == present:
            return
        shown = repo.find("main").files if repo.exists else {}
        known = {path: file.where for path, file in shown.items() if file.where} if noted is None else noted
        changes: dict[str, StoredFile | None] = {
            path: stored(path, blob_of(where[0]), where) for path, where in present.items() if known.get(path) != where
        }
        for path in known.keys() - present.keys():
            if path in shown and shown[path].where == known[path]:
                changes[path] = None
        if changes:
            (repo if repo.exists else repo.create()).commit(changes, "files of the folder", author="hub")
        if repo.exists:
            repo.keep_imported(present)


def plain_files(folder: str) -> Iterator[tuple[str, Where]]:
    """The files below a folder by name: path, size and modification time."""
    folder = os.path.realpath(folder)
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = os.path.join(parent, name)
            if os.path.islink(path) and not os.path.realpath(path).startswith(folder + os.sep):
                continue  # a link out of the folder would expose other files
            facts = os.stat(path)
            relative = path[len(folder) + 1 :].replace(os.sep, "/")
            yield relative, (path, facts.st_size, facts.st_mtime_ns)


def _folders(path: str) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(path) if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []
