"""A dataset goes to the Hub: Parquet files first, then one commit that shows them all at once.

Contents are sent before the commit, and the Hub knows them by their hash: when a push fails midway, the
next one makes the same files and sends only those that are missing. The commit also holds the card, and takes away the
files that the new ones replace.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from crucible_datasets import config, progress
from crucible_datasets.exceptions import ArgumentError, FeaturesMismatchError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.ops.blocks import blocks, blocks_with_files
from crucible_datasets.ops.pushcard import card_with, known_info
from crucible_datasets.ops.shards import Shards
from crucible_datasets.splits import SplitInfo
from crucible_datasets.tables.view import View

Tables = Iterable[pa.Table]
_SPLIT = re.compile(r"\w+(\.\w+)*")


@dataclass(frozen=True)
class Where:
    """Where a dataset goes, and how it is told there."""

    repo_id: str
    config_name: str = "default"
    set_default: bool | None = None
    data_dir: str | None = None
    commit_message: str | None = None
    commit_description: str | None = None
    private: bool | None = None
    token: str | None = field(default=None, repr=False)
    revision: str | None = None
    create_pr: bool = False
    append: bool = False  # behind the rows that are there, instead of in their place
    replaces_all: bool = False  # also the splits that are not among the new ones

    def __post_init__(self) -> None:
        if self.config_name == "data":
            raise ArgumentError("config_name", "data", "files of the default configuration are kept under that name.")

    @property
    def folder(self) -> str:
        return self.data_dir or ("data" if self.config_name == "default" else self.config_name)


@dataclass
class Sent:
    """The part of a commit that one split makes: its info, its operations and its size."""

    info: SplitInfo
    operations: list[Any] = field(default_factory=list)
    size: int = 0


def push_views(
    views: Mapping[str, View],
    where: Where,
    max_shard_size: str | int | None = None,
    num_shards: int | Mapping[str, int | None] | None = None,
    num_proc: int | None = None,
    embed_external_files: bool = True,
) -> Any:
    """Push one or several splits; what the Hub says about the commit."""
    counts = num_shards if isinstance(num_shards, Mapping) else dict.fromkeys(views, num_shards)
    wanted = {
        split: Shards.wanted(view, max_shard_size, counts.get(split), num_proc).count for split, view in views.items()
    }
    shards = {split: _shards_of(view, wanted[split], embed_external_files) for split, view in views.items()}
    return push(shards, {split: view.features for split, view in views.items()}, where)


def _shards_of(view: View, count: int, embed_external_files: bool) -> Iterator[Tables]:
    bounds = [len(view) * index // count for index in range(count + 1)]
    for start, stop in pairwise(bounds):
        rows = range(start, stop)
        yield blocks_with_files(view, rows) if embed_external_files else blocks(view, rows=rows)


def push(shards: Mapping[str, Iterator[Tables]], features: Mapping[str, Features], where: Where) -> Any:
    """Push splits, each as the tables of one file after the other."""
    from huggingface_hub import HfApi

    kinds = _agreed(features)
    for split in shards:
        if not _SPLIT.fullmatch(split):
            raise ArgumentError("split", split, r"a split name is made of letters, digits, _ and dots between them.")
    api = HfApi(endpoint=config.HF_ENDPOINT, token=where.token)
    where = _ready(api, where)
    before = _Before.of(api, where)
    _require_same(before, where, kinds)
    sent = {split: _sent(api, where, before, split, tables, kinds) for split, tables in shards.items()}
    return _committed(api, where, sent, kinds)


def _agreed(features: Mapping[str, Features]) -> Features:
    (first, kinds), *others = features.items()
    for split, other in others:
        if other != kinds:
            raise FeaturesMismatchError(
                other, kinds, f"All splits need the same features as {first!r}; {split!r} has others"
            )
    return kinds


def _ready(api: Any, where: Where) -> Where:
    """Make the repository and the branch, if they are not there."""
    made = api.create_repo(where.repo_id, repo_type="dataset", private=where.private, exist_ok=True)
    where = replace(where, repo_id=made.repo_id)
    if where.revision and not where.revision.startswith("refs/pr/"):
        api.create_branch(where.repo_id, branch=where.revision, repo_type="dataset", exist_ok=True)
    return where


@dataclass(frozen=True)
class _Before:
    """The state of the repository before the push."""

    commit: str
    sizes: Mapping[str, int]
    readme: str | None

    @classmethod
    def of(cls, api: Any, where: Where) -> _Before:
        info = api.dataset_info(where.repo_id, revision=where.revision, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings}
        if config.REPOCARD_FILENAME not in sizes:
            return cls(info.sha, sizes, None)
        path = api.hf_hub_download(where.repo_id, config.REPOCARD_FILENAME, repo_type="dataset", revision=info.sha)
        with open(path, encoding="utf-8") as file:
            return cls(info.sha, sizes, file.read())

    def files_of(self, where: Where, split: str | None = None) -> list[str]:
        """The data files of a split, or of all."""
        words = r"\w+(\.\w+)*" if split is None else re.escape(split)
        name = re.compile(rf"{re.escape(where.folder)}/{words}-\d{{5}}-of-\d{{5}}.*\.parquet")
        return sorted(path for path in self.sizes if name.fullmatch(path))

    def replaced(self, where: Where, splits: list[str] | None) -> list[str]:
        """The data files that new ones take the place of: those of some splits, or all."""
        if where.append:
            return []
        if splits is None:
            return self.files_of(where)
        return [path for split in splits for path in self.files_of(where, split)]


def _require_same(before: _Before, where: Where, kinds: Features) -> None:
    known = known_info(before.readme, where.config_name)
    if not where.replaces_all and known is not None and known.features is not None and known.features != kinds:
        raise FeaturesMismatchError(kinds, known.features, "The splits that are on the Hub have other features")


def _sent(api: Any, where: Where, before: _Before, split: str, shards: Iterator[Tables], kinds: Features) -> Sent:
    """Write the files of a split one by one, and send each as soon as it is written."""
    from huggingface_hub import CommitOperationAdd

    sent = Sent(SplitInfo(split, num_bytes=0, num_examples=0))
    with (
        tempfile.TemporaryDirectory(prefix="crucible-push-") as folder,
        progress.tqdm(desc=f"Pushing {split}", unit=" files") as bar,
    ):
        for number, tables in enumerate(shards):
            path = os.path.join(folder, f"{number}.parquet")
            with open(path, "wb") as stream:
                write = FORMATS["parquet"].write
                assert write is not None
                write(_counted(tables, sent.info), kinds, stream)
            operation = CommitOperationAdd(
                path_in_repo=f"{where.folder}/{split}-{number:05d}.parquet", path_or_fileobj=path
            )
            api.preupload_lfs_files(
                where.repo_id, [operation], repo_type="dataset", revision=where.revision, create_pr=where.create_pr
            )
            sent.size += os.path.getsize(path)
            sent.operations.append(operation)
            os.unlink(path)
            bar.update()
    return _named(sent, where, split, len(before.files_of(where, split)) if where.append else 0)


def _counted(tables: Tables, info: SplitInfo) -> Iterator[pa.Table]:
    for table in tables:
        info.num_examples += table.num_rows
        info.num_bytes += table.nbytes
        yield table


def _named(sent: Sent, where: Where, split: str, first: int) -> Sent:
    """How many files there are is known at the end, and is part of their names."""
    total = first + len(sent.operations)
    for number, operation in enumerate(sent.operations, first):
        operation.path_in_repo = f"{where.folder}/{split}-{number:05d}-of-{total:05d}.parquet"
    return sent


def _committed(api: Any, where: Where, sent: Mapping[str, Sent], kinds: Features) -> Any:
    """One commit; when somebody else was faster, again on top of theirs."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    infos, size = {split: one.info for split, one in sent.items()}, sum(one.size for one in sent.values())
    added = [operation for one in sent.values() for operation in one.operations]
    while True:
        before = _Before.of(api, where)
        old = before.replaced(where, None if where.replaces_all else list(sent))
        kept = sum(before.sizes[path] for path in before.files_of(where) if path not in old)
        text = card_with(before.readme, where, infos, kinds, size + kept)
        new = {operation.path_in_repo for operation in added}
        operations = [
            *added,
            *(CommitOperationDelete(path_in_repo=path) for path in old if path not in new),
            CommitOperationAdd(path_in_repo=config.REPOCARD_FILENAME, path_or_fileobj=text.encode()),
        ]
        try:
            return api.create_commit(
                where.repo_id,
                operations,
                commit_message=where.commit_message or "Upload dataset",
                commit_description=where.commit_description,
                repo_type="dataset",
                revision=where.revision,
                create_pr=where.create_pr,
                parent_commit=before.commit,
            )
        except HfHubHTTPError as error:
            if error.response is None or error.response.status_code not in {409, 412}:
                raise
