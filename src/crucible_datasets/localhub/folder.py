"""A hub folder: its repositories, and plain folders that are shown as such.

datasets/<org>/<name>/…  a repository, see `repos`
<org>/<name>/…           a plain folder: its files are the branch main
buckets/<org>/<name>/…   the files of a bucket
blobs/…                  the contents of committed files
.uploads/…               who has uploaded which of them

Each of the first three is served only where it is: a link in the place of a repository or its organization is not
followed, since it may lead out of the folder, or to a repository that not everybody may see.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from crucible_datasets.forking import cached_property
from crucible_datasets.localhub import names
from crucible_datasets.localhub.blobs import Blobs, Uploads, blob_of
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.repos import Repo, StoredFile, Where, stored
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)
_LOCKS = 64
_TAKEN = {"datasets", "blobs", "buckets"}  # folders that are not organizations


@dataclass(eq=False)
class HubFolder:
    """All repositories of a folder."""

    root: str
    # Shared by names, so that a million requests for names that do not exist leave nothing behind.
    _locks: list[threading.RLock] = field(default_factory=lambda: [threading.RLock() for _ in range(_LOCKS)])
    _looked: dict[str, float] = field(default_factory=dict)

    @cached_property
    def blobs(self) -> Blobs:
        return Blobs(os.path.join(self.root, "blobs"))

    @cached_property
    def uploads(self) -> Uploads:
        return Uploads(os.path.join(self.root, ".uploads"))

    def repo(self, id: str) -> Repo:
        """The repository, which may not exist; changes in a plain folder of that name are committed first."""
        folder = self.own("datasets", names.repo(id))
        if folder is None:
            raise HubError(404, "RepoNotFound", f"Repository not found: {id}")
        repo = Repo(id, folder, self._locks[hash(id) % _LOCKS])
        with repo.lock:
            try:
                self._import(repo)
            except OSError as error:
                what = f"{id} cannot be read on the server: {type(error).__name__}."
                raise HubError(500, "RepoUnreadable", what) from error
        return repo

    def own(self, *parts: str) -> str | None:
        """The path of a folder of this hub; None if a link leads elsewhere from there."""
        path = os.path.join(os.path.realpath(self.root), *"/".join(parts).split("/"))
        if os.path.realpath(path) == path:
            return path
        _warn(path, "it is, or is in, a link")
        return None

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
        return sorted(filter(names.is_repo, found))

    def open(self, file: StoredFile) -> Any:
        """The content of a file of a commit."""
        if file.where is None:
            return self.blobs.open(file.sha256)
        path, size, changed = file.where
        try:
            content = open(path, "rb", opener=_open)  # noqa: SIM115  (the caller closes it)
        except OSError as error:
            raise _gone() from error
        facts = os.fstat(content.fileno())
        if (facts.st_size, facts.st_mtime_ns) != (size, changed) or not stat.S_ISREG(facts.st_mode):
            content.close()
            raise _gone()
        return content

    def plain(self, repo: Repo) -> str | None:
        """The plain folder of a repository, if it has one."""
        if "/" not in repo.id or repo.id.partition("/")[0] in _TAKEN:
            return None
        plain = self.own(repo.id)
        return plain if plain is not None and os.path.isdir(plain) else None

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
            relative = path[len(folder) + 1 :].replace(os.sep, "/")
            facts = _facts(path)
            if os.path.islink(path) and not os.path.realpath(path).startswith(folder + os.sep):
                _warn(path, "it is a link that leads out of the folder")
            elif facts is None or not stat.S_ISREG(facts.st_mode):
                _warn(path, "it is not a file")
            elif not names.is_path(relative):
                _warn(path, "clients cannot store a file of that name")
            else:
                yield relative, (path, facts.st_size, facts.st_mtime_ns)


def _facts(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


@lru_cache(maxsize=10_000)  # once for each
def _warn(path: str, why: str) -> None:
    logger.warning("%r is not served: %s.", path, why)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe that has taken its place would block


def _gone() -> HubError:
    return HubError(404, "EntryNotFound", "The file was changed after this commit, and its old content is gone.")


def _folders(path: str) -> list[str]:
    try:
        entries = [entry for entry in os.scandir(path) if not entry.name.startswith(".")]
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
