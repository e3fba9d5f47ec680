"""`push_to_hub`: Parquet files are uploaded first, then one commit makes them all visible.

The Hub identifies uploads by their hash, so when a push fails midway, the next one writes the same files and uploads
only those that are missing. The commit also updates the card, and removes the files that are replaced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from crucible_datasets import config, progress
from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.exceptions import ArgumentError, FeaturesMismatchError
from crucible_datasets.features import Features
from crucible_datasets.features.embed import without_folders
from crucible_datasets.ops.blocks import blocks, blocks_with_files
from crucible_datasets.ops.pushing.bucket import push_to_bucket
from crucible_datasets.ops.pushing.commit import Before, Sent, Where, committed
from crucible_datasets.ops.pushing.count import counted
from crucible_datasets.ops.pushing.files import Tables, write
from crucible_datasets.ops.shards import Shards
from crucible_datasets.sources.hub.writer import Writer
from crucible_datasets.splits import SplitInfo
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.view import View

__all__ = ["Tables", "Where", "push", "push_views"]

_SPLIT = re.compile(r"\w+(\.\w+)*")


def push_views(
    views: Mapping[str, View],
    where: Where,
    max_shard_size: str | int | None = None,
    num_shards: int | Mapping[str, int | None] | None = None,
    num_proc: int | None = None,
    embed_external_files: bool = True,
) -> Any:
    """Push one or several splits; the commit, or None for a bucket."""
    counts = num_shards if isinstance(num_shards, Mapping) else dict.fromkeys(views, num_shards)
    wanted = {
        split: Shards.wanted(view, max_shard_size, counts.get(split), num_proc).count for split, view in views.items()
    }
    shards = {split: _shards_of(view, wanted[split], embed_external_files) for split, view in views.items()}
    return push(shards, {split: view.features for split, view in views.items()}, where)


def _shards_of(view: View, count: int, embed_external_files: bool) -> Iterator[Tables]:
    for index in range(count):
        rows = shared_out(len(view), count, index)
        yield _with_files(view, rows) if embed_external_files else blocks(view, rows=rows)


def _with_files(view: View, rows: range) -> Tables:
    for table in blocks_with_files(view, rows):
        yield without_folders(table, view.features)


def push(shards: Mapping[str, Iterator[Tables]], features: Mapping[str, Features], where: Where) -> Any:
    """Push splits, each given as the tables of each file."""
    kinds = _agreed(features)
    for split in shards:
        if not _SPLIT.fullmatch(split):
            raise ArgumentError("split", split, r"a split name is made of letters, digits, _ and dots between them.")
    if where.repo_id.startswith("buckets/"):
        push_to_bucket(shards, kinds, where)
        return None
    hub, where = _ready(where)
    counted(hub, where, Before.of(hub, where), shards).require_same(where, kinds, shards)
    sent = {split: _sent(hub, where, split, tables, kinds) for split, tables in shards.items()}
    return committed(hub, where, sent, kinds)


def _agreed(features: Mapping[str, Features]) -> Features:
    if not features:
        raise ArgumentError("splits", [], "there is nothing to push.")
    (first, kinds), *others = features.items()
    for split, other in others:
        if other != kinds:
            raise FeaturesMismatchError(
                other, kinds, f"All splits need the same features as {first!r}; {split!r} has others"
            )
    return kinds


def _ready(where: Where) -> tuple[Writer, Where]:
    """Create the repository and the branch if necessary."""
    hub = Writer(where.repo_id, config.HF_ENDPOINT, where.token)
    made: Any = hub.with_retries(
        lambda api: api.create_repo(where.repo_id, repo_type="dataset", private=where.private, exist_ok=True)
    )
    where = replace(where, repo_id=made.repo_id)
    hub, branch = replace(hub, id=where.repo_id), where.revision
    if branch and not branch.startswith("refs/pr/"):
        hub.with_retries(
            lambda api: api.create_branch(where.repo_id, branch=branch, repo_type="dataset", exist_ok=True)
        )
    return hub, where


def _sent(hub: Writer, where: Where, split: str, shards: Iterator[Tables], kinds: Features) -> Sent:
    """Write the files of a split one by one, and upload each as soon as it is written."""
    sent = Sent(SplitInfo(split, num_bytes=0, num_examples=0))
    with (
        scratch_folder("crucible-push") as folder,
        progress.tqdm(desc=f"Pushing {split}", unit=" files") as bar,
    ):
        for number, tables in enumerate(shards):
            path = os.path.join(folder, f"{number}.parquet")
            write(tables, kinds, path, sent.info)
            name = f"{where.folder}/{split}-{number:05d}.parquet"
            sent.operations.append(hub.send(path, partial(_uploaded, where, name)))
            sent.size += os.path.getsize(path)
            os.unlink(path)
            bar.update()
    return sent


def _uploaded(where: Where, name: str, api: Any, content: Any) -> Any:
    """Upload a file; the operation with which a commit gives it a name."""
    from huggingface_hub import CommitOperationAdd

    operation = CommitOperationAdd(path_in_repo=name, path_or_fileobj=content)
    api.preupload_lfs_files(
        where.repo_id, [operation], repo_type="dataset", revision=where.revision, create_pr=where.create_pr
    )
    if getattr(operation, "_upload_mode", None) == "regular":
        # Small files are sent with the commit, when the local file is gone.
        with operation.as_file() as file:
            file.seek(0)
            operation.path_or_fileobj = file.read()
    return operation
