"""Copy datasets of another hub into a hub folder, with the commits they have there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from crucible_datasets import config, progress
from crucible_datasets.atomic.files import remove_abandoned
from crucible_datasets.exceptions import ArgumentError, DatasetNotFoundError
from crucible_datasets.localhub import names as checks
from crucible_datasets.localhub.blobs import blob_of
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo, StoredFile
from crucible_datasets.logging import get_logger
from crucible_datasets.sources.fetching import Advance, fetch
from crucible_datasets.sources.hub.files import HubFile, parsed_commit
from crucible_datasets.sources.hub.repo import HubRepo

logger = get_logger(__name__)
_AT_ONCE = 8
_EXPORT, _MAIN = "refs/convert/parquet", checks.MAIN


def mirror(root: str, names: list[str], endpoint: str | None = None, token: str | bool | None = None) -> Iterator[str]:
    """Copy each `org/name` or `org/name@revision`; yields a line about each when it is complete.

    Files of earlier runs are not downloaded again, and killed downloads are resumed. Every file is verified with the
    hash that the Hub states, also those of earlier runs. What needs a token there needs one here.
    """
    if os.path.exists(root) and not os.path.isdir(root):
        raise ArgumentError("folder", root, "this is a file.")
    hub, waiting = HubFolder(root), list(names)
    while waiting:
        name, _, revision = waiting.pop(0).partition("@")
        _require_name(name)
        there = HubRepo(name, revision or config.HUB_DEFAULT_VERSION, token, endpoint or config.HF_ENDPOINT)
        facts = there.get_json(f"{there.api}/revision/{quote(there.revision, safe='')}", _facts)[1]
        ref = _ref(there, facts.commit)
        there = HubRepo(name, facts.commit, token, there.endpoint)
        repo = hub.repo(name)
        files = _copied(hub, repo, there)
        repo = repo if repo.exists else repo.create(private=facts.needs_token)
        made = Commit(facts.commit, None, f"mirror of {name}", "", "hub", facts.date or repo.settings["created"], files)
        # Until the branch main is mirrored, the first revision takes its place; a commit never moves it.
        repo.adopt(made, {*([ref] if ref else []), *([] if repo.find(_MAIN).files else [_MAIN])})
        size = sum(file.size for file in files.values())
        yield f"{name} at {facts.commit}: {len(files)} file{'s' * (len(files) != 1)}, {size:,} bytes"
        # Programs are never run, so a dataset that is one is read from the Hub's conversion of it.
        if not revision and f"{name.rpartition('/')[2]}.py" in files and _has_export(there):
            waiting.insert(0, f"{name}@{_EXPORT}")


def _require_name(name: str) -> None:
    try:
        checks.repo(name)
    except HubError as error:
        raise ArgumentError("names", name, "expected org/name or org/name@revision.") from error


def _has_export(there: HubRepo) -> bool:
    with suppress(DatasetNotFoundError):
        return bool(replace(there, revision=_EXPORT).commit)
    return False


@dataclass(frozen=True)
class _Facts:
    """What a Hub says about a revision."""

    commit: str
    date: str | None
    needs_token: bool


def _facts(answer: Any) -> _Facts:
    return _Facts(parsed_commit(answer), answer.get("lastModified"), bool(answer.get("private") or answer.get("gated")))


def _ref(there: HubRepo, commit: str) -> str | None:
    """The full name of a revision; None for a commit."""
    revision = there.revision
    if revision == commit:
        return None
    if revision.startswith("refs/") or revision == config.HUB_DEFAULT_VERSION:
        return revision if revision.startswith("refs/") else f"refs/heads/{revision}"
    tags = there.get_json(f"{there.api}/refs", lambda answer: [one["name"] for one in answer["tags"]])[1]
    return f"refs/tags/{revision}" if revision in tags else f"refs/heads/{revision}"


def _copied(hub: HubFolder, repo: Repo, there: HubRepo) -> Mapping[str, StoredFile]:
    """The files of a commit, after downloading missing and damaged contents, each once."""
    known = _known(repo)
    os.makedirs(hub.blobs.folder, mode=0o700, exist_ok=True)
    contents = {file.hash: file for file in there.files.values()}
    incoming = os.path.join(hub.root, "blobs", "incoming")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda file: _found(hub, known, file), contents.values())
        here = {hash: file for hash, file in zip(contents, found, strict=True) if file is not None}
        missing = [file for hash, file in contents.items() if hash not in here]
        with progress.Transfer(there.id, sum(file.size for file in missing), len(missing)) as shown:
            for file, stored in zip(
                missing, pool.map(lambda one: _fetched(hub, there, one, incoming, shown.update), missing), strict=True
            ):
                here[file.hash] = stored
                shown.file_done()
    remove_abandoned(incoming, suffix=None)
    with suppress(OSError):  # another mirror uses it, or there was nothing to download
        os.rmdir(incoming)
    return {path: here[file.hash] for path, file in there.files.items()}


def _known(repo: Repo) -> dict[str, str]:
    """The names of contents of earlier runs, by hash on the Hub."""
    files = [file for id in (repo.ids() if repo.exists else ()) for file in repo.load(id).files.values()]
    return {file.git_sha1: file.sha256 for file in files if not file.where}


def _found(hub: HubFolder, known: Mapping[str, str], file: HubFile) -> StoredFile | None:
    """A content of an earlier run, of this dataset or another; None if there is none, or it is damaged."""
    sha256 = file.hash if file.is_large else known.get(file.hash, "")
    if not checks.is_oid(sha256):
        return None
    path = hub.blobs.path(sha256)
    try:
        blob = blob_of(path)
    except FileNotFoundError:
        return None
    if file.hash not in {blob.sha256, blob.git_sha1}:
        logger.warning("%s is damaged in %s. Downloading it again.", file.path, path)
        return None
    return StoredFile(blob.sha256, blob.git_sha1, blob.size, file.is_large)


def _fetched(hub: HubFolder, there: HubRepo, file: HubFile, incoming: str, advance: Advance) -> StoredFile:
    path = os.path.join(incoming, file.hash)
    fetch(partial(there.body, file.path), path, f"{there.id}/{file.path}", file.expected, advance)
    blob = hub.blobs.take_over(path, file.hash)
    return StoredFile(blob.sha256, blob.git_sha1, blob.size, file.is_large)
