"""The commit of a push: applied to exactly the state of the repository that it was computed from, or not at all.

If someone else has committed meanwhile, file names and card are computed again on top of that. If the response is lost,
the repository is checked for the commit, so that rows are never appended twice.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, FeaturesMismatchError
from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.pushing.card import card_with, known_info, stated_files
from crucible_datasets.ops.pushing.count import counted
from crucible_datasets.sources.backoff import TransientError
from crucible_datasets.sources.hub.addresses import named
from crucible_datasets.sources.hub.writer import Retries, Writer
from crucible_datasets.sources.wildcards import is_pattern
from crucible_datasets.splits import SplitInfo

_UNFIT_FOR_NAMES = r"<>:/\|?*"  # configuration names become folder names
_NUMBER = re.compile(r"-(\d{5})-of-\d{5}")
_DATA_FILE = r"(\w+(?:\.\w+)*)-\d{5}-of-\d{5}.*\.parquet"  # of which split


@dataclass(frozen=True)
class Where:
    """Where a dataset is pushed to, and the commit's details."""

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
    append: bool = False  # append to the existing rows instead of replacing them
    replaces_all: bool = False  # replace also the splits that are not pushed

    def __post_init__(self) -> None:
        if self.config_name == "data":
            raise ArgumentError("config_name", "data", "files of the default configuration are kept under that name.")
        if set(_UNFIT_FOR_NAMES) & set(self.config_name):
            raise ArgumentError("config_name", self.config_name, f"it must not hold any of {_UNFIT_FOR_NAMES}")
        for name, given in (("config_name", self.config_name), ("data_dir", self.folder)):
            if set(given.split("/")) & {"", ".", ".."} or is_pattern(given):  # the card lists files by a pattern
                raise ArgumentError(name, given, "expected the name of a folder in the repository, without any of *?[")

    @property
    def title(self) -> str:
        return self.commit_message or "Upload dataset"

    @property
    def folder(self) -> str:
        return (self.data_dir or "").rstrip("/") or ("data" if self.config_name == "default" else self.config_name)


@dataclass
class Sent:
    """The part of a commit that one split makes: its info, its operations and its size."""

    info: SplitInfo
    operations: list[Any] = field(default_factory=list)
    size: int = 0


@dataclass(frozen=True)
class Before:
    """The state of the repository before the commit."""

    commit: str
    sizes: Mapping[str, int]
    hashes: Mapping[str, str]  # sha256 of large files, git's hash of others
    readme: str | None
    known: DatasetInfo | None = None  # of the configuration

    @classmethod
    def of(cls, hub: Writer, where: Where) -> Before:
        """The current state."""
        info: Any = hub.with_retries(
            lambda api: api.dataset_info(where.repo_id, revision=where.revision, files_metadata=True)
        )
        sizes = {file.rfilename: file.size or 0 for file in info.siblings}
        hashes = {file.rfilename: file.lfs.sha256 if file.lfs else file.blob_id for file in info.siblings}
        card = config.REPOCARD_FILENAME
        if card not in sizes:
            return cls(info.sha, sizes, hashes, None)
        path = hub.with_retries(
            lambda api: api.hf_hub_download(where.repo_id, card, repo_type="dataset", revision=info.sha)
        )
        with open(path, encoding="utf-8", newline="") as file:  # keep the card's line endings
            text = file.read()
        return cls(info.sha, sizes, hashes, text, known_info(text, where.config_name))

    def pushed(self, where: Where) -> dict[str, list[str]]:
        """The files in the folder that have the names of pushed files, by split."""
        name, found = re.compile(rf"{re.escape(where.folder)}/{_DATA_FILE}"), defaultdict(list)
        for path in sorted(self.sizes):
            if fits := name.fullmatch(path):
                found[fits[1]].append(path)
        return found

    def replaced(self, where: Where, splits: Iterable[str]) -> list[str]:
        """The files that are replaced: those of some splits, or all."""
        if where.append:
            return []
        pushed = self.pushed(where)
        return [path for split in (pushed if where.replaces_all else splits) for path in pushed.get(split, ())]

    def kept(self, where: Where, splits: Collection[str]) -> dict[str, list[str]]:
        """The files whose rows stay, by split: those of the splits that are not pushed, or in an append of all."""
        if where.replaces_all:
            return {}
        stated = stated_files(self.readme, where.config_name)
        found = {split: self._matching(patterns) for split, patterns in stated.items()} or self.pushed(where)
        return {split: paths for split, paths in found.items() if where.append or split not in splits}

    def _matching(self, patterns: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(path for pattern in patterns for path in named(pattern, self.sizes)))

    def first_number(self, where: Where, split: str) -> int:
        """The number of the first new file of a split: after the highest existing number, as there may be gaps."""
        known = self.pushed(where).get(split, []) if where.append else []
        return max((int(_NUMBER.findall(path)[-1]) + 1 for path in known), default=0)

    def require_same(self, where: Where, kinds: Features, splits: Collection[str]) -> None:
        """Raise unless new rows have the same features as the existing ones that stay."""
        known, counted = self.known, set((self.known and self.known.splits) or ())
        stays = counted | self.kept(where, splits).keys() if where.append else counted - set(splits)
        if not where.replaces_all and stays and known and known.features is not None and known.features != kinds:
            raise FeaturesMismatchError(
                known.features, kinds, "The rows to push have other features than those on the Hub"
            )
        card_with(self.readme, where, {split: SplitInfo(split) for split in splits}, kinds, 0, known)

    def has(self, operations: Iterable[Any]) -> bool:
        """Whether everything that the operations add exists under its name."""
        added = [one for one in operations if hasattr(one, "path_or_fileobj")]
        return all(self.hashes.get(one.path_in_repo) in _hashes(one) for one in added)


def _hashes(operation: Any) -> set[str]:
    """The hashes by which a Hub may identify an operation's content."""
    content = operation.path_or_fileobj
    git = hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False)
    return {operation.upload_info.sha256.hex(), git.hexdigest()}


def committed(hub: Writer, where: Where, sent: Mapping[str, Sent], kinds: Features) -> Any:
    """Make one commit with all files; the commit."""
    retries = Retries(hub, is_pull=where.create_pr)
    lost: Before | None = None  # the state to which a commit was sent whose response was lost
    operations: list[Any] = []
    while True:
        hub = replace(hub, may_be_committed=lost is not None)
        before = Before.of(hub, where)
        if lost is not None and lost.commit != before.commit:
            if (made := _made_on(lost, hub, where, operations)) is not None:
                return made
            lost = None  # another commit came first
        before = counted(hub, where, before, sent)
        before.require_same(where, kinds, sent)
        operations = operations_on(where, before, sent, kinds)
        try:
            return _tried(hub, where, before, operations)
        except TransientError as failure:
            lost = before if failure.may_have_succeeded else lost
            retries.may_be_committed = lost is not None
            retries.failed(failure)


def operations_on(where: Where, before: Before, sent: Mapping[str, Sent], kinds: Features) -> list[Any]:
    """The operations of the commit on top of a state."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    for split, one in sent.items():
        _name(one, where, split, before)
    added = [operation for one in sent.values() for operation in one.operations]
    new, old = {one.path_in_repo for one in added}, before.replaced(where, sent)
    kept = {path for paths in before.kept(where, sent).values() for path in paths}.difference(old)
    infos, size = {split: one.info for split, one in sent.items()}, sum(one.size for one in sent.values())
    size += sum(before.sizes[path] for path in kept)
    text = card_with(before.readme, where, infos, kinds, size, before.known)
    return [
        *added,
        *(CommitOperationDelete(path_in_repo=path) for path in old if path not in new),
        CommitOperationAdd(path_in_repo=config.REPOCARD_FILENAME, path_or_fileobj=text.encode()),
    ]


def _tried(hub: Writer, where: Where, before: Before, operations: list[Any]) -> Any:
    """Commit on top of a state; raises if the repository has changed."""
    return hub.once(
        lambda api: api.create_commit(
            where.repo_id,
            operations,
            commit_message=where.title,
            commit_description=where.commit_description,
            repo_type="dataset",
            revision=where.revision,
            create_pr=where.create_pr,
            parent_commit=before.commit,
        )
    )


def _name(sent: Sent, where: Where, split: str, before: Before) -> None:
    """Name the files, with the final number of files; huggingface_hub leaves out those that exist under their name."""
    first = before.first_number(where, split)
    total = first + len(sent.operations)
    for number, operation in enumerate(sent.operations, first):
        operation.path_in_repo = f"{where.folder}/{split}-{number:05d}-of-{total:05d}.parquet"
        operation._remote_oid = before.hashes.get(operation.path_in_repo)


def _made_on(before: Before, hub: Writer, where: Where, operations: list[Any]) -> Any:
    """The commit that the Hub made on top of a state, if it did; else None.

    It is the first commit after that state with exactly the uploaded content; messages need not be unique.
    """
    from huggingface_hub import CommitInfo

    commits: Any = hub.with_retries(
        lambda api: api.list_repo_commits(where.repo_id, repo_type="dataset", revision=where.revision)
    )
    later = list(takewhile(lambda one: one.commit_id != before.commit, commits))
    states = (Before.of(hub, replace(where, revision=one.commit_id)) for one in reversed(later))
    made = next((state.commit for state in states if state.has(operations)), None)
    if made is None:
        return None
    # Not all versions of huggingface_hub know Hubs other than the public one here.
    besides = {"_endpoint": hub.endpoint} if "_endpoint" in CommitInfo.__dataclass_fields__ else {}
    return CommitInfo(f"{hub.page}/commit/{made}", where.title, where.commit_description or "", made, **besides)
