"""One repository: commits, branches and tags.

    repo.json         owner, and settings: private, gated, allowed
    commits/<id>.json a commit, with all files of that state
    refs/<ref>        the commit of a branch, tag or pull request
    plain.json        the files of a plain folder when it was last looked at

A commit never changes, and a ref is replaced atomically, so readers see a consistent state.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from crucible_datasets.atomic import atomic_file
from crucible_datasets.localhub import names
from crucible_datasets.localhub.blobs import Blob
from crucible_datasets.localhub.errors import HubError

Where = tuple[str, int, int]
_NEW = {"private": False, "gated": False, "allowed": (), "owner": None, "created": ""}


@dataclass(frozen=True)
class StoredFile:
    """A file of a commit. `where` is set for a file of a plain folder: its path, and its identity when it was read."""

    sha256: str
    git_sha1: str
    size: int
    is_lfs: bool
    where: Where | None = None


@dataclass(frozen=True, eq=False)
class Commit:
    """One state of a repository. It never changes, so it is cached."""

    id: str
    parent: str | None
    title: str
    message: str
    author: str
    date: str
    files: Mapping[str, StoredFile]


@dataclass(eq=False)
class Repo:
    """One repository."""

    id: str
    folder: str
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def exists(self) -> bool:
        return os.path.isfile(os.path.join(self.folder, "repo.json"))

    @property
    def settings(self) -> dict[str, Any]:
        try:
            return {**_NEW, **_read_json(os.path.join(self.folder, "repo.json"))}
        except (OSError, ValueError, TypeError) as error:
            raise self._unreadable("repo.json") from error

    @property
    def owners(self) -> set[str]:
        """Who may change the settings: who created it, and the user with the name of its organization."""
        return {self.id.partition("/")[0], *filter(None, [self.settings["owner"]])}

    def _unreadable(self, name: str) -> HubError:
        return HubError(500, "RepoUnreadable", f"{self.id} cannot be read on the server: {name} is missing or damaged.")

    @property
    def imported(self) -> dict[str, Where] | None:
        """The files of the plain folder when it was last looked at, by name; None if that was not noted."""
        try:
            known = _read_json(os.path.join(self.folder, "plain.json"))
            return {path: tuple(where) for path, where in known.items()}
        except OSError:
            return None
        except (ValueError, TypeError, AttributeError) as error:
            raise self._unreadable("plain.json") from error

    def keep_imported(self, files: Mapping[str, Where]) -> None:
        _write_json(os.path.join(self.folder, "plain.json"), files)

    def create(self, **settings: Any) -> Repo:
        """Create it, with an empty first commit, or change its settings."""
        with self.lock:
            os.makedirs(os.path.join(self.folder, "refs"), exist_ok=True)
            os.makedirs(os.path.join(self.folder, "commits"), exist_ok=True)
            is_new = not self.exists
            known = {**_NEW, "created": _now()} if is_new else self.settings
            _write_json(os.path.join(self.folder, "repo.json"), {**known, **settings})
            if is_new:
                self.commit({}, "initial commit", author="hub")
        return self

    def refs(self) -> dict[str, str]:
        """All branches (`refs/heads/…`), tags and others, with their commits."""
        present = map(unquote, sorted(os.listdir(os.path.join(self.folder, "refs"))))
        return {ref: commit for ref in present if names.is_ref(ref) and (commit := self._ref(ref))}

    def heads(self) -> Iterator[Commit]:
        """The commits of all refs."""
        return map(self.load, set(self.refs().values()))

    def find(self, revision: str) -> Commit:
        """The commit that a branch, tag, ref or commit id names."""
        if names.is_commit(revision):
            if os.path.isfile(self._commit_path(revision)):
                return self.load(revision)
        else:
            for ref in names.refs(revision):
                if found := self._ref(ref):
                    return self.load(found)
        raise HubError(404, "RevisionNotFound", f"{self.id} has no revision {revision[:100]!a}.")

    def load(self, id: str) -> Commit:
        try:
            return _loaded(self._commit_path(id), id)
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise self._unreadable(f"commit {id}") from error

    def commit(
        self,
        changes: Mapping[str, StoredFile | None],
        title: str,
        message: str = "",
        author: str = "user",
        onto: str = names.MAIN,
        expected: str | None = None,
        base: str | None = None,
    ) -> Commit:
        """Set (or with None delete) files, on top of the commit of `onto` or of `base`."""
        with self.lock:
            parent = self._ref(onto) or base
            if expected is not None and parent != expected:
                raise HubError(412, "PreconditionFailed", f"A commit has happened since: {onto} stands at {parent}.")
            files = dict(self.load(parent).files) if parent else {}
            for path, file in changes.items():
                if files.pop(path, None) is None and file is None:
                    raise HubError(404, "EntryNotFound", f"A file with this name doesn't exist: {path}")
                if file is not None:
                    files[path] = file
            _require_tree(files)
            return self._write(onto, parent, files, title, message, author)

    def squash(self, ref: str, title: str, author: str) -> Commit:
        """Replace the history of a branch by one commit with its files."""
        with self.lock:
            return self._write(ref, None, self.find(ref).files, title, "", author)

    def _write(
        self, ref: str, parent: str | None, files: Mapping[str, StoredFile], title: str, message: str, author: str
    ) -> Commit:
        stated = {
            "parent": parent,
            "title": title,
            "message": message,
            "author": author,
            "date": _now(),
            "files": {path: asdict(files[path]) for path in sorted(files)},
        }
        id = hashlib.sha1(json.dumps(stated).encode(), usedforsecurity=False).hexdigest()
        _write_json(self._commit_path(id), stated)
        self.point(ref, id)
        return self.load(id)

    def ids(self) -> list[str]:
        """The ids of all commits."""
        present = (name.removesuffix(".json") for name in os.listdir(os.path.join(self.folder, "commits")))
        return sorted(filter(names.is_commit, present))

    def adopt(self, commit: Commit, refs: Iterable[str]) -> None:
        """Store a commit of another hub under its id there, and point refs to it."""
        with self.lock:
            stated = {name: value for name, value in asdict(commit).items() if name != "id"}
            _write_json(self._commit_path(commit.id), stated)
            for ref in refs:
                self.point(ref, commit.id)

    def history(self, revision: str) -> Iterator[Commit]:
        """A commit and its ancestors, newest first."""
        commit: Commit | None = self.find(revision)
        while commit is not None:
            yield commit
            commit = self.load(commit.parent) if commit.parent else None

    def point(self, ref: str, commit: str | None) -> None:
        """Point a ref to a commit, or remove it."""
        path = self._ref_path(ref)
        if commit is None:
            if ref not in self.refs():  # looked up in the listing, since some disks take `Main` for `main`
                raise HubError(404, "RevisionNotFound", f"{self.id} has no {ref}.")
            os.unlink(path)
            return
        with atomic_file(path) as temporary, open(temporary, "w", encoding="ascii") as file:
            file.write(commit)

    def _ref(self, ref: str) -> str | None:
        try:
            with open(self._ref_path(ref), encoding="ascii") as file:
                return file.read()
        except OSError:
            return None

    def _ref_path(self, ref: str) -> str:
        return os.path.join(self.folder, "refs", quote(names.ref(ref), safe=""))

    def _commit_path(self, id: str) -> str:
        return os.path.join(self.folder, "commits", f"{id}.json")


def _require_tree(files: Mapping[str, StoredFile]) -> None:
    """Raise if a name is that of a file and of a folder: no client could store both."""
    folders: set[str] = set()
    for path in files:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    for path in folders & files.keys():
        raise HubError(400, "BadRequest", f"{path} would be a file and a folder.")


@lru_cache(maxsize=8)
def _loaded(path: str, id: str) -> Commit:
    stated = _read_json(path)
    files = {
        path: StoredFile(**{**facts, "where": tuple(facts["where"]) if facts["where"] else None})
        for path, facts in stated.pop("files").items()
    }
    return Commit(id=id, files=files, **stated)


def stored(path: str, blob: Blob, where: Where | None = None) -> StoredFile:
    return StoredFile(blob.sha256, blob.git_sha1, blob.size, is_large(path, blob.size), where)


def is_large(path: str, size: int) -> bool:
    """Whether a file is stored by LFS: as on the Hub, by extension or size."""
    return size > 10 << 20 or os.path.splitext(path)[1].lower() in _LARGE


_LARGE = {
    *(".7z", ".arrow", ".bin", ".bz2", ".feather", ".gz", ".h5", ".lz4", ".npy", ".npz", ".parquet", ".rar", ".tar"),
    *(".xz", ".zip", ".zst", ".tgz", ".wav", ".mp3", ".flac", ".ogg", ".mp4", ".png", ".jpg", ".jpeg", ".webp", ".gif"),
}


def _read_json(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _write_json(path: str, value: Any) -> None:
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump(value, file)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
