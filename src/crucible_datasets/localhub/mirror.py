"""Copy datasets of another hub into a hub folder, with the commits they have there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from crucible_datasets import progress
from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.localhub.blobs import blob_of
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import Commit, StoredFile


def mirror(root: str, names: list[str], endpoint: str | None = None, token: str | None = None) -> Iterator[str]:
    """Copy each `org/name` or `org/name@revision`; a line about each when it is whole.

    What an earlier run has copied is not fetched again. Every file is checked against the hash that the
    hub states, before it counts.
    """
    from huggingface_hub import HfApi

    hub, api = HubFolder(root), HfApi(endpoint=endpoint, token=token)
    for asked in names:
        name, _, revision = asked.partition("@")
        info: Any = api.dataset_info(name, revision=revision or None, files_metadata=True)
        files = dict(_copied(hub, api, name, info))
        repo = hub.repo(name)
        repo = repo if repo.exists else repo.create()
        date = info.last_modified.strftime("%Y-%m-%dT%H:%M:%S.000Z") if info.last_modified else repo.settings["created"]
        commit = Commit(info.sha, None, f"mirror of {name}", "", "hub", date, files)
        branch = revision if revision and revision != info.sha else "main"
        repo.adopt(commit, f"refs/heads/{branch}")
        size = sum(file.size for file in files.values())
        yield f"{name} at {info.sha}: {len(files)} files, {size:,} bytes"


def _copied(hub: HubFolder, api: Any, name: str, info: Any) -> Iterator[tuple[str, StoredFile]]:
    incoming = os.path.join(hub.root, "blobs", "incoming", *name.split("/"))
    total = sum(sibling.size or 0 for sibling in info.siblings)
    with progress.tqdm(total=total, unit="B", unit_scale=True, desc=name) as bar:
        for sibling in info.siblings:
            sha256 = sibling.lfs.sha256 if sibling.lfs else None
            if sha256 and hub.blobs.has(sha256):
                blob = blob_of(hub.blobs.path(sha256))
            else:
                path = api.hf_hub_download(
                    name, sibling.rfilename, repo_type="dataset", revision=info.sha, local_dir=incoming
                )
                blob = hub.blobs.take_over(path, sha256 or sibling.blob_id)
            bar.update(blob.size)
            yield sibling.rfilename, StoredFile(blob.sha256, blob.git_sha1, blob.size, sha256 is not None)
    remove_tree(os.path.join(hub.root, "blobs", "incoming"))
