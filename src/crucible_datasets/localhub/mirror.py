"""Copy datasets of another hub into a hub folder, with the commits they have there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from crucible_datasets import config, progress
from crucible_datasets.atomic.files import remove_abandoned
from crucible_datasets.exceptions import ArgumentError, DatasetNotFoundError
from crucible_datasets.localhub.blobs import blob_of
from crucible_datasets.localhub.errors import HubError, require_name
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, Repo, StoredFile
from crucible_datasets.sources.fetching import Advance, fetch
from crucible_datasets.sources.hub.files import HubFile, parsed_commit
from crucible_datasets.sources.hub.repo import HubRepo

_AT_ONCE = 8
_EXPORT = "refs/convert/parquet"


def mirror(root: str, names: list[str], endpoint: str | None = None, token: str | bool | None = None) -> Iterator[str]:
    """Copy each `org/name` or `org/name@revision`; yields a line about each when it is complete.

    Files of earlier runs are not downloaded again, and killed downloads are resumed. Every file is verified with the
    hash that the Hub states.
    """
    hub, waiting = HubFolder(root), list(names)
    while waiting:
        name, _, revision = waiting.pop(0).partition("@")
        _require_name(name)
        there = HubRepo(name, revision or config.HUB_DEFAULT_VERSION, token, endpoint or config.HF_ENDPOINT)
        commit, date = there.get_json(f"{there.api}/revision/{quote(there.revision, safe='')}", _commit_and_date)[1]
        there = HubRepo(name, commit, token, there.endpoint)
        repo = hub.repo(name)
        files = _copied(hub, repo, there)
        repo = repo if repo.exists else repo.create()
        branch = revision if revision and revision != commit else "main"
        ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
        made = Commit(commit, None, f"mirror of {name}", "", "hub", date or repo.settings["created"], files)
        repo.adopt(made, ref)
        size = sum(file.size for file in files.values())
        yield f"{name} at {commit}: {len(files)} files, {size:,} bytes"
        # Programs are never run, so a dataset that is one is read from the Hub's conversion of it.
        if not revision and f"{name.rpartition('/')[2]}.py" in files and _has_export(there):
            waiting.insert(0, f"{name}@{_EXPORT}")


def _require_name(name: str) -> None:
    try:
        require_name(name)
    except HubError as error:
        raise ArgumentError("names", name, "expected org/name or org/name@revision.") from error


def _has_export(there: HubRepo) -> bool:
    with suppress(DatasetNotFoundError):
        return bool(replace(there, revision=_EXPORT).commit)
    return False


def _commit_and_date(answer: Any) -> tuple[str, str | None]:
    return parsed_commit(answer), answer.get("lastModified")


def _copied(hub: HubFolder, repo: Repo, there: HubRepo) -> Mapping[str, StoredFile]:
    """The files of a commit, after downloading missing contents, each once."""
    known = _known(hub, repo)
    contents = {file.hash: file for file in there.files.values()}
    missing = [file for hash, file in contents.items() if hash not in known and not _is_here(hub, file)]
    incoming = os.path.join(hub.root, "blobs", "incoming")
    with (
        progress.Transfer(there.id, sum(file.size for file in missing), len(missing)) as shown,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        for file, stored in zip(
            missing, pool.map(lambda one: _fetched(hub, there, one, incoming, shown.update), missing), strict=True
        ):
            known[file.hash] = stored
            shown.file_done()
    remove_abandoned(incoming, suffix=None)
    with suppress(OSError):  # another mirror uses it, or there was nothing to download
        os.rmdir(incoming)
    known |= {hash: _stored(hub, file) for hash, file in contents.items() if hash not in known}
    return {path: known[file.hash] for path, file in there.files.items()}


def _known(hub: HubFolder, repo: Repo) -> dict[str, StoredFile]:
    """The contents that are stored already, by hash on the Hub."""
    if not repo.exists:
        return {}
    commits = [repo.load(id) for id in set(repo.refs().values())]
    files = [file for one in commits for file in one.files.values() if not file.where and hub.blobs.has(file.sha256)]
    return {file.sha256 if file.is_lfs else file.git_sha1: file for file in files}


def _is_here(hub: HubFolder, file: HubFile) -> bool:
    return file.is_large and hub.blobs.has(file.hash)


def _fetched(hub: HubFolder, there: HubRepo, file: HubFile, incoming: str, advance: Advance) -> StoredFile:
    path = os.path.join(incoming, file.hash)
    fetch(partial(there.body, file.path), path, f"{there.id}/{file.path}", file.expected, advance)
    blob = hub.blobs.take_over(path, file.hash)
    return StoredFile(blob.sha256, blob.git_sha1, blob.size, file.is_large)


def _stored(hub: HubFolder, file: HubFile) -> StoredFile:
    blob = blob_of(hub.blobs.path(file.hash))
    return StoredFile(blob.sha256, blob.git_sha1, blob.size, file.is_large)
