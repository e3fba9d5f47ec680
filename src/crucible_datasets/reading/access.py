"""Stage 2 of 6: access to remote datasets: revision, token and storage options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import quote, unquote

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.reading.place import RemotePlace, of_address, of_repo
from crucible_datasets.records import dataclass
from crucible_datasets.sources.base import scheme_of

_REPOSITORY = re.compile(r"(?P<address>hf://datasets/[^/@]+/[^/@]+)(?:@(?P<revision>refs/(?:convert|pr)/[^/]+|[^/]+))?")


@dataclass(frozen=True)
class Access:
    """How to access a remote dataset."""

    revision: str | None = None
    token: str | bool | None = field(default=None, repr=False)
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, revision: Any, token: str | bool | None, storage_options: Any, download_config: Any) -> Access:
        """The arguments of a caller, with those of its `DownloadConfig` as defaults."""
        stated = {**(getattr(download_config, "storage_options", None) or {}), **(storage_options or {})}
        token = token if token is not None else getattr(download_config, "token", None)
        return cls(None if revision is None else str(revision), token, stated)

    def dataset(self, asked: str) -> RemotePlace:
        """The place of the dataset itself, at the requested revision."""
        repo = _REPOSITORY.match(asked)
        if repo is None or self.revision is None:
            return self.place(asked)
        if unquote(repo["revision"] or self.revision) != self.revision:
            raise ArgumentError("revision", self.revision, f"{asked} names another one.")
        return self.place(f"{repo['address']}@{quote(self.revision, safe='')}{asked[repo.end() :]}")

    def place(self, asked: str) -> RemotePlace:
        """The place that a URL or a repository's name refers to."""
        if asked.startswith("hf://buckets/") and self.revision is not None:
            raise ArgumentError("revision", self.revision, "a bucket has no revisions.")
        if scheme_of(asked):
            options = (
                {"token": self.token, **self.storage_options} if asked.startswith("hf://") else self.storage_options
            )
            return of_address(asked.rstrip("/"), options)
        return of_repo(asked, self.revision, self.token)
